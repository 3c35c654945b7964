#!/bin/sh
# Writes the code of the protocol's messages into src/gen, or into the folder that is
# named, relative to this package. With --check it changes nothing and fails where
# src/gen is not what it would write. BUF names the buf command; without it, it is the
# one that the repository's Makefile builds.
set -eu
cd "$(dirname "$0")/.."
root=../../..
buf=${BUF:-$root/.cache/bin/buf}
out=${1:-src/gen}
if [ "$out" = --check ]; then
	out=$(mktemp -d)
	trap 'rm -rf "$out"' EXIT
fi

# Only what a plugin serves, and what its host keeps for it.
"$buf" generate --template buf.gen.yaml --output "$out" "$root/proto" --type mulligan.v1.RecoveryPlugin --type mulligan.v1.ValueService
"$buf" generate --template buf.gen.yaml --output "$out" proto

if [ "${1:-}" = --check ]; then
	diff -r src/gen "$out" || { echo "run: npm run generate"; exit 1; }
fi
