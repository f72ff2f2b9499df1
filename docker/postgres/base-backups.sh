#!/bin/sh
# Beside PostgreSQL, in its image, which has its programs: takes a copy of its files whenever npm run backup asks for one, by a file
# `request.ID` in the folder that both see. Then there is `done.ID`, and the copy in `copy.ID`; or `failed.ID`, which says why. Who asked removes them.
set -eu
requests=${BACKUP_REQUESTS:-/archive/requests}
if [ -n "${POSTGRES_PASSWORD_FILE:-}" ]; then PGPASSWORD=$(cat "$POSTGRES_PASSWORD_FILE"); export PGPASSWORD; fi
umask 077
mkdir -p "$requests"
cd "$requests"
trap 'exit 0' TERM INT
take() {
  pg_basebackup --host 127.0.0.1 --port "${PGPORT:-5432}" --username tollgate --no-password --pgdata "$1" \
    --wal-method=stream --checkpoint=fast --manifest-checksums=SHA256 && pg_verifybackup --quiet "$1"
}
while :; do
  # Of who ended before it had its copy. Nobody waits for one for a day.
  find . -mindepth 1 -maxdepth 1 -mmin +1440 -exec rm -rf {} +
  for request in request.*; do
    [ -e "$request" ] || continue
    id=${request#request.}
    rm -rf "copy.$id"
    if take "copy.$id" 2>"said.$id"; then : >"done.$id"; else rm -rf "copy.$id"; mv "said.$id" "failed.$id"; fi
    rm -f "$request" "said.$id"
  done
  sleep 1 &
  wait $!
done
