//! Fixed WIT contracts: the engine's world and the types that all capabilities share.

use anyhow::{Context, Result};
use wit_parser::Resolve;

/// WIT files of the fixed contracts.
const CONTRACTS: [(&str, &str); 2] =
    [("host.wit", include_str!("../wit/host.wit")), ("engine.wit", include_str!("../wit/engine.wit"))];

/// Parses the fixed contracts.
pub(crate) fn contracts() -> Result<Resolve> {
    let mut resolve = Resolve::default();
    for (path, text) in CONTRACTS {
        resolve.push_str(path, text).with_context(|| format!("reading {path}"))?;
    }
    Ok(resolve)
}
