//! Anthropic tools: `{name, description, input_schema}`; one, an array, or under `tools`. Built-in tools
//! (`bash_20250124`) have no schema and are left out with a note.

use super::error::SourceError;
use super::flat::Bias;
use super::listed::{self, Listed};
use super::node::Node;
use crate::definition::Definition;

pub(super) fn parse(root: &Node<'_>, name: &str) -> Result<Vec<Definition>, SourceError> {
    listed::parse(root, name, Listed { bias: Bias::Schema, vendor: "Anthropic's API" })
}
