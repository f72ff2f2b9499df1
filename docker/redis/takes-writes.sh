#!/bin/sh
# Redis's health: it takes a write. One whose memory or disk is full still answers PING.
set -eu
url=$(cat /run/secrets/redis-url)
password=${url#redis://:}
answer=$(REDISCLI_AUTH=${password%@*} redis-cli SET healthcheck 1 EX 60)
echo "$answer"
[ "$answer" = OK ]
