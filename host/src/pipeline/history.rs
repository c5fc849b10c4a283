//! The calls that a space had before, for spaces that are made anew while they are in use: otherwise whoever makes that
//! happen would be counted from nothing again.

use super::cache::Answers;
use super::provide::Lines;
use agent_spaces_policy::{Policy, Settings};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// How often functions were called, what they answered, and who waits for them; clones are one.
#[derive(Clone)]
pub(crate) struct History {
    pub(crate) policy: Arc<Policy>,
    pub(super) answers: Answers,
    pub(super) lines: Lines,
}

impl History {
    /// That of a space that nobody has used yet.
    pub(crate) fn new(settings: Settings) -> History {
        History { policy: Arc::new(Policy::new(settings)), answers: Answers::default(), lines: Lines::default() }
    }
}

/// The histories of all spaces of a project; clones are one.
#[derive(Clone, Default)]
pub struct Histories(Arc<Mutex<HashMap<String, (Settings, History)>>>);

impl Histories {
    /// That of a space. Where its settings have changed it begins anew: what was counted was counted by other rules.
    pub(crate) fn of(&self, space: &str, settings: &Settings) -> History {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match all.get(space) {
            Some((known, history)) if known == settings => history.clone(),
            _ => {
                let history = History::new(settings.clone());
                all.insert(space.to_owned(), (settings.clone(), history.clone()));
                history
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Histories;
    use agent_spaces_policy::{Preset, Settings};
    use std::sync::Arc;

    #[test]
    fn a_space_has_one_history_until_its_settings_change() {
        let (histories, plain) = (Histories::default(), Settings::default());
        let strict = Settings { preset: Some(Preset::Restrictive), ..Settings::default() };
        let first = histories.of("support", &plain).policy;
        assert!(Arc::ptr_eq(&first, &histories.of("support", &plain).policy));
        assert!(!Arc::ptr_eq(&first, &histories.of("sales", &plain).policy));
        let second = histories.of("support", &strict).policy;
        assert!(!Arc::ptr_eq(&first, &second));
        assert!(!Arc::ptr_eq(&first, &histories.of("support", &plain).policy));
    }
}
