# Stands in for prom/node-exporter (README.md).
FROM tollgate-test/base
RUN ln -s /usr/bin/prometheus-node-exporter /bin/node_exporter
USER nobody
ENTRYPOINT ["/bin/node_exporter"]
