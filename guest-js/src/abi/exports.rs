//! What a binding calls when it is instantiated and when the host calls an exported function.

use super::context::Context;
use super::memory::Block;
use super::metadata::Metadata;
use crate::engine::{binding, engine};
use crate::task::{self, Code, Event};

#[unsafe(no_mangle)]
unsafe extern "C" fn wit_dylib_initialize(metadata: *const Metadata) {
    // SAFETY: the binding's data lives as long as the instance and is never written.
    let metadata = unsafe { &*metadata };
    if !metadata.is_supported() {
        core::arch::wasm32::unreachable();
    }
    engine().bind(metadata);
}

#[unsafe(no_mangle)]
extern "C" fn wit_dylib_export_start(which: usize) -> *mut Context {
    Box::into_raw(Box::new(Context::new(binding().export(which).result)))
}

/// The function of `agent-spaces:engine/handler`.
const HANDLE: &str = "handle";

#[unsafe(no_mangle)]
unsafe extern "C" fn wit_dylib_export_async_call(context: *mut Context, which: usize) -> u32 {
    // SAFETY: the context came from `wit_dylib_export_start` and is used no more.
    let mut context = unsafe { Box::from_raw(context) };
    let export = binding().export(which);
    match (export.is_engines(), export.name()) {
        (true, HANDLE) => task::start_handler(which, context.pop_value()),
        (true, _) => task::start_program(which),
        (false, _) => task::start_function(which, context.pop_values(export.parameter_count()).collect()),
    }
}

/// The first case of the variant `code` of the WIT; there is one other.
const SOURCE: u32 = 0;

/// `run` of `agent-spaces:engine/runner` as the canonical ABI has it. It is the same in every sandbox, so that the host
/// calls it without a binding between: one case of `code`, its members, and the purpose.
#[unsafe(no_mangle)]
unsafe extern "C" fn agent_spaces_run(
    case: u32,
    first: *mut u8,
    first_length: usize,
    third: usize,
    fourth: usize,
    fifth: u32,
    sixth: u32,
    purpose: u32,
) -> u32 {
    let code = match case {
        SOURCE => Code::Source {
            name: Block::adopt(first, first_length, 1),
            source: Block::adopt(std::ptr::with_exposed_provenance_mut(third), fourth, 1),
            call_default: fifth != 0,
            max_result_bytes: sixth as usize,
        },
        _ => Code::Compiled {
            // SAFETY: the words lie in the room that was given for them.
            memory: unsafe { std::slice::from_raw_parts(first.cast(), first_length) },
            max_result_bytes: third,
        },
    };
    task::start(code, purpose)
}

#[unsafe(no_mangle)]
extern "C" fn agent_spaces_run_callback(event: u32, first: u32, second: u32) -> u32 {
    task::resume(Event::new(event, first, second))
}

#[unsafe(no_mangle)]
extern "C" fn wit_dylib_export_async_callback(event: u32, first: u32, second: u32, _which: usize) -> u32 {
    task::resume(Event::new(event, first, second))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn wit_dylib_export_finish(context: *mut Context, _which: usize) {
    // SAFETY: the context came from `wit_dylib_export_start` and is used no more.
    drop(unsafe { Box::from_raw(context) });
}

/// Every export of the engine's worlds is an `async func`, and so is every function of a capability.
#[unsafe(no_mangle)]
extern "C" fn wit_dylib_export_call(_context: *mut Context, _which: usize) {
    core::arch::wasm32::unreachable()
}

#[unsafe(no_mangle)]
extern "C" fn wit_dylib_resource_dtor(_ty: usize, _handle: usize) {
    core::arch::wasm32::unreachable()
}
