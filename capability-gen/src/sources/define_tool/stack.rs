//! Stack for the parser, sized by the depth of the file.
//!
//! The parser is recursive, and a stack overflow ends the process. So the depth is bounded first, by a scan without
//! recursion; files that may exceed the caller's stack are parsed on a thread with a larger one.

use super::depth;
use super::fault::Fault;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

/// Maximum depth on the caller's stack: half of the 2 MiB that threads have by default.
const INLINE_DEPTH: u32 = (1024 * 1024) / STACK_PER_LEVEL as u32;

/// Stack per level: the most expensive syntax (a tuple type) takes 1.7 KiB with and 4.5 KiB without optimization; the
/// rest is margin.
const STACK_PER_LEVEL: usize = if cfg!(debug_assertions) { 12 * 1024 } else { 4 * 1024 };

/// Stack that does not depend on the file's syntax: values and types have depth limits of their own.
const STACK_BASE: usize = 2 * 1024 * 1024;

/// Runs `work`, which parses `text`, on a sufficient stack. Its argument is the maximum depth of files that it parses.
pub(super) fn with_enough_stack<T: Send>(text: &str, work: impl FnOnce(u32) -> T + Send) -> Result<T, Fault> {
    let depth = depth::bound(text)?;
    // Imported files are parsed on the same stack, and their depth is not known yet.
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
            "not enough memory to parse a file nested this deeply",
            "end statements with semicolons, and split long ones",
        )),
    })
}

/// Error for a panic in the parser, which must not end the caller.
fn parser_failed() -> Fault {
    Fault::new(0, "the parser failed on this file", "please report the file as a bug of capability-gen")
}
