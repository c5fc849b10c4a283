//! Prebuilt JavaScript engine: QuickJS as one core module, checked in under `guest-js/prebuilt/`.
//!
//! - [`ENGINE_WASM`], [`ENGINE_SHA256`], [`ENGINE_VERSION`]: the module and its metadata; the build verifies the hash.
//! - [`precompiled`]: its native code, compiled at build time (feature `precompiled`).
//! - [`config`]: the wasmtime configuration of both the build and the host. Native code runs only under the
//!   configuration that it was compiled for. [`determinism`]: settings of the compiler.
//!
//! The host's use of the engine is in `host/sandbox/src/engine/`.

pub mod config;
#[cfg(feature = "precompiled")]
pub mod determinism;

/// The core module, linked, closed and snapshotted.
pub const ENGINE_WASM: &[u8] = include_bytes!("../prebuilt/engine.wasm");

/// Its SHA-256, as recorded beside it.
pub const ENGINE_SHA256: &str = include_str!("../prebuilt/engine.sha256").trim_ascii();

/// Version of its QuickJS-ng, as in `engine.json` and the SBOM.
pub const ENGINE_VERSION: &str = include_str!("../prebuilt/engine.version").trim_ascii();

/// Native code for the processor and the wasmtime of this build. wasmtime refuses to load it for any other.
#[cfg(precompiled_engine)]
pub fn precompiled() -> Option<&'static [u8]> {
    Some(include_bytes!(concat!(env!("OUT_DIR"), "/engine.native")))
}

/// Always `None`: built for another machine, or without the feature `precompiled`.
#[cfg(not(precompiled_engine))]
pub fn precompiled() -> Option<&'static [u8]> {
    None
}
