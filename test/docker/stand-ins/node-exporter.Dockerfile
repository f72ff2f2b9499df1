FROM tollgate-test/base
ENTRYPOINT ["prometheus-node-exporter"]
