//! What does not hold of an argument.

use super::plain::Oddity;
use super::text_kind::TextKind;

/// What does not hold, and of which value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// `to[1].address`; empty for all parameters together.
    pub(crate) place: String,
    pub(crate) why: Why,
}

/// What does not hold of a value. Never says what the value is: it may be a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Why {
    #[error("it is missing")]
    Missing,
    #[error("it is not an object")]
    NoObject,
    #[error("it is not a list")]
    NoList,
    #[error("it is not a text")]
    NoText,
    #[error("it is not a number")]
    NoNumber,
    #[error("{0}")]
    Odd(#[from] Oddity),
    #[error("it is not {0} alone")]
    NotOne(TextKind),
    #[error("it does not fit the pattern")]
    NoMatch,
    #[error("it fits a pattern that it must not fit")]
    Forbidden,
    #[error("it is not one of the values that are listed")]
    NotListed,
    #[error("it is too small")]
    Small,
    #[error("it is too large")]
    Large,
}

impl Why {
    /// Whether it is about what the script wrote, and says nothing of what is allowed instead.
    pub(crate) fn is_about_spelling(self) -> bool {
        !matches!(self, Why::NoMatch | Why::Forbidden | Why::NotListed | Why::Small | Why::Large)
    }
}

impl Fault {
    pub(super) fn here(why: Why) -> Fault {
        Fault { place: String::new(), why }
    }

    pub(super) fn below_member(mut self, name: &str) -> Fault {
        let dot = if self.place.is_empty() || self.place.starts_with('[') { "" } else { "." };
        self.place.insert_str(0, dot);
        self.place.insert_str(0, name);
        self
    }

    pub(super) fn below_item(mut self, index: usize) -> Fault {
        let dot = if self.place.is_empty() || self.place.starts_with('[') { "" } else { "." };
        self.place.insert_str(0, &format!("[{index}]{dot}"));
        self
    }
}
