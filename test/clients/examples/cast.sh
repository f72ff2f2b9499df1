#!/bin/sh
# For example: TOLLGATE_URL=… TOLLGATE_KEY=… sh cast.sh chain-id
export ETH_RPC_URL="$TOLLGATE_URL" ETH_RPC_HEADERS="X-API-Key: $TOLLGATE_KEY"
exec cast "$@"
