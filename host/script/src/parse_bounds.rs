//! Limits on nesting depth and parse cost, and a stack that is large enough for what is allowed.
//!
//! The parser and the walk recurse with the source, and a stack overflow ends the process. The parser also backtracks,
//! and cannot be interrupted. So depth and cost are bounded first, by a scan that does not recurse
//! ([`agent_spaces_script_bounds`]); beyond [`MAX_NESTING`] and [`MAX_DEPTH`] the source is refused, and deep sources
//! below that are parsed on a thread whose stack fits them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use super::fault::Fault;
use agent_spaces_script_bounds::{Exceeded, Limits, bound, work_limit};
use agent_spaces_types::script_error::SYNTAX;

/// Limit on nested brackets, type arguments included. Hand-written code stays below 50 and deep data below
/// 200.
pub const MAX_NESTING: u32 = 1_000;

/// Limit on the depth of the syntax tree, counting brackets and links of chains (`a.b.c`, `a + b + c`, `else if`).
/// Hand-written code stays below 300; generated code with thousands of concatenated strings still fits. The largest
/// stack is sized for it.
pub const MAX_DEPTH: u32 = 8_000;

/// Up to this depth the caller's stack suffices: half of the 2 MiB that threads have by default.
const INLINE_DEPTH: u32 = (1024 * 1024) / STACK_PER_LEVEL as u32;

/// Stack for one level. The dearest syntax (a tuple type) takes 1.7 KiB optimised and 4.5 KiB not; the rest is margin
/// for other targets and compilers.
const STACK_PER_LEVEL: usize = if cfg!(debug_assertions) { 12 * 1024 } else { 4 * 1024 };

/// Stack for everything that is independent of the source.
const STACK_BASE: usize = 1024 * 1024;

/// Runs `work`, which parses and walks `source`, on a stack it cannot overflow.
///
/// # Errors
/// A source that exceeds the limits, or a panic of the parser.
pub fn with_enough_stack<T: Send>(source: &str, work: impl FnOnce() -> T + Send) -> Result<T, Fault> {
    let limits = Limits { brackets: MAX_NESTING, depth: MAX_DEPTH, work: work_limit(source.len()) };
    let depth = bound(source, limits).map_err(refusal)?.depth;
    if depth <= INLINE_DEPTH {
        return catch_unwind(AssertUnwindSafe(work)).map_err(|_| parser_failed());
    }
    let stack = STACK_BASE + depth as usize * STACK_PER_LEVEL;
    thread::scope(|scope| {
        let thread = thread::Builder::new().name("script".to_owned()).stack_size(stack).spawn_scoped(scope, work);
        match thread {
            Ok(thread) => thread.join().map_err(|_| parser_failed()),
            Err(_) => Err(Fault {
                code: SYNTAX,
                message: format!("not enough memory to parse a source that nests {depth} levels deep"),
                start: None,
                hint: Some("split the deepest expression into several statements".to_owned()),
            }),
        }
    })
}

fn refusal(exceeded: Exceeded) -> Fault {
    let split = "split it into several statements, or move data into a workspace file";
    match exceeded {
        Exceeded::Brackets(at) => Fault::syntax(at, format!("brackets nest deeper than {MAX_NESTING} levels"), split),
        Exceeded::Depth(at) => {
            let message = format!("the code nests deeper than {MAX_DEPTH} levels, or is one chain of so many parts");
            Fault::syntax(at, message, split)
        }
        Exceeded::Work(at) => Fault::syntax(
            at,
            "the code is too ambiguous to parse: too many nested parentheses, `<` or `=>` with more than one reading",
            "give the inner expressions and types names of their own, and close every bracket",
        ),
    }
}

/// A panic in the parser is its bug, not the author's; it must not take the host with it.
fn parser_failed() -> Fault {
    Fault {
        code: SYNTAX,
        message: "the parser failed on this source".to_owned(),
        start: None,
        hint: Some("please report the source as a bug of agent-spaces".to_owned()),
    }
}
