#!/usr/bin/env bash
# What must hold before a release, besides the gate (.ci/run). A tool or a target that is not installed is skipped and named
# at the end; a check that fails ends the script.
set -euo pipefail
cd "$(dirname "$0")/.."
skipped=()
say() { printf '\n== %s\n' "$*"; }
skip() { printf 'skipped: %s\n' "$*"; skipped+=("$1"); }
has() { cargo "$1" --version >/dev/null 2>&1; }

say "sets of features"
scripts/features.sh --with-harness

say "package"
# Builds from what the package holds; a dirty tree is refused.
cargo package --locked

say "licences, duplicates, sources"
if has deny; then
  cargo deny --config deny.toml check licenses bans sources
else
  skip "cargo deny" "(cargo install cargo-deny)"
fi

say "advisories"
# The one check that needs the network: it reads the advisory database.
if ! has deny; then
  skip "advisories" "(cargo install cargo-deny)"
elif ! cargo deny --config deny.toml fetch db >/dev/null 2>&1; then
  skip "advisories" "(the database cannot be reached)"
else
  cargo deny --config deny.toml check advisories
fi

say "compatibility with the last release"
tag=$(git describe --tags --abbrev=0 --match 'v[0-9]*' 2>/dev/null || true)
if [ -z "$tag" ]; then
  skip "cargo semver-checks" "(there is no release yet)"
elif has semver-checks; then
  cargo semver-checks --baseline-rev "$tag" --features harness,mcp,shell,syntax
else
  skip "cargo semver-checks" "(cargo install cargo-semver-checks)"
fi

say "other targets"
installed=$(rustc --print sysroot)/lib/rustlib
for target in x86_64-unknown-linux-musl aarch64-unknown-linux-musl aarch64-unknown-linux-gnu aarch64-apple-darwin; do
  if [ -d "$installed/$target/lib" ]; then
    # The default features have no C code, so no other compiler is needed.
    cargo check --locked --target "$target"
  else
    skip "$target" "(rustup target add $target)"
  fi
done
if [ -d "$installed/x86_64-pc-windows-gnu/lib" ]; then
  # It must fail, and say why.
  said=$(cargo check --locked --target x86_64-pc-windows-gnu --no-default-features 2>&1 || true)
  grep -q "restitch runs on Unix systems only" <<<"$said" || { echo "$said" >&2; exit 1; }
else
  skip "x86_64-pc-windows-gnu" "(rustup target add x86_64-pc-windows-gnu)"
fi

say "release build"
# Static where the C library's archives are there; see docs/packaging.md.
cargo build --locked --release
if [ -d "$installed/x86_64-unknown-linux-musl/lib" ]; then
  cargo build --locked --release --target x86_64-unknown-linux-musl
fi

say "done"
[ ${#skipped[@]} -eq 0 ] || printf 'not checked: %s\n' "${skipped[@]}"
