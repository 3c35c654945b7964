#!/bin/sh
# Writes the code of the protocol's messages into src/gen, or into the folder that is
# named. With --check it changes nothing and fails where src/gen is not what it
# would write. BUF names the buf command; without it, it is the one that the
# repository's Makefile builds.
set -eu
cd "$(dirname "$0")/.."
root=../../..
buf=${BUF:-$root/.cache/bin/buf}
out=${1:-src/gen}
if [ "$out" = --check ]; then
	out=$(mktemp -d)
	trap 'rm -rf "$out"' EXIT
fi

"$buf" generate --template buf.gen.yaml --output "$out" "$root/proto" \
	--path "$root/proto/mulligan/v1/plugin.proto" --path "$root/proto/mulligan/v1/failure.proto" \
	--path "$root/proto/mulligan/v1/decision.proto" --path "$root/proto/mulligan/v1/policy.proto"
"$buf" generate --template buf.gen.yaml --output "$out" proto

if [ "${1:-}" = --check ]; then
	diff -r src/gen "$out" || { echo "run: npm run generate"; exit 1; }
fi
