#!/usr/bin/env bash
# Runs every fuzz target for so many seconds (default: 60), and says how many inputs each took. Needs cargo-fuzz and a
# nightly compiler; the first run builds for some minutes.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-60}
[ $# -gt 0 ] && shift
targets=("$@")
[ ${#targets[@]} -gt 0 ] || mapfile -t targets < <(cargo +nightly fuzz list)
log=$(mktemp)
trap 'rm -f "$log"' EXIT

for target in "${targets[@]}"; do
  corpus=("fuzz/corpus/$target")
  mkdir -p "${corpus[0]}"
  [ -d "fuzz/seeds/$target" ] && corpus+=("fuzz/seeds/$target")
  if ! cargo +nightly fuzz run "$target" "${corpus[@]}" -- \
    -max_total_time="$seconds" -max_len=8192 -dict=fuzz/patch.dict -print_final_stats=1 >"$log" 2>&1; then
    cat "$log"
    echo "== $target: a finding" >&2
    exit 1
  fi
  printf '%-24s %s runs\n' "$target" "$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")"
done
