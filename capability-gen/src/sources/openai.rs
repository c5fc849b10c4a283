//! OpenAI function tools: `{name, description, parameters}` bare, as `{type: "function", function: {…}}`, or with
//! `type` beside `name`; one, an array, or under `tools`. Built-in tools are left out with a note.

use super::error::SourceError;
use super::flat::Bias;
use super::listed::{self, Listed};
use super::node::Node;
use crate::definition::Definition;

pub(super) fn parse(root: &Node<'_>, name: &str) -> Result<Vec<Definition>, SourceError> {
    listed::parse(root, name, Listed { bias: Bias::None, vendor: "OpenAI's API" })
}
