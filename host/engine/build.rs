//! Verifies the engine against its recorded hash, and compiles it to native code.

#[cfg(feature = "precompiled")]
#[path = "src/config.rs"]
#[allow(dead_code, unreachable_pub, reason = "the build needs less of it than the host")]
mod config;
#[cfg(feature = "precompiled")]
#[path = "src/determinism.rs"]
#[allow(unreachable_pub, reason = "public in the library")]
mod determinism;

use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// Relative to this crate's folder.
const MODULE: &str = "prebuilt/engine.wasm";
const HASH: &str = "prebuilt/engine.sha256";

fn main() -> Result<(), Box<dyn Error>> {
    for input in ["build.rs", "src/config.rs", "src/determinism.rs", MODULE, HASH] {
        println!("cargo::rerun-if-changed={input}");
    }
    println!("cargo::rustc-check-cfg=cfg(precompiled_engine)");
    let module = fs::read(MODULE)?;
    let recorded = fs::read_to_string(HASH)?;
    let found = HEXLOWER.encode(&Sha256::digest(&module));
    if found != recorded.trim() {
        return Err(format!(
            "{MODULE} has the SHA-256 {found}, but {HASH} records {}: run `just guest`",
            recorded.trim()
        )
        .into());
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?);
    compile(&module, &out.join("engine.native"))
}

/// Native code fits one kind of processor: a cross build compiles at the first start on the target.
#[cfg(feature = "precompiled")]
fn compile(module: &[u8], to: &Path) -> Result<(), Box<dyn Error>> {
    if env::var_os("TARGET") != env::var_os("HOST") {
        return Ok(());
    }
    let mut config = config::pooled(1, false);
    determinism::enable(&mut config);
    let engine = wasmtime::Engine::new(&config).map_err(|error| format!("{error:#}"))?;
    fs::write(to, engine.precompile_module(module).map_err(|error| format!("{error:#}"))?)?;
    println!("cargo::rustc-cfg=precompiled_engine");
    Ok(())
}

#[cfg(not(feature = "precompiled"))]
fn compile(_: &[u8], _: &Path) -> Result<(), Box<dyn Error>> {
    Ok(())
}
