#!/bin/sh
# Rebuilds the checked-in engine and says whether it is the same as before.
set -eu
cd "$(dirname "$0")/.."
linked=$(guest-js/build.sh)
rustc=rustc; clang=clang
if [ -z "${WASI_SDK:-}" ]; then rustc=/usr/bin/rustc; clang=clang-22; else clang=$WASI_SDK/bin/clang; fi
# Optimising again after linking makes the engine some per cent faster; without the tool it is only slower.
optimizer=none
if command -v wasm-opt >/dev/null 2>&1; then
    optimizer=$(wasm-opt --version)
    wasm-opt -O3 --enable-simd --enable-bulk-memory --enable-sign-ext --enable-mutable-globals \
        --enable-nontrapping-float-to-int --enable-reference-types --enable-multivalue "$linked" -o "$linked.opt"
    linked=$linked.opt
fi
# What the C says of itself; the crate around it has a number of its own.
header=$(cargo metadata --locked --format-version 1 --manifest-path guest-js/Cargo.toml \
    | grep -o '"manifest_path":"[^"]*/rquickjs-sys-[^"]*Cargo.toml"' | sed 's/.*:"\(.*\)Cargo.toml"/\1quickjs\/quickjs.h/')
quickjs=$(sed -n 's/^#define QJS_VERSION_\(MAJOR\|MINOR\|PATCH\) //p' "$header" | paste -s -d .)
exec cargo run --release --quiet -p agent-spaces-pack -- "$linked" guest-js/Cargo.lock guest-js/prebuilt "$quickjs" \
    "rustc=$($rustc --version)" "clang=$($clang --version | head -n 1)" "wasm-opt=$optimizer"
