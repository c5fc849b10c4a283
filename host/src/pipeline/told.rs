//! What an operator was told, so that each thing is told once.

use super::Operator;
use agent_spaces_mcp::secrets::Redactor;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

/// Scripts, programs and servers fail in ever new words.
const MAX_TOLD: usize = 100;

/// What an operator was told; clones are one.
#[derive(Clone, Default)]
pub(crate) struct Told(Arc<Mutex<HashSet<String>>>);

impl Told {
    /// Tells an operator, where one listens, unless that was told before. Secrets are taken out.
    pub(crate) fn tell(&self, operator: Option<&Operator>, redactor: &Redactor, text: &str) {
        let Some(operator) = operator else { return };
        let text = redactor.text(text);
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new = told.len() < MAX_TOLD && told.insert(text.clone().into_owned());
        drop(told);
        if is_new {
            operator(&text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_spaces_mcp::secrets::Secret;

    #[test]
    fn each_thing_is_told_once_without_secrets_and_not_without_end() {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let (told, redactor) = (Told::default(), Redactor::default());
        redactor.add(&Secret::new("hunter2hunter2"));
        let ear = heard.clone();
        let operator = move |text: &str| ear.lock().unwrap().push(text.to_owned());
        for text in ["a hunter2hunter2", "b", "a hunter2hunter2"] {
            told.clone().tell(Some(&operator), &redactor, text);
        }
        assert_eq!(*heard.lock().unwrap(), ["a [redacted]", "b"]);
        (0..1000).for_each(|number| told.tell(Some(&operator), &redactor, &number.to_string()));
        assert_eq!(heard.lock().unwrap().len(), MAX_TOLD);
    }
}
