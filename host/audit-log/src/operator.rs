//! Warnings to the operator, as `tracing` events.

use std::fmt::Display;
use std::path::Path;

/// Target of the `tracing` events that are meant for the operator of a host. Their message is a whole sentence.
pub const OPERATOR_TARGET: &str = "agent_spaces::operator";

/// Warns about a log.
pub(crate) fn warn(log: &Path, text: impl Display) {
    tracing::warn!(target: OPERATOR_TARGET, log = %log.display(), "{text}");
}
