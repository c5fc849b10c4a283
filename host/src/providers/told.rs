//! What a provider tells the operator, each thing once.

use crate::pipeline::Operator;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

/// A program may fail in ever new words.
const MAX_TOLD: usize = 100;

/// Tells an operator, where one listens.
pub(crate) struct Told {
    operator: Option<Arc<Operator>>,
    known: Mutex<HashSet<String>>,
}

impl Told {
    pub(crate) fn new(operator: Option<Arc<Operator>>) -> Told {
        Told { operator, known: Mutex::default() }
    }

    /// Tells it, unless it was told before.
    pub(crate) fn tell(&self, text: &str) {
        let Some(operator) = &self.operator else { return };
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new = known.len() < MAX_TOLD && known.insert(text.to_owned());
        drop(known);
        if is_new {
            operator(text);
        }
    }
}
