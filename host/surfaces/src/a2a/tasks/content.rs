//! Messages and answers of a task, as they are kept.

use crate::a2a::bounds::MAX_CONTENT;
use crate::a2a::error::A2aError;
use crate::a2a::parts::cut;
use crate::a2a::types::{Artifact, Message, Part};
use serde::{Deserialize, Serialize};

/// Bytes of an answer that is kept if it takes too much as JSON text, where one byte can take six.
const MAX_ESCAPED: usize = 64 << 10;

/// Messages and answers of a task.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Content {
    pub(super) history: Vec<Message>,
    pub(super) artifacts: Vec<Artifact>,
}

impl Content {
    /// Returns it as text that fits a document: the oldest messages are dropped first, then the answer is cut.
    pub(super) fn fitting(mut self) -> Result<String, A2aError> {
        let mut is_cut = false;
        loop {
            let written = serde_json::to_string(&self).map_err(|error| A2aError::internal(&error.to_string()))?;
            if written.len() <= MAX_CONTENT {
                return Ok(written);
            }
            let surplus = self.history.len().div_ceil(2);
            if surplus > 0 {
                self.history.drain(..surplus);
            } else if std::mem::replace(&mut is_cut, true) {
                self.artifacts.clear();
            } else {
                self.artifacts.iter_mut().flat_map(|artifact| &mut artifact.parts).for_each(shorten);
            }
        }
    }
}

fn shorten(part: &mut Part) {
    let data = part.data.take().map(|data| data.to_string());
    let mut text = part.text.take().or(data).unwrap_or_default();
    cut(&mut text, MAX_ESCAPED);
    *part = Part::text(text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_is_made_to_fit() {
        let message = |text: String| Message::of_agent("c", "t", vec![Part::text(text)]);
        let history: Vec<_> = (0..50).map(|number| message(format!("{number}{}", "\u{1}".repeat(16 << 10)))).collect();
        let artifact =
            Artifact { artifact_id: "a".into(), name: "a".into(), parts: vec![Part::text("\u{1}".repeat(512 << 10))] };
        let written = Content { history, artifacts: vec![artifact] }.fitting().unwrap();
        assert!(written.len() <= MAX_CONTENT);
        let read: Content = serde_json::from_str(&written).unwrap();
        assert!(read.history.is_empty() && read.artifacts[0].parts[0].text.as_ref().unwrap().ends_with('…'));
        let small = Content { history: vec![message("hi".into())], artifacts: Vec::new() };
        assert_eq!(serde_json::from_str::<Content>(&small.clone().fitting().unwrap()).unwrap(), small);
    }
}
