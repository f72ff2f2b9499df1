#!/bin/bash
# As the published image's: makes a cluster with a user, a password and a database where there is none, behind a server that
# listens on its socket alone, and becomes postgres. Runs as any user; root becomes 999.
set -euo pipefail
case "${1:-}" in -*) set -- postgres "$@" ;; esac
[ "$1" = postgres ] || exec "$@"

mkdir -p "$PGDATA"
chmod 0700 "$PGDATA" || :
chmod 3775 /var/run/postgresql || :
if [ "$(id -u)" = 0 ]; then
  chown -R 999:999 "$PGDATA" /var/run/postgresql
  exec setpriv --reuid=999 --regid=999 --clear-groups -- "$0" "$@"
fi
if [ -n "${POSTGRES_PASSWORD_FILE:-}" ]; then
  POSTGRES_PASSWORD=$(<"$POSTGRES_PASSWORD_FILE")
  unset POSTGRES_PASSWORD_FILE
fi
export POSTGRES_PASSWORD=${POSTGRES_PASSWORD:-} POSTGRES_USER=${POSTGRES_USER:-postgres}

if [ ! -s "$PGDATA/PG_VERSION" ]; then
  [ -n "$POSTGRES_PASSWORD" ] || { echo "Error: Database is uninitialized and superuser password is not specified." >&2; exit 1; }
  ls /docker-entrypoint-initdb.d/ >/dev/null 2>&1 || :
  if ! getent passwd "$(id -u)" >/dev/null; then
    # initdb asks for the name of who it runs as.
    NSS_WRAPPER_PASSWD=$(mktemp) NSS_WRAPPER_GROUP=$(mktemp)
    echo "postgres:x:$(id -u):$(id -g)::$PGDATA:/bin/false" >"$NSS_WRAPPER_PASSWD"
    echo "postgres:x:$(id -g):" >"$NSS_WRAPPER_GROUP"
    LD_PRELOAD=$(echo /usr/lib/*/libnss_wrapper.so)
    export LD_PRELOAD NSS_WRAPPER_PASSWD NSS_WRAPPER_GROUP
  fi
  eval 'initdb --username="$POSTGRES_USER" --pwfile=<(printf "%s\n" "$POSTGRES_PASSWORD") '"${POSTGRES_INITDB_ARGS:-}"
  unset LD_PRELOAD NSS_WRAPPER_PASSWD NSS_WRAPPER_GROUP
  printf '\nhost all all all scram-sha-256\n' >>"$PGDATA/pg_hba.conf"
  export PGPASSWORD=$POSTGRES_PASSWORD
  pg_ctl -D "$PGDATA" -o "$(printf '%q ' "${@:2}" -c listen_addresses= -p 5432)" -w start
  database=${POSTGRES_DB:-$POSTGRES_USER}
  [ "$database" = postgres ] || psql --no-psqlrc --username "$POSTGRES_USER" --dbname postgres --command "create database \"$database\""
  pg_ctl -D "$PGDATA" -m fast -w stop
  unset PGPASSWORD
fi
exec "$@"
