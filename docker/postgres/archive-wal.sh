#!/bin/sh
# archive_command: puts a finished segment ($1) under its name ($2) into the spool, whole and on the disk before PostgreSQL hears that it is there. Backups
# take it from there. The same segment may come again after a crash; another one of its name is refused, and PostgreSQL keeps it.
set -eu
spool=${WAL_SPOOL:-/archive/wal}
[ -d "$spool" ] || { echo "There is no folder $spool for the log." >&2; exit 1; }
if [ -e "$spool/$2" ]; then
  cmp -s "$1" "$spool/$2" || { echo "$spool/$2 is another segment of that name." >&2; exit 1; }
  exit 0
fi
cp "$1" "$spool/.$2.new"
sync "$spool/.$2.new"
mv "$spool/.$2.new" "$spool/$2"
sync "$spool"
