//! What a trap means: a limit that was reached, or a fault of the engine.

use super::outcome::limit_error;
use crate::error_report::RunError;
use crate::limits::{Limit, Limits, Reached};
use wasmtime::Trap;

/// The engine did what it must never do. No script can give this code, and every such run is told to the operator.
pub(crate) const ENGINE_FAULT: &str = "host.engine_fault";

/// Where addresses of a memory end.
const ADDRESSES: u64 = 1 << 32;

/// How far below zero an overflowing stack reaches: no frame is larger than the whole stack, which is 4 MiB and 32 KiB
/// (`guest-js/build.rs`). It lies at the bottom of the memory and grows towards zero, so what is below wraps around to
/// the highest addresses.
const BELOW_ZERO: u64 = (4 << 20) + (64 << 10);

/// Why a run that trapped has no value.
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
        None => RunError::new("host.engine", format!("The sandbox failed: {}", error.root_cause())),
    }
}

fn fault(error: &wasmtime::Error) -> RunError {
    let place = fault_address(error);
    let at = place.map(|address| format!(" at address {address:#x}")).unwrap_or_default();
    let message = format!("The sandbox's engine failed: {}{at}", error.root_cause());
    let is_memory = matches!(error.downcast_ref::<Trap>(), Some(Trap::MemoryOutOfBounds));
    RunError::new(ENGINE_FAULT, message).hint(match place {
        // Copying and filling memory traps without an address. A stack that overflows just there cannot be told from a
        // wild pointer, and what might be one is not passed over in silence.
        None if is_memory => {
            "Look for a recursion that does not end; otherwise it is a fault of the engine: please report it"
        }
        _ => "This is a fault of the engine and not of the script: please report it",
    })
}

/// Whether a memory fault is where a stack that overflows comes to.
fn is_below_stack(error: &wasmtime::Error) -> bool {
    fault_address(error).is_some_and(|address| address >= ADDRESSES - BELOW_ZERO)
}

/// The address of a memory fault, if wasmtime knows it; it says so in words alone.
fn fault_address(error: &wasmtime::Error) -> Option<u64> {
    error.chain().find_map(|cause| {
        let text = cause.to_string();
        let digits = text.strip_prefix("memory fault at wasm address 0x")?.split(' ').next()?;
        u64::from_str_radix(digits, 16).ok()
    })
}

/// Whether the guest passed more than the host takes in one call; wasmtime's error has no public type.
fn is_hostcall_fuel(error: &wasmtime::Error) -> bool {
    error.chain().any(|cause| cause.to_string().contains("too much data"))
}

/// Whether the guest holds more of what waits than it may; likewise.
fn is_handle_limit(error: &wasmtime::Error) -> bool {
    error.chain().any(|cause| cause.to_string().contains("handle limit exceeded"))
}

#[cfg(all(test, feature = "compiler"))]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::engine::EngineConfig;
    use wasmtime::{Engine, Instance, Module, Store};

    /// What is said of a trap of this code, in an engine that is set up as that of runs.
    async fn said_of(body: &str) -> RunError {
        let config = EngineConfig { max_runs: 1, ..EngineConfig::default() };
        let engine = Engine::new(&config.wasmtime()).unwrap();
        let text = format!("(module (memory 16 64) (table 1 funcref) (func $f (export \"f\") {body}))");
        let module = Module::new(&engine, wat::parse_str(text).unwrap()).unwrap();
        let mut store = Store::new(&engine, ());
        store.set_fuel(1_000_000_000).unwrap();
        let instance = Instance::new_async(&mut store, &module, &[]).await.unwrap();
        let function = instance.get_typed_func::<(), ()>(&mut store, "f").unwrap();
        trap_error(&function.call_async(&mut store, ()).await.unwrap_err(), &Limits::default())
    }

    /// A stack that overflows ends just below zero. A pointer that leads anywhere else is no limit of the script.
    #[tokio::test]
    async fn only_an_overflowing_stack_is_limit_stack() {
        for body in [
            "(drop (i32.load (i32.const -16)))",
            "(i32.store (i32.const -1600000) (i32.const 1))",
            // The frame's address wraps around, its members do not.
            "(drop (i32.load offset=4096 (i32.const -16)))",
            "(call $f)",
        ] {
            assert_eq!(said_of(body).await.code, "limit.stack", "{body}");
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
            let error = said_of(body).await;
            assert_eq!((error.code.as_str(), error.exit_status()), (ENGINE_FAULT, 5), "{body}: {error}");
        }
        let at = said_of("(drop (i32.load (i32.const 0x7fffffff)))").await;
        assert!(at.message.ends_with("out of bounds memory access at address 0x7fffffff"), "{at}");
    }

    #[tokio::test]
    async fn an_endless_loop_is_still_fuel() {
        assert_eq!(said_of("(loop (br 0))").await.code, "limit.fuel");
    }
}
