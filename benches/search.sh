#!/bin/sh
# Searches beside ripgrep's, in one run on one machine: inside a running process, and as a program. Prints the ratios of CPU
# and wall time, and peak memory.
#
#     benches/search.sh [small] [medium] [large] [hard]
#
# Without words: small and medium, one minute, building left out. `large` makes a tree of 65,537 files;
# `hard` makes one of 50,000 files, a line of 1 GiB, pipes, loops of links and a directory that denies access.
# RG names ripgrep if it is not on the PATH, RESTITCH a program to measure instead of the one built here.
set -eu
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-target}
case $target in /*) ;; *) target=$PWD/$target ;; esac
rg=${RG:-$(command -v rg)} || { echo "ripgrep is not on the PATH; name it by RG" >&2; exit 1; }
if [ -z "${RESTITCH:-}" ]; then
    cargo build --quiet --release --bin restitch
    RESTITCH=$target/release/restitch
fi
cargo build --quiet --release --example compare_search
mkdir -p "$target/search-loads"
[ $# -gt 0 ] || set -- small medium
exec "$target/release/examples/compare_search" "$target/search-loads" "$RESTITCH" "$rg" "$@"
