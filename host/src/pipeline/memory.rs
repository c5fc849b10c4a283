//! What a space remembers of its calls, for spaces that are made anew while they are in use: otherwise whoever makes that
//! happen would be counted from nothing again.

use super::cache::Answers;
use super::provide::Lines;
use agent_spaces_policy::{Policy, Settings};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// How often functions were called, what they answered, and who waits for them; clones are one.
#[derive(Clone)]
pub(crate) struct Memory {
    pub(crate) policy: Arc<Policy>,
    pub(super) answers: Answers,
    pub(super) lines: Lines,
}

impl Memory {
    /// That of a space that nobody has used yet.
    pub(crate) fn new(settings: Settings) -> Memory {
        Memory { policy: Arc::new(Policy::new(settings)), answers: Answers::default(), lines: Lines::default() }
    }
}

/// The memories of all spaces of a project; clones are one.
#[derive(Clone, Default)]
pub struct Memories(Arc<Mutex<HashMap<String, (Settings, Memory)>>>);

impl Memories {
    /// That of a space. Where its settings have changed it begins anew: what was counted was counted by other rules.
    pub(crate) fn of(&self, space: &str, settings: &Settings) -> Memory {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match all.get(space) {
            Some((known, memory)) if known == settings => memory.clone(),
            _ => {
                let memory = Memory::new(settings.clone());
                all.insert(space.to_owned(), (settings.clone(), memory.clone()));
                memory
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Memories;
    use agent_spaces_policy::{Preset, Settings};
    use std::sync::Arc;

    #[test]
    fn a_space_is_remembered_until_its_settings_change() {
        let (memories, plain) = (Memories::default(), Settings::default());
        let strict = Settings { preset: Some(Preset::Restrictive), ..Settings::default() };
        let first = memories.of("support", &plain).policy;
        assert!(Arc::ptr_eq(&first, &memories.of("support", &plain).policy));
        assert!(!Arc::ptr_eq(&first, &memories.of("sales", &plain).policy));
        let second = memories.of("support", &strict).policy;
        assert!(!Arc::ptr_eq(&first, &second));
        assert!(!Arc::ptr_eq(&first, &memories.of("support", &plain).policy));
    }
}
