#!/bin/sh
# Ends the process groups of npm start's children when npm start itself is gone without having ended them (kill -9).
#
# The standard input is a pipe that only npm start holds open, so its end is the end of npm start, on every system and
# however it came. Until then each line says which group to remember ("+ PID") or to forget ("- PID").
groups=" "
while read -r verb group; do
  case $verb in
    +) groups="$groups$group " ;;
    -) groups="${groups%% "$group" *} ${groups#* "$group" }" ;;
  esac
done

for group in $groups; do kill -s TERM -- "-$group" 2>/dev/null; done
tenths=0
while [ $tenths -lt 80 ]; do
  left=0
  for group in $groups; do kill -s 0 -- "-$group" 2>/dev/null && left=1; done
  [ $left -eq 0 ] && exit 0
  sleep 0.1
  tenths=$((tenths + 1))
done
for group in $groups; do kill -s KILL -- "-$group" 2>/dev/null; done
exit 0
