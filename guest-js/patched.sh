#!/bin/sh
# Makes `target/rquickjs-sys`: the QuickJS-ng that `quickjs/published/Cargo.toml` names, as published, with `patches/` applied
# in the order of their names. Prints that folder. It lies here wherever CARGO_TARGET_DIR is: `quickjs/Cargo.toml` names it, and
# the path becomes part of symbol names.
set -eu
cd "$(dirname "$0")"
: "${CARGO:=cargo}"
manifest=$("$CARGO" metadata --locked --format-version 1 --manifest-path quickjs/published/Cargo.toml \
    | grep -o '"manifest_path":"[^"]*/rquickjs-sys-[^"]*Cargo.toml"' | sed 's/.*:"\(.*\)"/\1/')
[ -f "$manifest" ] || { echo "The source of rquickjs-sys is missing: run cargo fetch in guest-js/quickjs/published." >&2; exit 2; }
fresh=target/rquickjs-sys.new
rm -rf "$fresh"
mkdir -p target
cp -R "$(dirname "$manifest")" "$fresh"
rm -f "$fresh/.cargo-ok" "$fresh/Cargo.toml.orig" "$fresh/Cargo.lock"
for file in patches/*.patch; do
    [ -e "$file" ] || continue
    # No fuzz: a patch that no longer fits exactly wants to be read again.
    if ! said=$(patch --strip=1 --fuzz=0 --forward --no-backup-if-mismatch --directory="$fresh/quickjs" <"$file" 2>&1); then
        printf '%s\nguest-js/%s does not apply to %s. Adapt it: docs/engine-updates.md says how.\n' \
            "$said" "$file" "$(basename "$(dirname "$manifest")")" >&2
        exit 1
    fi
done
# What has not changed keeps its times, so that cargo does not compile it again.
if diff -r "$fresh" target/rquickjs-sys >/dev/null 2>&1; then
    rm -rf "$fresh"
else
    rm -rf target/rquickjs-sys
    mv "$fresh" target/rquickjs-sys
fi
echo "$PWD/target/rquickjs-sys"
