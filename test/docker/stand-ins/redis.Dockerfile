# Stands in for redis:7 (README.md). A volume that is empty takes the owner of the image's /data.
FROM tollgate-test/base
RUN (deluser redis; groupadd --system --gid 999 redis; useradd --system --gid redis --uid 999 redis) 2>/dev/null; \
  test "$(id -u redis)" = 999 \
  && mkdir -p /data && chown redis:redis /data && rm -f /usr/bin/wget
COPY redis-entrypoint.sh /usr/local/bin/docker-entrypoint.sh
VOLUME /data
WORKDIR /data
ENTRYPOINT ["docker-entrypoint.sh"]
CMD ["redis-server"]
