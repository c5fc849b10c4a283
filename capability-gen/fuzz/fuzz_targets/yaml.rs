#![no_main]

use capability_gen::yaml::{Bounds, find, read};

const BOUNDS: Bounds = Bounds { bytes: 64 * 1024, depth: 100 };

libfuzzer_sys::fuzz_target!(|text: &str| match read(text, BOUNDS) {
    Ok(value) => {
        let json = value.to_string();
        // Writing out escapes can make a value longer than the bound; what fits is read back as the same value.
        let is_within = json.len() <= BOUNDS.bytes;
        let _ = find(text, &mut |path| path.len() == 2);
        assert!(!is_within || read(&json, BOUNDS).is_ok_and(|again| again == value), "{json}");
    }
    Err(error) => {
        assert!(error.position.line >= 1 && error.position.column >= 1);
        assert!(!error.message.is_empty() && !error.fix.is_empty());
    }
});
