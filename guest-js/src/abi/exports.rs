//! What a binding calls when it is instantiated and when the host calls an exported function.

use super::context::{Context, Incoming};
use super::metadata::Metadata;
use crate::engine::{binding, engine};
use crate::task::{self, Event};

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
    let export = binding().export(which);
    let mut context = Context::new(export.result);
    // A script is the engine's to read; what others are called with is the script's.
    if export.is_engines() && export.name() != HANDLE {
        context.incoming = Some(Incoming::default());
    }
    Box::into_raw(Box::new(context))
}

/// The function of `agent-spaces:engine/handler`.
const HANDLE: &str = "handle";

#[unsafe(no_mangle)]
unsafe extern "C" fn wit_dylib_export_async_call(context: *mut Context, which: usize) -> u32 {
    // SAFETY: the context came from `wit_dylib_export_start` and is used no more.
    let mut context = unsafe { Box::from_raw(context) };
    let export = binding().export(which);
    match context.incoming.take() {
        Some(incoming) => task::start(which, incoming),
        None if export.is_engines() => task::start_handler(which, context.pop_value()),
        None => task::start_function(which, context.pop_values(export.parameter_count()).collect()),
    }
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
