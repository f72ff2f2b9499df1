#!/bin/sh
# What checks a release, once a machine: gitleaks from the Go module proxy, and spdx-tools of the Python package index, which
# validates lists of packages.
set -eu
cd "$(dirname "$0")"
tools="${XDG_CACHE_HOME:-$HOME/.cache}/tollgate/release-tools-1"
[ -e "$tools/complete" ] && exit
rm -rf "$tools"
mkdir -p "$tools/bin"
trap 'chmod -R u+w "$tools/modules" 2>/dev/null || true; rm -rf "$tools/modules" "$tools/go"' EXIT

# gitleaks's go.mod asks for 1.24.11: a 1.24 may be older than that, a 1.25 is not.
needed_minor=25
. ../../helpers/find-go.sh
python3 -m venv "$tools/venv"
"$tools/venv/bin/pip" install -q --disable-pip-version-check spdx-tools==0.8.5

# A place of its own for the modules, since their sources are of no use afterwards.
export GOMODCACHE="$tools/modules" GOBIN="$tools/bin" GOFLAGS="-ldflags=-s -ldflags=-w"
nice "$go" install github.com/zricethezav/gitleaks/v8@v8.30.1
ln -s ../venv/bin/pyspdxtools "$tools/bin/pyspdxtools"
touch "$tools/complete"
