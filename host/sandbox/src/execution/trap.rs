//! Traps: a limit that was reached, or a fault of the engine.

use super::ending::limit_error;
use agent_spaces_types::code::Code;
use agent_spaces_types::limits::{Limit, Limits, Reached};
use agent_spaces_types::run_error::RunError;
use wasmtime::Trap;

/// Code of an engine fault. No script can produce it, and the operator is notified of every such run.
pub(crate) const ENGINE_FAULT: Code = Code::HostEngineFault;

/// End of the 32-bit address space.
const ADDRESSES: u64 = 1 << 32;

/// Maximum distance below address zero of a stack overflow: no frame is larger than the whole stack, which is 4 MiB and
/// 32 KiB (`guest-js/build.rs`). The stack is at the bottom of the memory and grows towards zero, so an overflow wraps
/// around to the highest addresses.
const BELOW_ZERO: u64 = (4 << 20) + (64 << 10);

/// Converts a trap to the error of the run.
pub(super) fn trap_error(error: &wasmtime::Error, limits: &Limits) -> RunError {
    if let Some(Reached(limit)) = error.downcast_ref::<Reached>() {
        return limit_error(*limit, limits);
    }
    match error.downcast_ref::<Trap>() {
        Some(Trap::OutOfFuel) => limit_error(Limit::Fuel, limits),
        Some(Trap::StackOverflow) => limit_error(Limit::Stack, limits),
        Some(Trap::MemoryOutOfBounds) if is_below_stack(error) => limit_error(Limit::Stack, limits),
        _ if is_hostcall_fuel(error) => limit_error(Limit::Bytes, limits),
        _ if is_handle_limit(error) => limit_error(Limit::InFlight, limits),
        Some(_) => fault(error),
        None => RunError::new(Code::HostEngine, format!("The sandbox failed: {}", error.root_cause())),
    }
}

fn fault(error: &wasmtime::Error) -> RunError {
    let place = fault_address(error);
    let at = place.map(|address| format!(" at address {address:#x}")).unwrap_or_default();
    let message = format!("The sandbox's engine failed: {}{at}", error.root_cause());
    let is_memory = matches!(error.downcast_ref::<Trap>(), Some(Trap::MemoryOutOfBounds));
    RunError::new(ENGINE_FAULT, message).hint(match place {
        // `memory.copy` and `memory.fill` trap without an address. A stack overflow there cannot be distinguished from
        // a wild pointer, which must be reported.
        None if is_memory => "Look for infinite recursion; otherwise it is a bug in the engine: please report it",
        _ => "This is a bug in the engine, not in the script: please report it",
    })
}

/// Returns true if the address of a memory fault is that of a stack overflow.
fn is_below_stack(error: &wasmtime::Error) -> bool {
    fault_address(error).is_some_and(|address| address >= ADDRESSES - BELOW_ZERO)
}

/// Parses the address of a memory fault from wasmtime's message; no API returns it.
fn fault_address(error: &wasmtime::Error) -> Option<u64> {
    error.chain().find_map(|cause| {
        let text = cause.to_string();
        let digits = text.strip_prefix("memory fault at wasm address 0x")?.split(' ').next()?;
        u64::from_str_radix(digits, 16).ok()
    })
}

/// Returns true if the arguments of a call exceed the hostcall fuel; wasmtime's error has no public type.
fn is_hostcall_fuel(error: &wasmtime::Error) -> bool {
    error.chain().any(|cause| cause.to_string().contains("too much data"))
}

/// Returns true if the guest has too many component handles; wasmtime's error has no public type.
fn is_handle_limit(error: &wasmtime::Error) -> bool {
    error.chain().any(|cause| cause.to_string().contains("handle limit exceeded"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use crate::engine::EngineConfig;
    use crate::execution::trap::*;
    use wasmtime::{Engine, Instance, Module, Store};

    /// Returns the error of this code's trap, in an engine with the configuration of runs.
    async fn error_of(body: &str) -> RunError {
        let config = EngineConfig { max_runs: 1, wasmtime_fuel: true, ..EngineConfig::default() };
        let engine = Engine::new(&config.wasmtime()).unwrap();
        let text = format!("(module (memory 16 64) (table 1 funcref) (func $f (export \"f\") {body}))");
        let module = Module::new(&engine, wat::parse_str(text).unwrap()).unwrap();
        let mut store = Store::new(&engine, ());
        store.set_fuel(1_000_000_000).unwrap();
        let instance = Instance::new_async(&mut store, &module, &[]).await.unwrap();
        let function = instance.get_typed_func::<(), ()>(&mut store, "f").unwrap();
        trap_error(&function.call_async(&mut store, ()).await.unwrap_err(), &Limits::default())
    }

    /// A stack overflow ends just below zero. A wild pointer elsewhere is not a limit of the script.
    #[tokio::test]
    async fn only_an_overflowing_stack_is_limit_stack() {
        for body in [
            "(drop (i32.load (i32.const -16)))",
            "(i32.store (i32.const -1600000) (i32.const 1))",
            // The frame's address wraps around, its members do not.
            "(drop (i32.load offset=4096 (i32.const -16)))",
            "(call $f)",
        ] {
            assert_eq!(error_of(body).await.code, "limit.stack", "{body}");
        }
        for body in [
            // Past the end of the memory, as a wild pointer leads.
            "(drop (i32.load (i32.const 0x100000)))",
            "(drop (i32.load (i32.const 0x7fffffff)))",
            "(i32.store (i32.const 0xdeadbeef) (i32.const 1))",
            "(memory.fill (i32.const 0xff000) (i32.const 0) (i32.const 0x2000))",
            "unreachable",
            "(call_indirect (i32.const 0))",
            "(call_indirect (i32.const 9))",
            "(drop (i32.div_u (i32.const 1) (i32.const 0)))",
        ] {
            let error = error_of(body).await;
            assert_eq!((error.code.as_str(), error.exit_status()), (ENGINE_FAULT.as_str(), 5), "{body}: {error}");
        }
        let at = error_of("(drop (i32.load (i32.const 0x7fffffff)))").await;
        assert!(at.message.ends_with("out of bounds memory access at address 0x7fffffff"), "{at}");
    }

    #[tokio::test]
    async fn an_endless_loop_is_still_fuel() {
        assert_eq!(error_of("(loop (br 0))").await.code, "limit.fuel");
    }
}
