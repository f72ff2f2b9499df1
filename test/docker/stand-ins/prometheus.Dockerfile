# Stands in for prom/prometheus (README.md).
FROM tollgate-test/base
RUN ln -s /usr/bin/prometheus /bin/prometheus 2>/dev/null; mkdir -p /prometheus && chown nobody:nogroup /prometheus
USER nobody
VOLUME /prometheus
WORKDIR /prometheus
ENTRYPOINT ["/bin/prometheus"]
