#!/bin/sh
# Beside PostgreSQL, in its image, which has its programs: takes a copy of its files whenever npm run backup asks for one, by a file
# `request` in the folder that both see. Then there is `done`, and the copy in `copy`; or `failed`, which says why.
set -eu
requests=${BACKUP_REQUESTS:-/archive/requests}
if [ -n "${POSTGRES_PASSWORD_FILE:-}" ]; then PGPASSWORD=$(cat "$POSTGRES_PASSWORD_FILE"); export PGPASSWORD; fi
umask 077
mkdir -p "$requests"
cd "$requests"
trap 'exit 0' TERM INT
take() {
  pg_basebackup --host 127.0.0.1 --port "${PGPORT:-5432}" --username tollgate --no-password --pgdata copy \
    --wal-method=stream --checkpoint=fast --manifest-checksums=SHA256 && pg_verifybackup --quiet copy
}
while :; do
  if [ -e request ]; then
    rm -rf copy done failed
    if take 2>said; then : >done.new; mv done.new done; else rm -rf copy; mv said failed; fi
    rm -f request said
  fi
  sleep 1 &
  wait $!
done
