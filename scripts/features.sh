#!/usr/bin/env bash
# Checks every set of features that differs in code: each alone, each with the programs, all together.
# The harness is large, so it is left out unless asked for: scripts/features.sh --with-harness
set -euo pipefail
cd "$(dirname "$0")/.."

features=(cli fault mcp mcp-client syntax)
if [ "${1:-}" = --with-harness ]; then
  features+=(harness)
fi
# Features that others bring along.
for feature in shell; do
  grep -q "^$feature = " Cargo.toml && features+=("$feature")
done

check() {
  printf '== %s\n' "${1:-no features}"
  cargo check --locked --quiet --no-default-features --features "$1"
}

check ""
for feature in "${features[@]}"; do
  check "$feature"
  [ "$feature" = cli ] || check "cli,$feature"
done
check "$(IFS=,; echo "${features[*]}")"
printf '== all sets compile\n'
