#!/bin/sh
# Applies a patch of five operations to a copy of the demo tree and shows what changed.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
cargo build --quiet --release --locked --manifest-path "$root/Cargo.toml"
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cp -R "$here/tree/." "$copy"
"${CARGO_TARGET_DIR:-$root/target}/release/apply_patch" -C "$copy" --diff < "$here/change.patch"
