#!/bin/sh
# Checks types and runs the tests of a folder (this one) with the exact versions of
# requirements.lock, from a virtual environment under .cache that is made anew when the lock
# changes. PYTHON chooses another Python.
set -eu

folder=$(cd "${1:-$(dirname "$0")}" && pwd)
cd "$(dirname "$0")"
root=$(cd ../.. && pwd)
python=${PYTHON:-python3}
version=$("$python" -c 'import platform; print(platform.python_version())')
tools=$root/.cache/python/check-$version-$(cksum <requirements.lock | cut -d' ' -f1)
if ! test -e "$tools/complete"; then
	rm -rf "$tools"
	"$python" -m venv "$tools"
	"$tools/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements.lock
	touch "$tools/complete"
fi

cd "$folder"
"$tools/bin/python" -m mypy --cache-dir="$tools/mypy"
PYTHONDONTWRITEBYTECODE=1 exec "$tools/bin/python" -m pytest -p no:cacheprovider
