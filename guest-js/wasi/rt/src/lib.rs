//! What every adapter is linked with, so that it needs no `std`: an allocator, a panic handler, and the
//! words it has for people. What only one adapter does belongs in that adapter.
//!
//! # Layout
//! - [`print`] and [`say`]: stdout is data, stderr is talk.
//! - [`describe`]: why a run has no value.
#![no_std]

extern crate alloc;

mod describe;
mod output;

pub use agent_spaces::engine::types;
pub use describe::describe;
pub use output::{print, say};

mod bindings {
    #![allow(missing_docs, reason = "generated")]
    wit_bindgen::generate!({
        path: ["../../../wit/engine.wit", "../wit"],
        world: "agent-spaces:wasi/standard-streams",
        generate_all,
    });
}
use bindings::{agent_spaces, wasi};

#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

#[cfg(target_family = "wasm")]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    core::arch::wasm32::unreachable()
}
