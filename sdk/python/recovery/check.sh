#!/bin/sh
# Checks types with the real packages of each host, in a virtual environment under .cache that
# is made anew when requirements.txt changes; and, of a program, plays the fault table to them.
#
#   sdk/python/recovery/check.sh [bin/mulligan]
set -eu

binary=${1:+$(realpath "$1")}
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
venv=$root/.cache/python/hosts
if ! python3 -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
	echo "recovery: SKIPPED, for want of Python 3.11 or newer with venv"
	test -z "${CI:-}"
	exit
fi
if ! cmp -s "$here/requirements.txt" "$venv/installed"; then
	rm -rf "$venv"
	python3 -m venv "$venv"
	"$venv/bin/pip" install --quiet --disable-pip-version-check --no-deps --only-binary=:all: -r "$here/requirements.txt"
	cp "$here/requirements.txt" "$venv/installed"
fi
cd "$here"
export PYTHONDONTWRITEBYTECODE=1
if test -z "$binary"; then
	exec "$venv/bin/python" -m mypy --cache-dir="$venv/mypy"
fi
if npm=$("$root/sdk/typescript/recovery/hosts/install"); then
	MULLIGAN_NPM_HOSTS=$root/.cache/typescript/hosts:$(echo "$npm" | tail -n 1)
	export MULLIGAN_NPM_HOSTS
fi
MULLIGAN_BINARY=$binary timeout 600 "$venv/bin/python" -m pytest -p no:cacheprovider
