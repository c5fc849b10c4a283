//! Fallback to `json` where WIT has no type.

use std::fmt;

/// Position that became `json`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fallback {
    /// WIT name of the first function that has it.
    pub function: String,
    /// Path in the function: `params.filter.tags[]`.
    pub path: String,
    /// Reason.
    pub reason: Reason,
}

/// Reason for a fallback to `json`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// The source does not declare the result.
    NoSchema,
    /// Any value is allowed.
    Any,
    /// An object with any names.
    Map,
    /// A named type inside itself.
    Recursive,
    /// A union whose members cannot be distinguished.
    OverlappingUnion,
    /// Literals of different kinds.
    MixedLiterals,
    /// A tuple that is neither a `tuple` nor a `list` of WIT.
    Tuple,
    /// Nothing but `null`.
    Null,
    /// No value is allowed.
    Never,
    /// A record without fields.
    EmptyRecord,
    /// A name or text with a NUL, which cannot be marked.
    Name,
    /// Nested deeper than components may be.
    TooDeep,
    /// More types, fields or cases than an interface may have.
    TooMany,
}

impl fmt::Display for Reason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Reason::NoSchema => "the source does not say what the result is",
            Reason::Any => "any value is allowed",
            Reason::Map => "an object with any names",
            Reason::Recursive => "a type inside itself",
            Reason::OverlappingUnion => "a union whose members cannot be told apart",
            Reason::MixedLiterals => "literals of different kinds",
            Reason::Tuple => "an array whose items differ and may be absent",
            Reason::Null => "nothing but null",
            Reason::Never => "no value is allowed",
            Reason::EmptyRecord => "an object without named members",
            Reason::Name => "a name with a NUL in it",
            Reason::TooDeep => "nested too deep",
            Reason::TooMany => "too many types, fields or cases",
        })
    }
}
