#![no_main]

use capability_gen::sources::Format;

libfuzzer_sys::fuzz_target!(|text: &str| capability_gen_fuzz::parse_as(text, Format::Tool));
