#!/bin/sh
# PostgreSQL's health: it takes a write, for who has the password. One whose disk is full, or that is a standby, still answers
# reads. Over TCP, where it listens once it has been made whole; the message goes to its log alone, so no table is needed.
set -eu
PGPASSWORD=$(cat /run/secrets/postgres-password)
export PGPASSWORD
exec psql --no-psqlrc --tuples-only --no-align --host 127.0.0.1 --username tollgate --dbname tollgate \
  --command "select pg_logical_emit_message(true, 'health', '') is not null"
