#!/bin/sh
# As the published image's: the first word may be an option or a file for redis-server; root gives the folder to redis and
# goes on as redis.
set -e
case "${1:-}" in -* | *.conf) set -- redis-server "$@" ;; esac
if [ "$1" = redis-server ] && [ "$(id -u)" = 0 ]; then
  find . ! -user redis -exec chown redis '{}' +
  exec setpriv --reuid=redis --regid=redis --clear-groups -- "$0" "$@"
fi
exec "$@"
