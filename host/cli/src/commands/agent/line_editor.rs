//! Line editor of the prompt. Its history is a private file of the state folder.

use super::question::MAX_QUESTION;
use super::terminal_mode;
use crate::commands::failure::Failure;
use crate::commands::foreign_configs::file;
use crate::commands::{folders, terminal};
use agent_spaces::Code;
use rustyline::error::ReadlineError;
use rustyline::history::History as _;
use rustyline::{Config, DefaultEditor};
use std::io::{BufRead as _, Read as _};
use std::path::PathBuf;

const PROMPT: &str = "> ";

/// Name of the history file.
const FILE: &str = "agent-history";

/// Maximum number of lines in the history.
const MAX_LINES: usize = 1_000;

/// Maximum length of a line in the history, in bytes.
const MAX_LINE: usize = 8 << 10;

/// Maximum size of the history file: full lines of nothing but escaped characters.
const MAX_FILE: usize = MAX_LINES * MAX_LINE * 2;

/// Maximum number of lines that `/history` lists.
const MAX_LISTED: usize = 20;

/// Result of reading a line.
pub(super) enum Input {
    Line(String),
    /// Ctrl-C: the line is discarded.
    Cleared,
    /// Ctrl-D, or the end of the input.
    End,
}

/// Line editor with a history, oldest line first.
pub(super) struct LineEditor {
    editor: DefaultEditor,
    /// History file; `None` if the history ends with the command.
    file: Option<PathBuf>,
}

impl LineEditor {
    /// Opens the editor with the user's history, or with an empty one that is not saved.
    pub(super) fn open(is_saved: bool) -> Result<LineEditor, Failure> {
        let folder = folders::state().filter(|folder| is_saved && file::make_folder(folder).is_ok());
        LineEditor::with_file(folder.map(|folder| folder.join(FILE)))
    }

    fn with_file(file: Option<PathBuf>) -> Result<LineEditor, Failure> {
        let config = Config::builder().max_history_size(MAX_LINES);
        let config = config.map(|config| config.history_ignore_space(true).build());
        let mut editor = config.and_then(DefaultEditor::with_config).map_err(failed)?;
        // The editor reads a file of any size, and changes the umask of the whole process to create one. A history that
        // is damaged or cannot be written is given up: it is only a convenience.
        let file = file.filter(|file| file::read(file, MAX_FILE).is_ok() || file::write(file, "", None).is_ok());
        if let Some(file) = &file {
            let _ = editor.load_history(file);
        }
        Ok(LineEditor { editor, file })
    }

    /// Reads a line, on this thread: the editor needs its signals, and the runtime has threads of its own.
    pub(super) fn read(&mut self) -> Result<Input, Failure> {
        terminal::hold(true);
        // The editor writes to stdout, which may be a file for the answers.
        let input = match terminal::is_stdout_terminal() {
            true => self.edit(),
            false => read_plain(),
        };
        terminal::hold(false);
        input
    }

    fn edit(&mut self) -> Result<Input, Failure> {
        terminal_mode::save();
        let line = self.editor.readline(PROMPT);
        terminal_mode::forget();
        match line {
            Ok(line) if line.len() as u64 > MAX_QUESTION => {
                terminal::warn(&format!("longer than {MAX_QUESTION} bytes; put the text into a file"));
                Ok(Input::Cleared)
            }
            Ok(line) => Ok(Input::Line(line)),
            Err(ReadlineError::Interrupted) => Ok(Input::Cleared),
            Err(ReadlineError::Eof) => Ok(Input::End),
            Err(error) => Err(failed(error)),
        }
    }

    /// Adds a line to the history, unless it starts with a space or repeats the last one.
    pub(super) fn add(&mut self, line: &str) {
        if line.len() > MAX_LINE {
            return;
        }
        let _ = self.editor.add_history_entry(line);
        if let Some(file) = &self.file {
            // Lines that other commands added meanwhile stay.
            let _ = self.editor.append_history(file);
        }
    }

    /// Returns the newest lines with their numbers, oldest first.
    pub(super) fn newest(&self) -> impl Iterator<Item = (usize, &str)> {
        let history = self.editor.history();
        let first = history.len().saturating_sub(MAX_LISTED);
        history.iter().enumerate().skip(first).map(|(index, line)| (index + 1, line.as_str()))
    }

    /// Returns a line by its number.
    pub(super) fn get(&self, number: usize) -> Option<&str> {
        self.editor.history().iter().nth(number.checked_sub(1)?).map(String::as_str)
    }
}

/// Reads a line without editing.
fn read_plain() -> Result<Input, Failure> {
    terminal::ask(&PROMPT.into());
    let mut line = String::new();
    let read = std::io::stdin().lock().take(MAX_QUESTION).read_line(&mut line).map_err(failed)?;
    Ok(match read {
        0 => Input::End,
        _ => Input::Line(line),
    })
}

fn failed(error: impl std::fmt::Display) -> Failure {
    Failure::new(Code::ConfigUsage, format!("stdin: {error}"), None)
}

#[cfg(test)]
mod tests {
    use super::{LineEditor, MAX_LINE, MAX_LINES};
    use std::path::Path;

    fn open(file: &Path) -> LineEditor {
        LineEditor::with_file(Some(file.to_owned())).unwrap_or_else(|_| panic!("an editor"))
    }

    #[test]
    fn the_history_survives_in_a_private_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("history");
        let mut editor = open(&file);
        for line in ["one\nline \\", "one\nline \\", " private", "two", &"x".repeat(MAX_LINE + 1)] {
            editor.add(line);
        }
        let again = open(&file);
        assert_eq!(again.newest().collect::<Vec<_>>(), [(1, "one\nline \\"), (2, "two")]);
        assert_eq!((again.get(0), again.get(2), again.get(3)), (None, Some("two"), None));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }

    #[test]
    fn the_oldest_lines_are_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("history");
        let lines: String = (0..MAX_LINES).map(|number| format!("{number}\n")).collect();
        std::fs::write(&file, format!("#V2\n{lines}")).unwrap();
        open(&file).add("last");
        let again = open(&file);
        assert_eq!((again.get(1), again.get(MAX_LINES), again.get(MAX_LINES + 1)), (Some("1"), Some("last"), None));
    }

    #[test]
    fn two_commands_keep_the_lines_of_both() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("history");
        let (mut first, mut second) = (open(&file), open(&file));
        first.add("from the first");
        second.add("from the second");
        let again = open(&file);
        assert_eq!(again.newest().collect::<Vec<_>>(), [(1, "from the first"), (2, "from the second")]);
    }

    #[test]
    fn a_damaged_history_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("history");
        std::fs::write(&file, b"#V2\nold\n\xff\n").unwrap();
        open(&file).add("new");
        assert_eq!(open(&file).newest().collect::<Vec<_>>(), [(1, "new")]);
    }
}
