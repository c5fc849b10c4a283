#![no_main]

//! Fuzz target: a run of the hostile guest ends with a report, whatever its instructions are.

use agent_spaces_hostile_guest::HostileGuest;
use std::cell::LazyCell;
use tokio::runtime::{Builder, Runtime};

/// Maximum input length; longer inputs find nothing new.
const MAX_BYTES: usize = 512;

thread_local! {
    static GUEST: LazyCell<(Runtime, HostileGuest)> = LazyCell::new(|| {
        let runtime = Builder::new_current_thread().enable_time().build().expect("a runtime");
        (runtime, HostileGuest::new().expect("the guest is linked"))
    });
}

libfuzzer_sys::fuzz_target!(|instructions: &[u8]| {
    let instructions = &instructions[..instructions.len().min(MAX_BYTES)];
    GUEST.with(|guest| {
        let (runtime, guest) = &**guest;
        let report = runtime.block_on(guest.run(instructions));
        if let Err(error) = report.outcome {
            assert!(!error.message.is_empty() || !error.code.starts_with("host."), "{error:?}");
        }
    });
});
