//! A script that is compiled, here or in another instance.
//!
//! Compiling is most of what a short script takes, and comes to the same memory in every instance. So the host takes
//! that memory once, and has fresh instances go on from there. What it hands over lies further down
//! the stack than anything that is used: the heap must still be as it was when the engine started, which is what the pieces were told
//! apart from.

use crate::engine::engine;
use crate::errors::ScriptError;
use crate::heap;
use crate::js::{self, Value};
use crate::{modules, snapshot};

pub(crate) struct Compiled {
    pub(crate) module: Value,
    pub(crate) call_default: bool,
}

/// How the host aligns what an engine became elsewhere, and nothing else that a run is given.
pub(crate) const ALIGN: usize = 8;

/// How much of the stack is left to calls while the room is used.
const CALLS_STACK_BYTES: usize = 12 << 10;

/// How much of the room is for what the call allocates with which the memory is handed to the host.
const CALL_HEAP_BYTES: usize = 4 << 10;

/// The most that the host hands over: `MAX_COMPILED_BYTES` there.
const MAX_BYTES: usize = 1 << 20;

/// A call into the host for the copying costs more than a loop for fewer words.
const MAX_LOOP_WORDS: usize = 32;

pub(crate) fn compile(name: &str, source: &str, call_default: bool) -> js::Result<Compiled> {
    let module = modules::compile(name, source)?;
    Ok(Compiled { module, call_default })
}

unsafe extern "C" {
    /// The data begins here: the stack's top.
    static __global_base: u8;
}

/// Room for what an engine became elsewhere.
pub(crate) fn room(size: usize) -> *mut u8 {
    if size > MAX_BYTES {
        core::arch::wasm32::unreachable();
    }
    std::ptr::with_exposed_provenance_mut(room_end() - size.next_multiple_of(ALIGN))
}

/// So far down the stack that nothing lies there that is still used.
fn room_end() -> usize {
    (&raw const __global_base).expose_provenance() - CALLS_STACK_BYTES
}

/// Hands the memory to the host, with the heap as it is now.
pub(crate) fn take(compiled: Compiled) -> Result<(), ScriptError> {
    *engine().compiled.borrow_mut() = Some(compiled);
    let room = std::ptr::with_exposed_provenance_mut(room_end() - CALL_HEAP_BYTES);
    // SAFETY: nothing that is still used lies so deep in the stack.
    unsafe { heap::divert(room, CALL_HEAP_BYTES) };
    let taken = snapshot::take();
    // SAFETY: what was made for the call is gone with it; an error ends the run.
    unsafe { heap::put_back() };
    taken
}

/// Makes this engine what the other one was when it was [taken](take).
///
/// # Safety
/// The words are what the host made of an engine's memory that was linked with the same binding, in the room. Nothing
/// has been allocated since this instance began.
pub(crate) unsafe fn restore(words: &[u64]) -> Compiled {
    let Some((pages, mut rest)) = words.split_first() else { core::arch::wasm32::unreachable() };
    let (pages, present) = (*pages as usize, core::arch::wasm32::memory_size(0));
    if pages > present {
        // A growth that is refused ends the run by itself.
        core::arch::wasm32::memory_grow(0, pages - present);
    }
    while let Some((head, after)) = rest.split_first() {
        let piece: *mut u64 = std::ptr::with_exposed_provenance_mut(*head as u32 as usize);
        let Some((content, after)) = after.split_at_checked((head >> 32) as usize) else { break };
        // SAFETY: the caller says so; the address is one of the other engine's memory, which this one has as well.
        unsafe {
            if content.len() > MAX_LOOP_WORDS {
                piece.copy_from_nonoverlapping(content.as_ptr(), content.len());
            } else {
                for (index, word) in content.iter().enumerate() {
                    // Volatile, or this would become the call that it avoids.
                    piece.add(index).write_volatile(*word);
                }
            }
        }
        rest = after;
    }
    // SAFETY: the caller says so.
    unsafe { heap::put_back() };
    match engine().compiled.borrow_mut().take() {
        Some(compiled) => compiled,
        None => core::arch::wasm32::unreachable(),
    }
}
