#!/bin/sh
# Builds the engine's core module. Takes whichever toolchain is present:
#   - rustup's wasm32-wasip1 target and WASI_SDK=/path/to/wasi-sdk, or
#   - Debian's rustc-web, cargo-web, rust-web-src, clang-22, lld-22, llvm-22, libclang-22-dev,
#     libclang-rt-22-dev-wasm32 and wasi-libc, building std from source.
# Prints the path of the module.
set -eu
cd "$(dirname "$0")"
target=wasm32-wasip1
: "${CARGO_TARGET_DIR:=$PWD/target}"
export CARGO_TARGET_DIR
# No path of this machine ends up in the module, so that another machine can build the same one.
flags="-C target-feature=+simd128,+bulk-memory --remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=cargo --remap-path-prefix=$PWD=engine"
c_flags="-O3 -msimd128 -mbulk-memory"
./patched.sh >&2

if [ -n "${WASI_SDK:-}" ]; then
    export CC_wasm32_wasip1="$WASI_SDK/bin/clang" AR_wasm32_wasip1="$WASI_SDK/bin/llvm-ar"
    export CFLAGS_wasm32_wasip1="$c_flags --sysroot=$WASI_SDK/share/wasi-sysroot"
    RUSTFLAGS="$flags" cargo build --release --locked --target "$target" >&2
elif [ -x /usr/bin/clang-22 ] && [ -f /usr/lib/wasm32-wasi/crt1-reactor.o ]; then
    sysroot=/usr/lib/wasm32-wasi
    include=/usr/include/wasm32-wasi
    export RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 RQUICKJS_SYS_NO_WASI_SDK=1
    export CC_wasm32_wasip1=clang-22 AR_wasm32_wasip1=llvm-ar-22
    export LIBCLANG_PATH="$(llvm-config-22 --libdir)"
    export CFLAGS_wasm32_wasip1="$c_flags --target=wasm32-wasi -isystem $include"
    export BINDGEN_EXTRA_CLANG_ARGS_wasm32_wasip1="--target=wasm32-wasi -isystem $include -fvisibility=default"
    export CARGO_TARGET_WASM32_WASIP1_LINKER=wasm-ld-22
    RUSTFLAGS="$flags -C link-self-contained=no -C linker-flavor=wasm-lld -Zunstable-options \
        -C link-arg=$sysroot/crt1-reactor.o -C link-arg=-L$sysroot \
        -C link-arg=$(clang-22 --target=wasm32-wasi -print-resource-dir)/lib/wasi/libclang_rt.builtins-wasm32.a \
        -C link-arg=--entry=_initialize -C link-arg=--export=_initialize" \
        /usr/bin/cargo build --release --locked --target "$target" -Zbuild-std=std,panic_abort >&2
else
    echo "No wasm toolchain found: set WASI_SDK, or install Debian's packages named in this file." >&2
    exit 2
fi
echo "$CARGO_TARGET_DIR/$target/release/agent_spaces_engine.wasm"
