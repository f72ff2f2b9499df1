#!/bin/sh
# Starts Redis with the password of its address. It goes over the standard input: a command line can be read by anybody.
set -eu
url=$(cat /run/secrets/redis-url)
password=${url#redis://:}
exec redis-server "$@" - <<EOF
requirepass ${password%@*}
EOF
