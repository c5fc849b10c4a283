//! Questions that a person asked earlier, in a private file of the state folder.

use crate::commands::folders;
use crate::commands::foreign_configs::file::make_folder;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

/// Name of the file.
const FILE: &str = "agent-history.jsonl";

/// Most questions that are kept, and most bytes of the file that are read.
const MAX_QUESTIONS: usize = 500;
const MAX_BYTES: u64 = 4 << 20;

/// Questions that are listed.
const MAX_LISTED: usize = 20;

/// Longest question that is kept.
const MAX_QUESTION: usize = 8 << 10;

/// Earlier questions, oldest first.
#[derive(Default)]
pub(super) struct History {
    questions: Vec<String>,
    /// The file; `None` without a home folder.
    file: Option<PathBuf>,
}

impl History {
    /// Reads the user's history. One that cannot be read is empty: it is a convenience.
    pub(super) fn open() -> History {
        let Some(folder) = folders::state().filter(|folder| make_folder(folder).is_ok()) else {
            return History::default();
        };
        History::in_file(folder.join(FILE))
    }

    fn in_file(file: PathBuf) -> History {
        let mut text = String::new();
        let read = std::fs::File::open(&file).and_then(|opened| opened.take(MAX_BYTES).read_to_string(&mut text));
        let mut questions: Vec<String> = match read {
            Ok(_) => text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect(),
            Err(_) => Vec::new(),
        };
        questions.drain(..questions.len().saturating_sub(MAX_QUESTIONS));
        History { questions, file: Some(file) }
    }

    /// Adds a question.
    pub(super) fn add(&mut self, question: &str) {
        if question.len() > MAX_QUESTION || self.questions.last().is_some_and(|last| last == question) {
            return;
        }
        self.questions.push(question.to_owned());
        let excess = self.questions.len().saturating_sub(MAX_QUESTIONS);
        self.questions.drain(..excess);
        // Without it the next command has no history.
        let _ = self.save();
    }

    fn save(&self) -> std::io::Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        let folder = file.parent().unwrap_or(Path::new("."));
        // Made private, and renamed when it is whole.
        let mut written = tempfile::NamedTempFile::new_in(folder)?;
        for question in &self.questions {
            writeln!(written, "{}", serde_json::Value::from(question.as_str()))?;
        }
        written.persist(file)?;
        Ok(())
    }

    /// The newest questions with their numbers, oldest first.
    pub(super) fn newest(&self) -> impl Iterator<Item = (usize, &str)> {
        let first = self.questions.len().saturating_sub(MAX_LISTED);
        self.questions.iter().enumerate().skip(first).map(|(index, question)| (index + 1, question.as_str()))
    }

    /// A question by its number.
    pub(super) fn get(&self, number: usize) -> Option<&str> {
        self.questions.get(number.checked_sub(1)?).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::{History, MAX_QUESTIONS};

    #[test]
    fn questions_survive_in_a_private_file_and_are_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("history");
        let mut history = History::in_file(file.clone());
        history.add("one\nline");
        history.add("one\nline");
        history.add("two");
        let again = History::in_file(file.clone());
        assert_eq!(
            (again.get(1), again.get(2), again.get(3), again.get(0)),
            (Some("one\nline"), Some("two"), None, None)
        );
        for number in 0..MAX_QUESTIONS {
            history.questions.push(number.to_string());
        }
        history.add("last");
        let again = History::in_file(file.clone());
        assert_eq!((again.questions.len(), again.newest().last()), (MAX_QUESTIONS, Some((MAX_QUESTIONS, "last"))));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        }
        std::fs::write(&file, "not json\n\"kept\"\n").unwrap();
        assert_eq!(History::in_file(file).get(1), Some("kept"));
    }
}
