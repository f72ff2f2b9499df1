#!/bin/sh
# Takes what dump-merchants.sh wrote from standard input, into a database that is empty; all of it or nothing.
set -eu
PGPASSWORD=$(cat "$POSTGRES_PASSWORD_FILE")
export PGPASSWORD
exec psql --no-psqlrc --quiet --output /dev/null --set ON_ERROR_STOP=1 --single-transaction \
  --host 127.0.0.1 --username tollgate --dbname tollgate
