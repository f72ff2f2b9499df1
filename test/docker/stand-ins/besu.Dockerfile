# Stands in for hyperledger/besu: its program's name, its user, and the two variables that it sets.
FROM tollgate-test/tollgate
COPY test /app/test
COPY ws /app/node_modules/ws
COPY besu /opt/besu/bin/besu
ENV PATH=/opt/besu/bin:$PATH BESU_RPC_HTTP_HOST=0.0.0.0 BESU_RPC_WS_HOST=0.0.0.0
WORKDIR /opt/besu
USER 1000
ENTRYPOINT ["besu"]
