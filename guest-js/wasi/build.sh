#!/bin/sh
# Builds the adapters and packs them into ../prebuilt, or into the folder named as the first argument.
# Takes whichever toolchain is present:
#   - rustup's wasm32-unknown-unknown target, or
#   - Debian's rustc-web, cargo-web, rust-web-src and lld-22, building core and alloc from source.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
prebuilt=${1:-$here/../prebuilt}
mkdir -p "$prebuilt"
prebuilt=$(cd "$prebuilt" && pwd)
cd "$here"
target=wasm32-unknown-unknown
: "${CARGO_TARGET_DIR:=$PWD/target}"
export CARGO_TARGET_DIR
adapters="-p agent-spaces-wasi-services -p agent-spaces-wasi-command -p agent-spaces-wasi-http"
# Panic messages name source files: not by where this machine keeps them.
remap="--remap-path-prefix=$PWD=wasi --remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=cargo"

if [ -d "$(rustc --print target-libdir --target "$target" 2>/dev/null)" ]; then
    RUSTFLAGS="$remap" cargo build --release --locked --target "$target" $adapters
    compiler=$(rustc --version)
    linker="rust-lld of that rustc"
elif [ -x /usr/bin/rustc ] && [ -d /usr/lib/rustlib/src/rust/library ] && command -v wasm-ld-22 >/dev/null; then
    # With the library built from source, a panic can be a bare trap, without the code for messages.
    RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 RUSTFLAGS="$remap -C linker=wasm-ld-22 -C linker-flavor=wasm-lld \
        -Zunstable-options -C link-self-contained=no -C panic=immediate-abort -Zlocation-detail=none -Zfmt-debug=none" \
        /usr/bin/cargo build --release --locked --target "$target" -Zbuild-std=core,alloc \
        -Zbuild-std-features=compiler-builtins-mem,optimize_for_size $adapters
    compiler=$(/usr/bin/rustc --version)
    linker=$(wasm-ld-22 --version)
else
    echo "No wasm toolchain found: run \`rustup target add $target\`, or install Debian's packages named in this file." >&2
    exit 2
fi

locked() {
    awk -v name="\"$1\"" '$1 == "name" { found = $3 == name } $1 == "version" && found { gsub("\"", ""); print $3; exit }' Cargo.lock
}
cargo run --quiet --locked -p agent-spaces-wasi-pack -- "$CARGO_TARGET_DIR/$target/release" "$prebuilt" \
    "rustc=$compiler" "linker=$linker" "wit-bindgen=$(locked wit-bindgen)" "wit-component=$(locked wit-component)"
