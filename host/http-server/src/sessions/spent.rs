//! Revoked sessions and used links, remembered until they expire.

use std::collections::HashMap;

/// Maximum number of codes of one caller: nobody signs in or out that often.
const MAX_SPENT: usize = 1000;

/// Spent codes of one caller, by MAC, with their expiry.
#[derive(Default)]
pub(super) struct Spent(HashMap<[u8; 32], u64>);

impl Spent {
    pub(super) fn contains(&self, mac: &[u8; 32]) -> bool {
        self.0.contains_key(mac)
    }

    /// Spends a code that may be used once. Returns false if it was spent before, or if there are too many to remember.
    pub(super) fn spend(&mut self, mac: [u8; 32], expiry: u64, now: u64) -> bool {
        self.forget_expired(now);
        if self.contains(&mac) || self.0.len() >= MAX_SPENT {
            return false;
        }
        self.0.insert(mac, expiry);
        true
    }

    /// Ends a code. If there are too many to remember, the one is forgotten that expires first.
    pub(super) fn end(&mut self, mac: [u8; 32], expiry: u64, now: u64) {
        self.forget_expired(now);
        if self.0.len() >= MAX_SPENT {
            let first = self.0.iter().min_by_key(|(_, expiry)| **expiry).map(|(mac, _)| *mac);
            if let Some(first) = first {
                self.0.remove(&first);
            }
        }
        self.0.insert(mac, expiry);
    }

    fn forget_expired(&mut self, now: u64) {
        self.0.retain(|_, expiry| *expiry > now);
    }
}

#[cfg(test)]
mod tests {
    use crate::sessions::spent::*;

    fn mac(number: usize) -> [u8; 32] {
        let mut mac = [0; 32];
        mac[..8].copy_from_slice(&number.to_le_bytes());
        mac
    }

    #[test]
    fn a_code_is_spent_once_until_it_expires_and_none_when_there_are_too_many() {
        let mut spent = Spent::default();
        assert!(spent.spend(mac(0), 100, 1) && !spent.spend(mac(0), 100, 99));
        for number in 1..MAX_SPENT {
            assert!(spent.spend(mac(number), 200, 1));
        }
        assert!(!spent.spend(mac(MAX_SPENT), 200, 99), "full");
        assert!(spent.spend(mac(MAX_SPENT), 200, 100), "the first has expired");
    }

    #[test]
    fn ended_codes_are_bounded_and_the_first_to_expire_goes() {
        let mut spent = Spent::default();
        for number in 0..=MAX_SPENT {
            spent.end(mac(number), 100 + number as u64, 1);
        }
        assert_eq!(spent.0.len(), MAX_SPENT);
        assert!(!spent.contains(&mac(0)) && spent.contains(&mac(1)) && spent.contains(&mac(MAX_SPENT)));
    }
}
