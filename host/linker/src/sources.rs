//! The author's texts of a script's files.

use agent_spaces_script::PositionMap;
use std::collections::HashMap;

/// The author's own texts, for positions and code frames, by file.
#[derive(Default)]
pub struct Sources(pub HashMap<String, Source>);

/// The author's text of one file.
pub struct Source {
    /// The text.
    pub text: String,
    /// Maps positions in the code that runs to positions in the text.
    pub positions: PositionMap,
}
