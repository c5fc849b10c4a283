//! The space that scripts answer in.

use crate::modules::ModuleSource;
use crate::providers::CALL;
use crate::space::Space;
use std::sync::{Arc, OnceLock, Weak};

/// The space that scripts of one folder run in. It is filled after it is handed out, since a space may have scripts that
/// lead back to itself.
pub(crate) enum ScriptSpace {
    Own(Arc<OnceLock<Arc<Space>>>),
    /// It is being made around who asks, and so outlives them: holding it would be a circle that is never freed.
    Above(Weak<OnceLock<Arc<Space>>>),
}

impl Default for ScriptSpace {
    fn default() -> ScriptSpace {
        ScriptSpace::Own(Arc::default())
    }
}

impl ScriptSpace {
    /// The same space, for one more script.
    pub(crate) fn again(&self) -> ScriptSpace {
        match self {
            ScriptSpace::Own(space) => ScriptSpace::Own(space.clone()),
            ScriptSpace::Above(space) => ScriptSpace::Above(space.clone()),
        }
    }

    /// The same space, for what is made inside it.
    pub(crate) fn above(&self) -> ScriptSpace {
        match self {
            ScriptSpace::Own(space) => ScriptSpace::Above(Arc::downgrade(space)),
            ScriptSpace::Above(space) => ScriptSpace::Above(space.clone()),
        }
    }

    /// Gives it what it is.
    pub(crate) fn fill(&self, mut space: Space) {
        space.add_module(CALL, ModuleSource::Json("null".into()));
        if let ScriptSpace::Own(place) = self {
            let _is_first = place.set(Arc::new(space));
        }
    }

    pub(super) fn get(&self) -> Option<Arc<Space>> {
        match self {
            ScriptSpace::Own(space) => space.get().cloned(),
            ScriptSpace::Above(space) => space.upgrade()?.get().cloned(),
        }
    }
}
