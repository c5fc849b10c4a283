//! Late-bound space of script providers.

use crate::CALL;
use agent_spaces_sandbox::error::HostError;
use agent_spaces_sandbox::modules::ModuleSource;
use agent_spaces_space::builder::SpaceBuilder;
use agent_spaces_space::space::Space;
use std::sync::{Arc, OnceLock, Weak};

/// Space in which the scripts of one folder run. It is filled after it is handed out, since the scripts of a space may
/// lead back to that space.
pub enum ScriptSpace {
    /// Strong reference.
    Own(Arc<OnceLock<Arc<Space>>>),
    /// Weak reference for providers inside the space, which it outlives: a strong one would be a reference cycle.
    Above(Weak<OnceLock<Arc<Space>>>),
}

impl Default for ScriptSpace {
    fn default() -> ScriptSpace {
        ScriptSpace::Own(Arc::default())
    }
}

impl ScriptSpace {
    /// Returns another reference of the same strength, for one more script.
    pub fn again(&self) -> ScriptSpace {
        match self {
            ScriptSpace::Own(space) => ScriptSpace::Own(space.clone()),
            ScriptSpace::Above(space) => ScriptSpace::Above(space.clone()),
        }
    }

    /// Returns a weak reference, for providers inside the space.
    pub fn above(&self) -> ScriptSpace {
        match self {
            ScriptSpace::Own(space) => ScriptSpace::Above(Arc::downgrade(space)),
            ScriptSpace::Above(space) => ScriptSpace::Above(space.clone()),
        }
    }

    /// Builds and sets the space.
    pub fn fill(&self, space: SpaceBuilder) -> Result<(), HostError> {
        let space = space.module(CALL, ModuleSource::Json("null".into())).build()?;
        if let ScriptSpace::Own(cell) = self {
            let _is_first = cell.set(Arc::new(space));
        }
        Ok(())
    }

    pub(super) fn get(&self) -> Option<Arc<Space>> {
        match self {
            ScriptSpace::Own(space) => space.get().cloned(),
            ScriptSpace::Above(space) => space.upgrade()?.get().cloned(),
        }
    }
}
