//! One core module as a component.

use crate::strip::strip;
use anyhow::{Context, Result};
use wasmparser::Validator;
use wit_component::ComponentEncoder;

/// The module as a component of the world it was built for.
pub(crate) fn encode(module: &[u8]) -> Result<Vec<u8>> {
    let component = ComponentEncoder::default().module(module)?.encode()?;
    let component = strip(&component).context("dropping the custom sections")?;
    Validator::new().validate_all(&component)?;
    Ok(component)
}
