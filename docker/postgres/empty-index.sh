#!/bin/sh
# Empties the index of the chain, which an api that starts after it builds anew. Merchants' records (schema svc) stay as they are.
# Only while no api runs.
set -eu
PGPASSWORD=$(cat "$POSTGRES_PASSWORD_FILE")
export PGPASSWORD
exec psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 --host 127.0.0.1 --username tollgate --dbname tollgate <<'SQL'
do $$ begin
  execute (select 'truncate ' || string_agg(format('%I.%I', schemaname, tablename), ', ')
    from pg_tables where schemaname = 'chain');
end $$;
SQL
