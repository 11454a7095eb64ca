#!/bin/sh
# Programs side by side on one machine, in one run: this one, and each of cp, git apply, GNU patch, the crate diffy and the
# program that PEER_APPLY_PATCH names, as far as they are there. Prints medians, ratios and peak memory.
#
#     benches/compare.sh [--quick] [LOAD...]      LOAD: start A B C D E F G H
#
# Without --quick the loads are those of docs/performance.md and take some five minutes, with it under one, building left out.
# RESTITCH_APPLY_PATCH names a program to measure instead of the one built here, RESTITCH_LOADS a directory for the loads, for
# instance on a memory file system.
set -eu
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-target}
case $target in /*) ;; *) target=$PWD/$target ;; esac
loads=${RESTITCH_LOADS:-$target/compare-loads}
mkdir -p "$loads"
if [ -z "${RESTITCH_APPLY_PATCH:-}" ]; then
    cargo build --quiet --release --bin apply_patch
    RESTITCH_APPLY_PATCH=$loads/apply_patch
    # As installing does. What the linker wrote starts a quarter of a millisecond later, for it lies in the page cache in
    # small pieces.
    cp "$target/release/apply_patch" "$RESTITCH_APPLY_PATCH"
fi
export RESTITCH_APPLY_PATCH
# Not the package manager: what is started inherits the peak memory of what starts it.
cargo build --quiet --profile compare --example compare
exec "$target/compare/examples/compare" "$loads" "$@"
