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

    /// Creates the history of a part of a space. Its calls count against the limits of the whole space too; its cached
    /// answers are its own.
    pub fn within(settings: Settings, whole: &History) -> History {
        History {
            policy: Arc::new(Policy::within(settings, &whole.policy)),
            answers: AnswerCache::default(),
            concurrency: whole.concurrency.clone(),
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

    /// Returns the history of a part of a space; a new one if its policy settings or those of the whole have changed.
    pub fn part_of(&self, whole: (&str, &Settings), part: &str, settings: &Settings) -> History {
        let whole = self.of(whole.0, whole.1);
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match all.get(part) {
            Some((known, history)) if known == settings && history.policy.is_within(&whole.policy) => history.clone(),
            _ => {
                let history = History::within(settings.clone(), &whole);
                all.insert(part.to_owned(), (settings.clone(), history.clone()));
                history
            }
        }
    }

    /// Forgets the history of a part of a space that is not used again. The limits of the whole space keep its calls.
    pub fn forget(&self, part: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(part);
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

    #[test]
    fn a_part_has_its_own_history_within_that_of_the_whole() {
        let (histories, plain) = (Histories::default(), Settings::default());
        let strict = Settings { preset: Some(Preset::Restrictive), ..Settings::default() };
        let part = |whole: &Settings| histories.part_of(("support", whole), "support spc_1", &strict).policy;
        let first = part(&plain);
        assert!(Arc::ptr_eq(&first, &part(&plain)));
        assert!(first.is_within(&histories.of("support", &plain).policy));
        assert!(!Arc::ptr_eq(&first, &part(&strict)), "the settings of the whole changed");
        let again = part(&strict);
        histories.forget("support spc_1");
        assert!(!Arc::ptr_eq(&again, &part(&strict)));
    }
}
