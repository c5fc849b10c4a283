#![no_main]

//! A guest that lies at every import: whatever its instructions are, its run ends with a report.

use agent_spaces::HostileGuest;
use std::cell::LazyCell;
use tokio::runtime::{Builder, Runtime};

/// Longer inputs find nothing that shorter ones do not.
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
