# Stands in for hyperledger/besu (README.md): its program's name, its user, its entry point, the variables that it sets.
FROM tollgate-test/tollgate
USER root
RUN useradd --uid 1000 --create-home --home-dir /opt/besu --shell /bin/bash --user-group besu && chmod 0755 /opt/besu \
  && rm -f /usr/bin/wget
COPY test /app/test
COPY ws /app/node_modules/ws
COPY besu besu-entry.sh /opt/besu/bin/
ENV PATH=/opt/besu/bin:$PATH BESU_RPC_HTTP_HOST=0.0.0.0 BESU_RPC_WS_HOST=0.0.0.0 BESU_GRAPHQL_HTTP_HOST=0.0.0.0 \
  BESU_PID_PATH=/tmp/pid BESU_USER_NAME=besu
WORKDIR /opt/besu
ENTRYPOINT ["besu-entry.sh"]
CMD []
HEALTHCHECK --start-period=5s --interval=5s --timeout=1s --retries=10 CMD bash -c "[ -f /tmp/pid ]"
