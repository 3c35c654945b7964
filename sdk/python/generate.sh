#!/bin/sh
# Writes the Python code of proto/mulligan/v1, as it is in src/mulligan/_proto, to a folder.
#
#   sdk/python/generate.sh [DIR]    without DIR: src/mulligan/_proto itself
#
# The compiler comes from generate.lock, into a virtual environment under .cache. It is an
# older one on purpose: generated code runs with its own version of protobuf's runtime and newer
# ones, never with older ones, so it sets the lowest version in pyproject.toml.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
out=${1:-$here/src/mulligan/_proto}
mkdir -p "$out"
out=$(cd "$out" && pwd)

tools=$root/.cache/python/generate-$(cksum <"$here/generate.lock" | cut -d' ' -f1)
if ! test -e "$tools/complete"; then
	rm -rf "$tools"
	python3 -m venv "$tools"
	"$tools/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps -r "$here/generate.lock"
	touch "$tools/complete"
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$root/proto"
"$tools/bin/python" -m grpc_tools.protoc -I. --python_out="$scratch" --pyi_out="$scratch" \
	mulligan/v1/decision.proto mulligan/v1/failure.proto mulligan/v1/plugin.proto mulligan/v1/values.proto

# The files import each other by their names in proto/, where Python would look for a package
# of its own.
for file in "$scratch"/mulligan/v1/*; do
	sed 's/^from mulligan\.v1 import /from . import /' "$file" >"$out/$(basename "$file")"
done
echo '"""Generated from proto/mulligan/v1 by generate.sh."""' >"$out/__init__.py"
