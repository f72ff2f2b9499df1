#!/bin/sh
# Installs Debian's or Ubuntu's package redis-server, as root. Does nothing where a server is there already.
#
# Only the program is wanted. The package also brings a service on port 6379 and starts it, now and at each boot:
# both are kept from happening, for npm start runs a Redis of its own on a free port.
set -eu

if command -v redis-server >/dev/null || command -v valkey-server >/dev/null; then exit 0; fi

export DEBIAN_FRONTEND=noninteractive
# invoke-rc.d(8): in runlevel 1 no service is started.
export RUNLEVEL=1

# Debian's way to forbid starts while packages are installed (invoke-rc.d and deb-systemd-invoke ask this script).
# One that is there already belongs to the administrator and stays.
guard=/usr/sbin/policy-rc.d
if [ ! -e "$guard" ]; then
  trap 'rm -f "$guard"' EXIT
  trap 'exit 130' HUP INT TERM
  printf '#!/bin/sh\nexit 101\n' >"$guard"
  chmod 755 "$guard"
fi

# Another apt-get may be at work, as on a machine that has just been set up.
wait_for_lock='DPkg::Lock::Timeout=300'
apt-get -o "$wait_for_lock" update
apt-get -o "$wait_for_lock" install --yes --no-install-recommends redis-server </dev/null

if [ -d /run/systemd/system ]; then
  systemctl disable --now redis-server.service
else
  update-rc.d redis-server disable
fi
