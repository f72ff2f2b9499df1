#!/bin/sh
# Starts Redis with the password of its address, which is for operators, and with a user for each process: its rights are in
# users/$REDIS_USERS.acl, its password is in the address that the process has. All of it goes over the standard input: a command
# line can be read by anybody.
set -eu
secrets=${REDIS_SECRETS:-/run/secrets}
rights=$(dirname "$0")/users/$REDIS_USERS.acl
url=$(cat "$secrets/redis-url")
password=${url#redis://:}
[ -r "$rights" ] || { echo "There is no $rights: REDIS_USERS is production, development or faucet." >&2; exit 1; }
users=$(
  grep -v '^#' "$rights" | while read -r name rules; do
    # A user whose process does not run here has no password, and so is none.
    [ -r "$secrets/redis-user-$name" ] || continue
    url=$(cat "$secrets/redis-user-$name")
    its=${url#redis://*:}
    printf 'user %s on >%s %s\n' "$name" "${its%@*}" "$rules"
  done
)
exec redis-server "$@" - <<EOF
requirepass ${password%@*}
$users
EOF
