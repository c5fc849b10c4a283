//! How deep a file may nest, and a stack that is large enough for it.
//!
//! The parser recurses with the file, and a stack that overflows ends the process. So the depth is bounded first, by a
//! scan that does not recurse; what the caller's stack may not hold moves to a thread whose stack does.

use super::depth;
use super::fault::Fault;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

/// Up to this depth the caller's stack serves: half of the 2 MiB that threads have by default.
const INLINE_DEPTH: u32 = (1024 * 1024) / STACK_PER_LEVEL as u32;

/// Stack for one level: the dearest syntax (a tuple type) takes 1.7 KiB optimised and 4.5 KiB not; the rest is margin.
const STACK_PER_LEVEL: usize = if cfg!(debug_assertions) { 12 * 1024 } else { 4 * 1024 };

/// Stack for everything that does not depend on the file's syntax: values and types have depth limits of their own.
const STACK_BASE: usize = 2 * 1024 * 1024;

/// Runs `work`, which parses `text`, on a stack it cannot overflow. It is told how deep what it parses may be.
pub(super) fn with_enough_stack<T: Send>(text: &str, work: impl FnOnce(u32) -> T + Send) -> Result<T, Fault> {
    let depth = depth::bound(text)?;
    // Files that this one imports from are parsed on the same stack, and how deep they are is not known yet.
    let may_import = text.contains("./") || text.contains("'.'") || text.contains("\".\"");
    if depth <= INLINE_DEPTH && !may_import {
        return catch_unwind(AssertUnwindSafe(|| work(INLINE_DEPTH))).map_err(|_| parser_failed());
    }
    let depth = if may_import { depth::MAX_DEPTH } else { depth };
    let work = || work(depth);
    let stack = STACK_BASE + depth as usize * STACK_PER_LEVEL;
    thread::scope(|scope| match thread::Builder::new().stack_size(stack).spawn_scoped(scope, work) {
        Ok(thread) => thread.join().map_err(|_| parser_failed()),
        Err(_) => Err(Fault::new(
            0,
            "there is not enough memory now to parse a file that nests so deep",
            "end statements with semicolons, and split long ones",
        )),
    })
}

/// A panic in the parser is its bug, not the author's; it must not take the caller with it.
fn parser_failed() -> Fault {
    Fault::new(0, "the parser failed on this file", "please report the file as a bug of capability-gen")
}
