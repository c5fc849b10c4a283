#!/bin/sh
# Builds ../text.wasm. Takes whichever toolchain is present:
#   - rustup's wasm32-wasip2 target, whose linker makes the component, or
#   - Debian's rustc-web, cargo-web, rust-web-src, clang-22, lld-22, libclang-rt-22-dev-wasm32 and wasi-libc, building
#     std from source for wasm32-wasip1; then jco makes a component of the module.
set -eu
cd "$(dirname "$0")"
: "${CARGO_TARGET_DIR:=$PWD/target}"
export CARGO_TARGET_DIR
# Panic messages name source files: not by where this machine keeps them.
remap="--remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=cargo --remap-path-prefix=$PWD=text"

if [ -d "$(rustc --print target-libdir --target wasm32-wasip2 2>/dev/null)" ]; then
    RUSTFLAGS="$remap" cargo build --release --locked --target wasm32-wasip2
    cp "$CARGO_TARGET_DIR/wasm32-wasip2/release/text_component.wasm" ../text.wasm
elif [ -x /usr/bin/clang-22 ] && [ -f /usr/lib/wasm32-wasi/crt1-reactor.o ]; then
    sysroot=/usr/lib/wasm32-wasi
    # With std built from source, a panic can be a bare trap, without the code for messages.
    RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 CARGO_TARGET_WASM32_WASIP1_LINKER=wasm-ld-22 RUSTFLAGS="$remap \
        -C panic=immediate-abort -Zunstable-options -C link-self-contained=no -C linker-flavor=wasm-lld \
        -C link-arg=$sysroot/crt1-reactor.o -C link-arg=-L$sysroot \
        -C link-arg=$(clang-22 --target=wasm32-wasi -print-resource-dir)/lib/wasi/libclang_rt.builtins-wasm32.a \
        -C link-arg=--entry=_initialize -C link-arg=--export=_initialize" \
        /usr/bin/cargo build --release --locked --target wasm32-wasip1 \
        -Zbuild-std=std,panic_abort -Zbuild-std-features=optimize_for_size
    npx -y @bytecodealliance/jco@1.35.0 new "$CARGO_TARGET_DIR/wasm32-wasip1/release/text_component.wasm" \
        --wasi-reactor -o ../text.wasm
else
    echo "No wasm toolchain found: run \`rustup target add wasm32-wasip2\`, or see this file." >&2
    exit 2
fi
