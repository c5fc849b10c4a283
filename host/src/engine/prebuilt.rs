//! The engine that is checked in. `just guest` rebuilds it.

/// The core module, linked, closed and snapshotted.
pub const ENGINE_WASM: &[u8] = include_bytes!("../../../guest-js/prebuilt/engine.wasm");

/// Its SHA-256, as recorded beside it.
pub const ENGINE_SHA256: &str = include_str!("../../../guest-js/prebuilt/engine.sha256").trim_ascii();

/// The QuickJS-ng in it, as `engine.json` and the SBOM name it.
pub const ENGINE_VERSION: &str = include_str!("../../../guest-js/prebuilt/engine.version").trim_ascii();
