//! Error sites: the operation that failed, found from the position that the engine reports for an error.
//!
//! QuickJS records positions only now and then, and reports an error at the last one before it: `a.b.c` is reported at
//! `a`, and a call at its last argument. So the code of a failed run is parsed once more, the engine's positions are
//! computed again, and the operations between one position and the next are listed: reads of properties, calls, loops.
//! The error's message, or the name of the function that was called, selects one of them.
//!
//! - `engine_offsets`: offsets that the engine records for tokens
//! - `walk`: operations that can fail, in the order of the engine's instructions
//! - `select`: the operation that an error is about

mod engine_offsets;
mod select;
mod walk;

use super::parse_bounds::with_enough_stack;
use super::tokens::Tokens;
use engine_offsets::EngineOffsets;
use oxc_allocator::Allocator;
use oxc_parser::{Parser, config::TokensParserConfig};
use oxc_span::SourceType;
pub use select::EngineError;
use walk::Found;

/// The longest code that is parsed again. Scripts are a hundredth of it; a bundle can be larger, and parsing takes some
/// hundred times its size in memory.
const MAX_CODE_BYTES: usize = 512 << 10;

/// Kind of an operation that can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    /// Call of a function.
    Call,
    /// Call of a constructor.
    New,
    /// Read of a property.
    Read,
    /// Write of a property.
    Write,
    /// Iteration: a loop, a spread, an array pattern.
    Iterate,
    /// Destructuring by an object pattern.
    Destructure,
}

/// One operation in the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Site {
    /// Offset at which the engine reports its failure.
    pub(super) reported: u32,
    pub(super) operation: Operation,
    /// The name of the property or of the callee, where it is written out.
    pub(super) name: Option<(u32, u32)>,
    /// Offset at which its author would look for it.
    pub(super) start: u32,
    /// The callee, or the value that is iterated over.
    pub(super) subject: (u32, u32),
}

/// Operations of one code that can fail at the offsets in question.
pub struct ErrorSites<'c> {
    code: &'c str,
    /// Ordered by [`Site::reported`]; within one offset, in the engine's order.
    sites: Vec<Site>,
    /// Names of declared functions, sorted.
    declared: Vec<&'c str>,
    /// Spans of the names of variables that are written.
    writes: Vec<(u32, u32)>,
    /// Offsets at which the engine may report a derived class without a constructor, sorted: its start, and the start
    /// of its line.
    derived_classes: Vec<u32>,
}

/// The operation that failed.
#[derive(Debug, PartialEq, Eq)]
pub struct FailedOperation {
    /// Offset in the code.
    pub offset: u32,
    /// Spans of the callee or the iterated value; several if it is not known which.
    pub subjects: Vec<(u32, u32)>,
    /// True if it was called with `new`.
    pub is_new: bool,
}

impl<'c> ErrorSites<'c> {
    /// Finds the operations that the engine reports at these offsets; `None` if the code cannot be parsed again.
    pub fn new(code: &'c str, offsets: &[u32]) -> Option<ErrorSites<'c>> {
        if code.len() > MAX_CODE_BYTES {
            return None;
        }
        let mut offsets = offsets.to_vec();
        offsets.sort_unstable();
        offsets.dedup();
        let read = || {
            let allocator = Allocator::default();
            let parsed = Parser::new(&allocator, code, SourceType::mjs()).with_config(TokensParserConfig).parse();
            if parsed.panicked || parsed.diagnostics.errors().next().is_some() {
                return None;
            }
            let engine_offsets = EngineOffsets::new(code, Tokens::new(&parsed.tokens));
            Some(walk::find(&parsed.program, &engine_offsets, &offsets))
        };
        let Found { mut sites, declared, writes, derived_classes } = with_enough_stack(code, read).ok()??;
        // Stable: within one offset the engine's order stays.
        sites.sort_by_key(|site| site.reported);
        let mut declared: Vec<&str> =
            declared.into_iter().filter_map(|(start, end)| code.get(start as usize..end as usize)).collect();
        declared.sort_unstable();
        let derived_classes = with_line_starts(code, derived_classes);
        Some(ErrorSites { code, sites, declared, writes, derived_classes })
    }

    fn text(&self, (start, end): (u32, u32)) -> &'c str {
        self.code.get(start as usize..end as usize).unwrap_or_default()
    }
}

/// Returns these offsets and the starts of their lines, sorted. One pass over the code: all of it may be one line.
fn with_line_starts(code: &str, mut offsets: Vec<u32>) -> Vec<u32> {
    offsets.sort_unstable();
    let mut all = Vec::with_capacity(offsets.len() * 2);
    let (mut line, mut searched) = (0, 0);
    for offset in offsets {
        let between = code.get(searched as usize..offset as usize).unwrap_or_default();
        if let Some(end) = between.rfind(['\n', '\r']) {
            line = searched + end as u32 + 1;
        }
        searched = offset;
        all.extend([line, offset]);
    }
    all.sort_unstable();
    all.dedup();
    all
}
