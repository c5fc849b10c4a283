#![no_main]

//! Fuzz target of TypeScript definitions: any text is refused with a place and a fix, or read.

use capability_gen::sources::define_tool::{no_files, parse};

libfuzzer_sys::fuzz_target!(|text: &str| match parse("fuzz.ts", text, &no_files) {
    Ok(tools) => {
        assert!(!tools.is_empty());
        assert!(tools.iter().all(|tool| !tool.definition.functions.is_empty()));
    }
    Err(error) => assert!(!error.place.path.is_empty() && !error.message.is_empty() && !error.fix.is_empty()),
});
