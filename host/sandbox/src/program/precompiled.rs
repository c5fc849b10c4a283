//! Serialization of programs as native code, for hosts that are built without the compiler.

use super::{Precompiled, Program};
use crate::error::HostError;

impl Program {
    /// Serializes the program as native code, for hosts that are built without the compiler.
    pub fn precompiled(&self) -> Result<Vec<u8>, HostError> {
        let precompiled = Precompiled {
            script: self.script.text.clone(),
            modules: self.modules().flat(),
            description: self.sandbox().description().clone(),
            component: self.sandbox().component().serialize().map_err(HostError::engine)?,
        };
        postcard::to_allocvec(&precompiled).map_err(HostError::engine)
    }
}
