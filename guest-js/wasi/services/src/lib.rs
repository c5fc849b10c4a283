//! What a compiled script imports, over WASI: clock, randomness, console and timers.
#![no_std]

extern crate alloc;

use alloc::string::String;

mod bindings {
    #![allow(missing_docs, reason = "generated")]
    wit_bindgen::generate!({
        path: ["../../../wit/engine.wit", "../wit"],
        world: "agent-spaces:wasi/services",
        generate_all,
    });
    export!(Services with_types_in self);
    use super::Services;
}
use bindings::exports::agent_spaces::engine::{clock, console, random, timers};
use bindings::wasi::{
    clocks::{monotonic_clock, system_clock},
    random::random::get_random_u64,
};

struct Services;

impl clock::Guest for Services {
    fn now() -> u64 {
        let instant = system_clock::now();
        // A clock before 1970 is a clock that was never set.
        let seconds = u64::try_from(instant.seconds).unwrap_or(0);
        seconds.saturating_mul(1_000_000_000).saturating_add(instant.nanoseconds.into())
    }

    fn monotonic() -> u64 {
        monotonic_clock::now()
    }
}

impl random::Guest for Services {
    fn get_u64() -> u64 {
        get_random_u64()
    }
}

impl console::Guest for Services {
    /// All levels are talk: stdout carries only the script's value.
    fn write(_level: console::Level, mut text: String) {
        text.push('\n');
        rt::say(&text);
    }
}

impl timers::Guest for Services {
    async fn sleep(nanoseconds: u64) {
        monotonic_clock::wait_for(nanoseconds).await;
    }
}
