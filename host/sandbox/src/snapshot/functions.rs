//! Functions of hot scripts as native code.
//!
//! The functions of a compiled script lie at the same addresses in every run. The linker makes a binding that has some of them as
//! WebAssembly; here it is compiled and linked, and the memory that later runs start from gets their indices in the engine's
//! table. Results, errors and fuel are the same.

use super::capture::Capture;
use super::{base, precompile, words};
use crate::engine::EngineLayout;
use crate::program::{CompiledMemory, HotFunctions, Program};
use crate::sandbox::{BindFunctions, Sandbox};
use crate::state::{DirtyPages, EngineState};
use agent_spaces_types::limits::Limits;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

/// Programs whose functions are compiled at a time, so that runs have the other cores.
static COMPILING: Semaphore = Semaphore::const_new(1);

/// Programs that wait for that: each keeps the memory of an engine. The functions of others stay interpreted.
static WAITING: Semaphore = Semaphore::const_new(16);

/// Bytes of the engine's `js_compiled_layout`.
const LAYOUT_BYTES: usize = 256;

/// Bytes of a function in memory that tell whether it is the program's: what the engine's own have there stays the same.
const FUNCTION_BYTES: usize = 64;

/// Native code of a function takes about so many times the bytes of its WebAssembly, and a component so much besides.
const NATIVE_BYTES_PER_BYTE: usize = 4;
const COMPONENT_BYTES: usize = 128 << 10;

/// Compiles hot functions of an engine that has compiled a program's script. Returns `None` where that gains nothing.
pub(super) async fn compile(program: &Program, engine: EngineState, limits: Limits) -> Option<CompiledMemory> {
    let sandbox = program.sandbox();
    if !sandbox.engine().config().compile_hot_functions {
        return None;
    }
    let (bind, sandbox) = (sandbox.bind_functions()?.clone(), sandbox.clone());
    let start = program.start_snapshot().cloned();
    let _waiting = WAITING.try_acquire().ok()?;
    let permit = COMPILING.acquire().await.ok()?;
    let fuel = engine.fuel;
    let compiling = spawn_blocking(move || {
        // Held until the end, also if nobody waits for it any more.
        let _permit = permit;
        let (functions, memory) = link(&sandbox, &*bind, engine.memory)?;
        Some((functions, words(&memory, start.as_deref())?))
    });
    let (functions, memory) = compiling.await.ok()??;
    let compiled = CompiledMemory { memory, fuel: 0, functions: Some(functions) };
    match precompile::verify(program, compiled, fuel, limits).await {
        Capture::Taken(compiled) => Some(compiled),
        Capture::Nondeterministic | Capture::Unfinished => None,
    }
}

/// Links a sandbox with the functions, and returns the memory that names them.
fn link(sandbox: &Sandbox, bind: &BindFunctions, mut pages: DirtyPages) -> Option<(HotFunctions, DirtyPages)> {
    let base = base().ok()?;
    let memory = base.with_pages(&pages);
    // What compiled functions charge is in there. A script that could write it would run without fuel.
    let layout = EngineLayout::prebuilt().ok()?.functions? as usize;
    let layout = layout..layout + LAYOUT_BYTES;
    if base.memory.get(layout.clone())? != memory.get(layout)? {
        return None;
    }
    let is_of_program = |address: u32| {
        let function = address as usize..address as usize + FUNCTION_BYTES;
        base.memory.get(function.clone()) != memory.get(function)
    };
    let bound = bind(&memory, &is_of_program)?;
    let component = sandbox.engine().hot_component(&bound.wasm).ok()?;
    for (address, index) in &bound.words {
        pages.write(*address as usize, index.to_le_bytes())?;
    }
    let bytes = COMPONENT_BYTES + NATIVE_BYTES_PER_BYTE * bound.wasm.len();
    let sandbox = sandbox.linked_again(&component).ok()?;
    Some((HotFunctions { sandbox, count: bound.words.len(), bytes }, pages))
}
