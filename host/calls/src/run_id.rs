//! Run ids: `run_` and 96 random bits.

use data_encoding::HEXLOWER;
use std::cell::RefCell;
use std::sync::Arc;

/// 96 random bits.
const NAME_BYTES: usize = 12;

/// Ids per system call for randomness: one call for each would take a hundredth of a short run.
const NAMES: usize = 64;

/// Random bytes for the next ids.
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
            // Without randomness ids repeat; nothing else depends on them.
            let _ = getrandom::fill(self.bytes.as_flattened_mut());
            self.left = NAMES;
        }
        self.left -= 1;
        self.bytes[self.left]
    }
}

/// Generates a unique id that cannot be guessed.
pub fn new() -> Arc<str> {
    let bytes = SUPPLY.with_borrow_mut(Supply::next);
    let mut text = String::with_capacity(28);
    text.push_str("run_");
    HEXLOWER.encode_append(&bytes, &mut text);
    text.into()
}

#[cfg(test)]
mod tests {
    use crate::run_id::{NAMES, new};
    use std::collections::HashSet;

    #[test]
    fn ids_are_unique() {
        let named = || (0..5 * NAMES).map(|_| new()).collect::<Vec<_>>();
        let other = std::thread::spawn(named).join().unwrap();
        let all: HashSet<_> = named().into_iter().chain(other).collect();
        assert_eq!(all.len(), 10 * NAMES);
        assert!(all.iter().all(|name| name.len() == 28 && name.starts_with("run_")), "{all:?}");
    }
}
