#!/usr/bin/env bash
# A validator's health: its height has moved lately. During a stall Besu's own /liveness and /readiness go on saying UP,
# and eth_syncing false. The image has neither curl nor wget, but it has bash.
set -euo pipefail

port=${RPC_PORT:-8545}
# One validator down makes gaps of 4 s every 10; a chain without blocks for this long is stalled.
moved_within_seconds=${MOVED_WITHIN_SECONDS:-15}
# What the last probe saw: the height, and since when it is that.
state_file=${TMPDIR:-/tmp}/height-moves

fail() {
  echo "$1"
  exit 1
}

request='{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber","params":[]}'
exec 3<>"/dev/tcp/127.0.0.1/$port" || fail "nobody listens on port $port"
printf 'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s' \
  "${#request}" "$request" >&3
# To the end of the stream, or what came within 3 s.
IFS= read -r -d '' -t 3 response <&3 || true
[[ ${response:-} =~ \"result\"\ ?:\ ?\"(0x[0-9a-f]+)\" ]] || fail "no height in the answer: ${response:0:200}"
height=$((BASH_REMATCH[1]))

before=-1 since=0
if [ -r "$state_file" ]; then read -r before since <"$state_file"; fi
if [ "$height" -ne "$before" ]; then
  # The first probe cannot tell whether it moves.
  if [ "$before" -ge 0 ]; then since=$EPOCHSECONDS; fi
  echo "$height $since" >"$state_file"
fi
if [ $((EPOCHSECONDS - since)) -gt "$moved_within_seconds" ]; then
  fail "block $height: it has not moved for $moved_within_seconds s"
fi
echo "block $height"
