//! Names of runs.

use std::cell::RefCell;
use std::sync::Arc;

/// 96 random bits.
const NAME_BYTES: usize = 12;

/// How many names one call of the system is for: with a call for each it would be a hundredth of a short run.
const NAMES: usize = 64;

struct Supply {
    bytes: [[u8; NAME_BYTES]; NAMES],
    left: usize,
}

thread_local! {
    static SUPPLY: RefCell<Supply> = const { RefCell::new(Supply { bytes: [[0; NAME_BYTES]; NAMES], left: 0 }) };
}

impl Supply {
    fn next(&mut self) -> [u8; NAME_BYTES] {
        if self.left == 0 {
            // Without randomness names repeat, and nothing else depends on them.
            let _ = getrandom::fill(self.bytes.as_flattened_mut());
            self.left = NAMES;
        }
        self.left -= 1;
        self.bytes[self.left]
    }
}

/// `run_` and 96 random bits: unique, and not to be guessed.
pub(crate) fn new() -> Arc<str> {
    let bytes = SUPPLY.with_borrow_mut(Supply::next);
    let mut text = String::with_capacity(28);
    text.push_str("run_");
    for byte in bytes {
        text.push(char::from_digit(u32::from(byte >> 4), 16).unwrap_or('0'));
        text.push(char::from_digit(u32::from(byte & 15), 16).unwrap_or('0'));
    }
    text.into()
}

#[cfg(test)]
mod tests {
    use super::{NAMES, new};
    use std::collections::HashSet;

    #[test]
    fn no_two_names_are_the_same() {
        let named = || (0..5 * NAMES).map(|_| new()).collect::<Vec<_>>();
        let other = std::thread::spawn(named).join().unwrap();
        let all: HashSet<_> = named().into_iter().chain(other).collect();
        assert_eq!(all.len(), 10 * NAMES);
        assert!(all.iter().all(|name| name.len() == 28 && name.starts_with("run_")), "{all:?}");
    }
}
