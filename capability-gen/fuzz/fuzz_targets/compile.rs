#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| capability_gen_fuzz::parse_any(text));
