//! Text of a record in pieces that fit into documents.

use serde::{Deserialize, Serialize};

/// Most bytes of a piece as it is stored: with the names around it, it fits into a document of 1 MiB.
const MAX_PIECE: usize = 900_000;

/// Most pieces of a record: some 90 MB. A model's answer and a result that was put aside are far smaller.
pub(super) const MAX_PIECES: usize = 100;

/// Body of a document that holds a piece.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Piece {
    /// Pieces of the record.
    pub(super) pieces: usize,
    /// Text of this piece.
    pub(super) text: String,
}

/// Cuts a text into pieces; there is one at least.
pub(super) fn split(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let (mut start, mut bytes) = (0, 0);
    for (at, character) in text.char_indices() {
        let more = stored_bytes(character);
        if bytes + more > MAX_PIECE {
            pieces.push(&text[start..at]);
            (start, bytes) = (at, 0);
        }
        bytes += more;
    }
    pieces.push(&text[start..]);
    pieces
}

/// Bytes of a character in a JSON string.
fn stored_bytes(character: char) -> usize {
    match character {
        '"' | '\\' => 2,
        character if character.is_control() => 6,
        character => character.len_utf8(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_spaces_journal::document::MAX_BODY;

    #[test]
    fn pieces_join_to_the_text_and_fit_into_documents() {
        for unit in ["a", "\"\\", "é", "\u{1}", "😀x"] {
            let text = unit.repeat(2_500_000 / unit.len());
            let pieces = split(&text);
            assert_eq!(pieces.concat(), text);
            assert!(pieces.len() > 2);
            for piece in &pieces {
                let body = Piece { pieces: pieces.len(), text: (*piece).to_owned() };
                assert!(serde_json::to_string(&body).unwrap().len() < MAX_BODY);
            }
        }
        assert_eq!(split(""), [""]);
    }
}
