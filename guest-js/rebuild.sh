#!/bin/sh
# Rebuilds the checked-in engine and says whether it is the same as before.
set -eu
cd "$(dirname "$0")/.."
linked=$(guest-js/build.sh)
rustc=rustc; clang=clang
if [ -z "${WASI_SDK:-}" ]; then rustc=/usr/bin/rustc; clang=clang-22; else clang=$WASI_SDK/bin/clang; fi
# No wasm-opt after linking: it gains nothing since the interpreter is in parts (-O3 0.996 of the time without, -O1 0.981), and
# it joins blocks of the interpreter so that the packer can no longer prove every loop of it charged.
# What the C says of itself; the crate around it has a number of its own.
header=guest-js/target/rquickjs-sys/quickjs/quickjs.h
quickjs=$(sed -n 's/^#define QJS_VERSION_\(MAJOR\|MINOR\|PATCH\) //p' "$header" | paste -s -d .)
exec cargo run --release --quiet -p agent-spaces-pack -- "$linked" guest-js "$quickjs" \
    "rustc=$($rustc --version)" "clang=$($clang --version | head -n 1)"
