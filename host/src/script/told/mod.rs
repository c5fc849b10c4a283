//! What stands at the places that the engine tells.
//!
//! QuickJS notes places only now and then, and tells an error at the last note before it: `a.b.c` is told at `a`, and a
//! call at its last argument. So the code that ran is parsed once more when it has failed, its notes are made again, and
//! what can fail between one note and the next is found: a read of a property, a call, a loop over something. The error's
//! message, or the function that was called, tells which it was.
//!
//! - `marks`: where the engine sees a token; `walk`: what can fail, in the engine's order; `choose`: which of them it was

mod choose;
mod marks;
mod walk;

use super::parse_bounds::with_enough_stack;
use super::tokens::Tokens;
pub(crate) use choose::Failing;
use marks::Marks;
use oxc_allocator::Allocator;
use oxc_parser::{Parser, config::TokensParserConfig};
use oxc_span::SourceType;
use walk::Found;

/// The longest code that is parsed again. Scripts are a hundredth of it; a bundle can be larger, and parsing takes some
/// hundred times its size in memory.
const MAX_CODE_BYTES: usize = 512 << 10;

/// What can fail at one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    /// A call of a function.
    Call,
    /// A call of a constructor.
    New,
    /// A property is read.
    Read,
    /// A property is written.
    Write,
    /// Something is taken apart item by item.
    Iterate,
    /// Something is taken apart by the names of its members.
    TakeApart,
}

/// An operation of the code that is told at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Site {
    pub(super) told: u32,
    pub(super) operation: Operation,
    /// The name of the property or of what is called, where it is written out.
    pub(super) name: Option<(u32, u32)>,
    /// Where its author would look for it.
    pub(super) meant: u32,
    /// What is called or iterated over.
    pub(super) subject: (u32, u32),
}

/// What the engine means by places in one code.
pub(crate) struct Told<'c> {
    code: &'c str,
    sites: Vec<Site>,
    /// Functions that the code declares by name.
    declared: Vec<&'c str>,
    /// Where variables are written, by their names.
    writes: Vec<(u32, u32)>,
    /// Where derived classes start that have no constructor of their own.
    classes: Vec<u32>,
}

/// What failed at a place.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Meant {
    /// Where in the code.
    pub(crate) offset: u32,
    /// What was called or iterated over, as parts of the code; several where it cannot be known which.
    pub(crate) subjects: Vec<(u32, u32)>,
    /// It was called with `new`.
    pub(crate) is_new: bool,
}

impl<'c> Told<'c> {
    /// Looks at what is told at these offsets. Nothing where the code cannot be read again.
    pub(crate) fn new(code: &'c str, offsets: &[u32]) -> Option<Told<'c>> {
        if code.len() > MAX_CODE_BYTES {
            return None;
        }
        let read = || {
            let allocator = Allocator::default();
            let parsed = Parser::new(&allocator, code, SourceType::mjs()).with_config(TokensParserConfig).parse();
            if parsed.panicked || parsed.diagnostics.errors().next().is_some() {
                return None;
            }
            let marks = Marks::new(code, Tokens::new(&parsed.tokens));
            Some(walk::find(&parsed.program, &marks, offsets))
        };
        let Found { sites, declared, writes, classes } = with_enough_stack(code, read).ok()??;
        let declared = declared.into_iter().filter_map(|(start, end)| code.get(start as usize..end as usize)).collect();
        Some(Told { code, sites, declared, writes, classes })
    }

    fn text(&self, (start, end): (u32, u32)) -> &'c str {
        self.code.get(start as usize..end as usize).unwrap_or_default()
    }
}
