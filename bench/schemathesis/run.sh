#!/usr/bin/env bash
# Has schemathesis try what /openapi.json promises, on a real `mulligan serve` with a token.
#
#   bench/schemathesis/run.sh bin/mulligan
#
# SEED chooses the cases (1), EXAMPLES how many of each operation (25).
set -euo pipefail
binary=$(realpath "${1:?the program: bin/mulligan}")
here=$(cd "$(dirname "$0")" && pwd)
venv=$(cd "$here/../.." && pwd)/.cache/schemathesis

if ! python3 -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then
  echo "schemathesis: SKIPPED, for want of Python 3.10 or newer with venv"
  [ -z "${CI:-}" ]
  exit
fi
if ! cmp -s "$here/requirements.txt" "$venv/installed"; then
  rm -rf "$venv"
  python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet --disable-pip-version-check --no-deps -r "$here/requirements.txt"
  cp "$here/requirements.txt" "$venv/installed"
fi

dir=$(mktemp -d)
serve=
end() {
  if [ -n "$serve" ]; then
    kill "$serve" 2>/dev/null || true
    wait "$serve" 2>/dev/null || true
  fi
  rm -rf "$dir"
}
trap end EXIT

env -i PATH="$PATH" HOME="$dir" "$binary" serve --config "$here/mulligan.yaml" --state "$dir/state" \
  --listen 127.0.0.1:0 --json >"$dir/log" 2>&1 &
serve=$!
url=
for _ in $(seq 300); do
  url=$(sed -n 's/.*"msg":"listening".*"url":"\([^"]*\)".*/\1/p' "$dir/log")
  [ -z "$url" ] || break
  kill -0 "$serve" 2>/dev/null || break
  sleep 0.1
done
if [ -z "$url" ]; then
  cat "$dir/log"
  echo "schemathesis: mulligan serve does not listen"
  exit 1
fi

cd "$dir" # whatever it writes
status=0
timeout 170 "$venv/bin/schemathesis" --config-file "$here/schemathesis.toml" run "$url/openapi.json" \
  --header "Authorization: Bearer $(cat state/token)" --seed "${SEED:-1}" --max-examples "${EXAMPLES:-25}" \
  --request-timeout 20 --workers 1 --no-color --suppress-health-check all || status=$?
if ! kill -0 "$serve" 2>/dev/null; then
  tail -50 "$dir/log"
  echo "schemathesis: mulligan serve did not survive"
  exit 1
fi
if grep -q '"level":"ERROR"' "$dir/log"; then
  grep '"level":"ERROR"' "$dir/log" | head -5
  echo "schemathesis: something broke in the gateway"
  exit 1
fi
exit "$status"
