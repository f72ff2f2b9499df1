# Stands in for grafana/grafana (README.md): the owner of its folder, and something that says it is well.
FROM tollgate-test/node
RUN mkdir -p /var/lib/grafana && chown 472:0 /var/lib/grafana && chmod 777 /var/lib/grafana
COPY grafana.js /run.js
USER 472
ENTRYPOINT ["node", "/run.js"]
