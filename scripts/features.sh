#!/usr/bin/env bash
# Checks, with all lints, every set of features that differs in code: none, each alone, each with the programs, all
# together. The harness is large, so it is left out unless asked for: scripts/features.sh --with-harness
set -euo pipefail
cd "$(dirname "$0")/.."

features=(cli fault mcp mcp-client shell syntax)
if [ "${1:-}" = --with-harness ]; then
  features+=(harness)
fi
declared=$(sed -n '/^\[features\]/,/^\[dependencies\]/s/^\([a-z][a-z-]*\) = .*/\1/p' Cargo.toml | grep -v '^default$' | sort)
known=$(printf '%s\n' "${features[@]}" harness | sort -u)
[ "$declared" = "$known" ] || { echo "Cargo.toml has other features than this script:" "$declared" >&2; exit 1; }

check() {
  printf '== %s\n' "${1:-no features}"
  cargo clippy --locked --quiet --no-default-features --features "$1" -- -D warnings
}

check ""
for feature in "${features[@]}"; do
  check "$feature"
  [ "$feature" = cli ] || check "cli,$feature"
done
check "$(IFS=,; echo "${features[*]}")"
printf '== all sets compile without a warning\n'
