#!/bin/sh
# Ends all sessions of merchants: everybody signs in anew. After a restore, since one that has ended since the backup would be good again.
set -eu
PGPASSWORD=$(cat "$POSTGRES_PASSWORD_FILE")
export PGPASSWORD
exec psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 --host 127.0.0.1 --username tollgate --dbname tollgate \
  --command 'delete from svc.sessions'
