//! The author's texts of a script's files.

use agent_spaces_script::PositionMap;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// The author's own texts, for positions and code frames, by file.
#[derive(Default, Serialize, Deserialize)]
pub struct Sources(pub HashMap<String, Source>);

/// The author's text of one file.
#[derive(Serialize, Deserialize)]
pub struct Source {
    /// The text.
    pub text: String,
    /// Maps positions in the code that runs to positions in the text.
    pub positions: PositionMap,
}
