//! The JavaScript engine: QuickJS as one core module, as it is checked in under `guest-js/prebuilt/`.
//!
//! - [`ENGINE_WASM`], [`ENGINE_SHA256`], [`ENGINE_VERSION`]: the module and its records; the build checks the hash.
//! - [`precompiled`]: its native code, made by the build (feature `precompiled`).
//! - [`config`]: the wasmtime configuration that both the build and the host compile with. Native code runs only under
//!   the configuration that it was compiled for, so there is one place for it.
//!
//! How runs use the engine is the host's: `host/src/engine/`.

pub mod config;

/// The core module, linked, closed and snapshotted.
pub const ENGINE_WASM: &[u8] = include_bytes!("../../guest-js/prebuilt/engine.wasm");

/// Its SHA-256, as recorded beside it.
pub const ENGINE_SHA256: &str = include_str!("../../guest-js/prebuilt/engine.sha256").trim_ascii();

/// The QuickJS-ng in it, as `engine.json` and the SBOM name it.
pub const ENGINE_VERSION: &str = include_str!("../../guest-js/prebuilt/engine.version").trim_ascii();

/// The engine's native code, for the processor and the wasmtime that this crate was built with. wasmtime refuses to load
/// it where either is another.
#[cfg(precompiled_engine)]
pub fn precompiled() -> Option<&'static [u8]> {
    Some(include_bytes!(concat!(env!("OUT_DIR"), "/engine.native")))
}

/// There is none: the crate was built for another machine, or without the feature `precompiled`.
#[cfg(not(precompiled_engine))]
pub fn precompiled() -> Option<&'static [u8]> {
    None
}
