# Stands in for postgres:18 (README.md). A volume that is empty takes owner and mode of the image's /var/lib/postgresql.
FROM tollgate-test/base
RUN groupadd --system --gid 999 postgres-image && useradd --system --gid 999 --uid 999 --home-dir /var/lib/postgresql postgres-image \
  && rm -rf /var/lib/postgresql /var/run/postgresql \
  && install --directory --owner 999 --group 999 --mode 1777 /var/lib/postgresql \
  && install --directory --owner 999 --group 999 --mode 3777 /var/run/postgresql \
  && ln -sf /usr/lib/postgresql/15/bin/psql /usr/bin/psql
COPY native /usr/lib/postgresql/18
RUN printf "listen_addresses = '*'\nunix_socket_directories = '/var/run/postgresql'\n" \
  >>/usr/lib/postgresql/18/share/postgresql/postgresql.conf.sample
COPY postgres-entrypoint.sh /usr/local/bin/docker-entrypoint.sh
ENV PG_MAJOR=18 PGDATA=/var/lib/postgresql/18/docker LANG=C.UTF-8 PATH=$PATH:/usr/lib/postgresql/18/bin
VOLUME /var/lib/postgresql
ENTRYPOINT ["docker-entrypoint.sh"]
STOPSIGNAL SIGINT
EXPOSE 5432
CMD ["postgres"]
