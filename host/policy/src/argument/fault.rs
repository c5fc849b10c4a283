//! Violation of an argument constraint.

use super::canonical_text::NonCanonical;
use super::text_kind::TextKind;

/// A violation and the value it concerns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// `to[1].address`; empty for all parameters together.
    pub(crate) place: String,
    pub(crate) why: Why,
}

/// Kind of violation. Never contains the value, which may be a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Why {
    #[error("it is missing")]
    Missing,
    #[error("it is not an object")]
    NoObject,
    #[error("it is not a list")]
    NoList,
    #[error("it is not a string")]
    NoText,
    #[error("it is not a number")]
    NoNumber,
    #[error("{0}")]
    NonCanonical(#[from] NonCanonical),
    #[error("it is not exactly {0}")]
    NotOne(TextKind),
    #[error("it does not match the pattern")]
    NoMatch,
    #[error("it matches a forbidden pattern")]
    Forbidden,
    #[error("it is not one of the listed values")]
    NotListed,
    #[error("it is too small")]
    Small,
    #[error("it is too large")]
    Large,
}

impl Why {
    /// True if it describes only what the script wrote, and reveals nothing of the allowed values.
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
