//! Nesting limit of source files, checked before parsing.

use super::fault::Fault;
use agent_spaces_script_bounds::{Exceeded, Limits, work_limit};

/// Maximum nesting of brackets, type arguments included. Hand-written code stays below 50.
const MAX_BRACKETS: u32 = 200;

/// Maximum depth of the syntax tree; determines the largest stack.
pub(super) const MAX_DEPTH: u32 = 8_000;

/// Upper bound of the depth of the syntax tree.
pub(super) fn bound(text: &str) -> Result<u32, Fault> {
    let limits = Limits { brackets: MAX_BRACKETS, depth: MAX_DEPTH, work: work_limit(text.len()) };
    agent_spaces_script_bounds::bound(text, limits).map(|bound| bound.depth).map_err(refusal)
}

fn refusal(exceeded: Exceeded) -> Fault {
    match exceeded {
        Exceeded::Brackets(at) => Fault::new(
            at,
            format!("brackets nest deeper than {MAX_BRACKETS} levels"),
            "split the deepest part into named constants, types or functions",
        ),
        Exceeded::Depth(at) => Fault::new(
            at,
            format!("the code nests deeper than {MAX_DEPTH} levels, or is one chain of so many parts"),
            "split it into several statements",
        ),
        Exceeded::Work(at) => Fault::new(
            at,
            "the code is too ambiguous to parse: too many parentheses, `<` or `=>` nest that have more than one reading",
            "give the inner expressions and types names of their own, and close every bracket",
        ),
    }
}
