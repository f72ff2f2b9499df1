#!/bin/sh
# Puts Debian trixie's Valkey 8 with the libraries that it needs into a folder, for a Debian that has none (bookworm):
#
#   sh scripts/processes/install-valkey.sh FOLDER     then FOLDER/bin/valkey-server
#
# Nothing of the system changes. apt fetches the packages into the folder and checks Debian's signature; whichever 8.1 trixie has
# today is taken, for Debian deletes the ones before it. The server runs with the libraries beside it.
set -eu

folder=${1:?"a folder was expected: sh scripts/processes/install-valkey.sh FOLDER"}
rm -rf "$folder"
mkdir -p "$folder/apt/lists/partial" "$folder/apt/archives/partial" "$folder/root" "$folder/bin"
folder=$(cd "$folder" && pwd)

cat >"$folder/apt/trixie.sources" <<END
Types: deb
URIs: http://deb.debian.org/debian
Suites: trixie
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
END
: >"$folder/apt/status"

apt() {
  apt-get -qq -o Dir::State="$folder/apt" -o Dir::State::lists="$folder/apt/lists" -o Dir::State::status="$folder/apt/status" \
    -o Dir::Cache="$folder/apt" -o Dir::Etc::sourcelist="$folder/apt/trixie.sources" -o Dir::Etc::sourceparts=/dev/null \
    -o Acquire::Languages=none -o Acquire::Retries=3 -o APT::Sandbox::User= -o APT::Install-Recommends=false "$@"
}
apt update
# An empty status file: everything that it needs is fetched, down to the C library.
apt install -y --download-only valkey-server >/dev/null

for package in "$folder"/apt/archives/*.deb; do dpkg-deb -x "$package" "$folder/root"; done
rm -rf "$folder/apt"

libraries=$(dirname "$(find "$folder/root/usr/lib" -name libc.so.6 | head -n 1)")
loader=$(find "$libraries" -name 'ld-linux*.so*' | head -n 1)
cat >"$folder/bin/valkey-server" <<END
#!/bin/sh
exec "$loader" --argv0 valkey-server --library-path "$libraries" "$folder/root/usr/bin/valkey-server" "\$@"
END
chmod 755 "$folder/bin/valkey-server"
"$folder/bin/valkey-server" --version
