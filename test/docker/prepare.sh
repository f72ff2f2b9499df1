#!/bin/sh
# Makes what the tests of docker/ need and no package has, as root, once a machine (in ~/.cache/tollgate):
#
#   docker-compose  compose v2, from its Go module: Debian's package docker-compose is v1
#   base.tar        a small Debian with Redis, Prometheus and psql, for images that stand in for those of a registry
#   npm/            the packages of package-lock.json, so that docker/Dockerfile's npm ci needs no network; of Linux on x64 and arm64
#
# Asks for docker.io, iptables, debootstrap and prometheus of Debian, any Go, and npm.
set -eu
umask 022
compose_version=v2.39.4
suite=bookworm
root=$(cd "$(dirname "$0")/../.." && pwd)
cache=${TOLLGATE_CACHE:-$HOME/.cache/tollgate}
mkdir -p "$cache"

work=$(mktemp -d "$cache/making.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' HUP INT TERM

# Read now: an npm install beside this may write the file anew. Its packages are known by their hashes, which stay the
# same whatever else another npm writes into it; start-docker.ts finds them by the same name.
mkdir "$work/packages"
cp "$root/package.json" "$root/package-lock.json" "$work/packages/"
hashes=$(grep -oE '"integrity": "[^"]+"' "$work/packages/package-lock.json" | LC_ALL=C sort | sha256sum | cut -c 1-16)
packages=$cache/npm-2-$hashes

# A Go that can build compose. One of 1.21 or newer fetches what its go.mod asks for by itself; for an older one, as
# Debian's, the same module is fetched here (https://go.dev/doc/toolchain).
find_go() {
  if [ -n "$(go env GOTOOLCHAIN)" ]; then
    command -v go
    return
  fi
  toolchain=golang.org/toolchain@v0.0.1-go1.24.7.linux-$(go env GOARCH)
  (cd "$work" && go mod download "$toolchain")
  folder=$work/go
  cp -r "$(go env GOMODCACHE)/$toolchain" "$folder"
  chmod -R u+w "$folder"
  # A module's files are not programs.
  chmod -R +x "$folder/bin" "$folder/pkg/tool"
  echo "$folder/bin/go"
}

compose=$cache/docker-compose-$compose_version
if [ ! -x "$compose" ]; then
  echo "Building compose $compose_version; that takes some minutes."
  go=$(find_go)
  mkdir "$work/compose"
  (
    cd "$work/compose"
    "$go" mod init tollgate.invalid/compose
    "$go" get "github.com/docker/compose/v2/cmd@$compose_version"
    # The version is otherwise what a release build sets.
    "$go" build -ldflags "-s -w -X github.com/docker/compose/v2/internal.Version=$compose_version" \
      -o "$work/docker-compose" github.com/docker/compose/v2/cmd
  )
  mv "$work/docker-compose" "$compose"
fi

# The number grows with what is in it (start-docker.ts names the same).
base=$cache/base-$suite-2.tar
if [ ! -e "$base" ]; then
  echo "Making a small Debian for images."
  programs=redis-server,prometheus,prometheus-node-exporter,wget,postgresql-client-15,libnss-wrapper
  debootstrap --variant=minbase --include="$programs" "$suite" "$work/base" \
    >"$work/debootstrap.log" || { tail -n 20 "$work/debootstrap.log"; exit 1; }
  tar -C "$work/base" --exclude='./proc/*' --exclude='./sys/*' --exclude='./dev/*' --exclude='./var/cache/apt/*' \
    --exclude='./var/lib/apt/lists/*' --exclude='./usr/share/doc/*' --exclude='./usr/share/locale/*' \
    --exclude='./usr/share/man/*' --exclude='./usr/share/javascript/*' -cf "$work/base.tar" .
  mv "$work/base.tar" "$base"
fi

if [ ! -d "$packages" ]; then
  echo "Fetching the packages of package-lock.json."
  for cpu in x64 arm64; do
    (
      cd "$work/packages"
      npm ci --omit=dev --ignore-scripts --no-audit --no-fund --os=linux --cpu="$cpu" --libc=glibc --cache "$work/npm" >"$work/npm.log" 2>&1
    ) || { tail -n 20 "$work/npm.log"; exit 1; }
  done
  rm -rf "$work/npm/_logs"
  mv "$work/npm" "$packages"
fi
