//! What is made once for each caller.

use super::caller::Client;
use crate::concurrency::ConcurrencyLimiter;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// A text for each caller. There are as many as the operator has callers.
#[derive(Default)]
pub(super) struct PerCaller(Mutex<HashMap<Arc<str>, Arc<str>>>);

impl PerCaller {
    /// The text of a caller, which is made the first time.
    pub(super) fn get(&self, client: &Client, make: impl FnOnce() -> String) -> Arc<str> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.entry(client.identity().clone()).or_insert_with(|| make().into()).clone()
    }
}

/// Places of each caller, which no other can take. There are as many callers as the operator has.
pub(super) struct OwnPlaces {
    most: usize,
    known: Mutex<HashMap<Arc<str>, ConcurrencyLimiter>>,
}

impl OwnPlaces {
    /// So many for each.
    pub(super) fn new(most: usize) -> OwnPlaces {
        OwnPlaces { most, known: Mutex::default() }
    }

    /// Those of a caller.
    pub(super) fn of(&self, client: &Client) -> ConcurrencyLimiter {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.entry(client.identity().clone()).or_insert_with(|| ConcurrencyLimiter::new(self.most)).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::{OwnPlaces, PerCaller};
    use crate::run::Caller;
    use crate::serve::caller::Client;

    #[test]
    fn it_is_made_once_for_each_caller_and_is_not_another_ones() {
        let clients = ["a", "b", "a", "b"].map(|name| Client::named(name, Caller::default()));
        let (texts, mut made) = (PerCaller::default(), 0);
        let mut get = |client: &Client| {
            texts.get(client, || {
                made += 1;
                client.identity().to_string()
            })
        };
        let got = clients.each_ref().map(&mut get);
        assert_eq!(got.each_ref().map(|text| &**text), clients.each_ref().map(|client| &**client.identity()));
        assert_eq!(made, 2);
    }

    #[test]
    fn a_caller_who_has_all_of_their_places_has_none_of_anothers() {
        let [ann, bob] = ["a", "b"].map(|name| Client::named(name, Caller::default()));
        let places = OwnPlaces::new(2);
        let _anns: Vec<_> = (0..2).map(|_| places.of(&ann).try_enter().unwrap()).collect();
        assert!(places.of(&ann).try_enter().is_none());
        assert!(places.of(&bob).try_enter().is_some());
    }
}
