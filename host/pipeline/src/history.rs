//! State of a space that survives a reload: rate limits, counts, cached answers. Without it, a caller who can cause a
//! reload could reset the limits.

use super::cache::AnswerCache;
use super::provide::ConcurrencyLimits;
use agent_spaces_policy::{Policy, Settings};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Policy with its counters, answer cache and concurrency limits of one space. Clones share them.
#[derive(Clone)]
pub struct History {
    /// Policy of the space, with its rate limits and counts.
    pub policy: Arc<Policy>,
    pub(super) answers: AnswerCache,
    pub(super) concurrency: ConcurrencyLimits,
}

impl History {
    /// Creates the history of an unused space.
    pub fn new(settings: Settings) -> History {
        History {
            policy: Arc::new(Policy::new(settings)),
            answers: AnswerCache::default(),
            concurrency: ConcurrencyLimits::default(),
        }
    }
}

/// Histories of all spaces of a project. Clones share them.
#[derive(Clone, Default)]
pub struct Histories(Arc<Mutex<HashMap<String, (Settings, History)>>>);

impl Histories {
    /// Returns the history of a space; a new one if its policy settings have changed.
    pub fn of(&self, space: &str, settings: &Settings) -> History {
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
    use crate::history::Histories;
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
