//! Drops the custom sections: names, producers, the encoded world. Hosts do not read them, and they may
//! tell of the machine that built the module.

use std::convert::Infallible;
use wasm_encoder::reencode::{Error, Reencode, ReencodeComponent};
use wasm_encoder::{Component, Module};
use wasmparser::{CustomSectionReader, Parser};

/// The component without custom sections, its core modules included.
pub(crate) fn strip(wasm: &[u8]) -> Result<Vec<u8>, Error> {
    let mut component = Component::new();
    Strip.parse_component(&mut component, Parser::new(0), wasm)?;
    Ok(component.finish())
}

struct Strip;

impl Reencode for Strip {
    type Error = Infallible;

    fn parse_custom_section(&mut self, _module: &mut Module, _section: CustomSectionReader<'_>) -> Result<(), Error> {
        Ok(())
    }
}

impl ReencodeComponent for Strip {
    fn parse_component_custom_section(
        &mut self,
        _component: &mut Component,
        _section: CustomSectionReader<'_>,
    ) -> Result<(), Error> {
        Ok(())
    }
}
