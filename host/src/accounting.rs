//! What every call took: one line of JSON each, in a file of the operator's choice.

use crate::private_folder;
use agent_spaces_mcp::secrets::Redactor;
use capability_gen::identity::FunctionId;
use capability_gen::shown::Shown;
use serde::Serialize;
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

/// The longest error text, in characters.
const MAX_ERROR: usize = 500;

/// The longest name, in characters.
const MAX_NAME: usize = 200;

/// One call.
#[derive(Clone, Debug)]
pub struct Entry {
    /// When it began.
    pub began: SystemTime,
    /// How long it took.
    pub latency: Duration,
    /// How many characters of JSON were sent.
    pub characters_in: usize,
    /// How many characters of JSON came back.
    pub characters_out: usize,
    /// Who answers: a capability by its name, or an MCP server by its name in the configuration.
    pub provider: Provider,
    /// The function, by its provider's name for it.
    pub command: String,
    /// Which function it is, where somebody knows that.
    pub function_id: Option<FunctionId>,
    /// On whose behalf: the caller's name, where they have one.
    pub caller: Option<String>,
    /// Why it failed, if it did.
    pub error: Option<String>,
}

/// Who answers a call.
#[derive(Clone, Debug)]
pub enum Provider {
    /// An MCP server.
    Server(String),
    /// Anything else, by the name of its capability.
    Capability(String),
}

/// Where calls are written down; nowhere by default. Clones share the file.
#[derive(Clone, Default)]
pub struct Accounting(Option<Arc<Book>>);

struct Book {
    redactor: Redactor,
    warn: Box<dyn Fn(&str) + Send + Sync>,
    page: Mutex<Page>,
}

struct Page {
    file: File,
    /// Whether the last line was written in part: the next one must not continue it.
    is_torn: bool,
    has_warned: bool,
    /// Calls that could not be written since the last one that was, and when the first of them began.
    lost: Option<(u64, SystemTime)>,
}

/// The line that says how many calls are missing before it.
#[derive(Serialize)]
struct GapLine {
    r#type: &'static str,
    timestamp: String,
    from: String,
    calls: u64,
}

/// The line, key by key.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    r#type: &'static str,
    timestamp: String,
    status: &'static str,
    latency: f64,
    characters_in: usize,
    characters_out: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    mcp_server: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    capability: Option<String>,
    command: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    function_id: Option<FunctionId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    caller: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

impl Accounting {
    /// Appends to this file, which is made for its owner alone with the folders above it. `warn` is told once if
    /// writing fails later.
    pub fn to_file(path: &Path, redactor: Redactor, warn: impl Fn(&str) + Send + Sync + 'static) -> io::Result<Self> {
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            private_folder::make(folder)?;
        }
        // A pipe would hold us up, and a link may lead to a file that somebody else chose.
        let kind = path.symlink_metadata().map(|known| known.file_type());
        if kind.is_ok_and(|kind| kind.is_symlink() || kind.is_fifo() || kind.is_socket()) {
            return Err(io::Error::new(ErrorKind::InvalidInput, "it is a link, a pipe or a socket"));
        }
        let file = OpenOptions::new().append(true).create(true).mode(0o600).open(path)?;
        let page = Mutex::new(Page { file, is_torn: false, has_warned: false, lost: None });
        Ok(Accounting(Some(Arc::new(Book { redactor, warn: Box::new(warn), page }))))
    }

    /// Whether anybody keeps accounts; counting costs.
    pub fn is_kept(&self) -> bool {
        self.0.is_some()
    }

    /// Writes a call down. A disk that fails does not fail the call: the next line that can be written is preceded by one
    /// that says how many are missing.
    pub fn record(&self, entry: Entry) {
        let Some(book) = &self.0 else { return };
        let began = entry.began;
        let Ok(line) = serde_json::to_string(&book.line(entry)) else { return };
        let mut page = book.page.lock().unwrap_or_else(PoisonError::into_inner);
        let Err(error) = page.tell_of_gap().and_then(|()| page.write(&line)) else {
            page.has_warned = false;
            return;
        };
        let (calls, from) = page.lost.unwrap_or((0, began));
        page.lost = Some((calls + 1, from));
        if !std::mem::replace(&mut page.has_warned, true) {
            drop(page);
            (book.warn)(&format!("calls are no longer written down: {error}"));
        }
    }
}

impl Book {
    fn line(&self, entry: Entry) -> Line {
        let plain = |text: &str, max| String::from(Shown::line(&self.redactor.text(text), max));
        let (mcp_server, capability) = match &entry.provider {
            Provider::Server(name) => (Some(plain(name, MAX_NAME)), None),
            Provider::Capability(name) => (None, Some(plain(name, MAX_NAME))),
        };
        Line {
            r#type: "tool",
            timestamp: humantime::format_rfc3339_millis(entry.began).to_string(),
            status: if entry.error.is_none() { "ok" } else { "failed" },
            latency: (entry.latency.as_secs_f64() * 1e6).round() / 1e3,
            characters_in: entry.characters_in,
            characters_out: entry.characters_out,
            mcp_server,
            capability,
            command: plain(&entry.command, MAX_NAME),
            function_id: entry.function_id,
            caller: entry.caller.map(|caller| plain(&caller, MAX_NAME)),
            error: entry.error.map(|error| plain(&error, MAX_ERROR)),
        }
    }
}

impl Page {
    /// Writes how many calls are missing, if any are.
    fn tell_of_gap(&mut self) -> io::Result<()> {
        let Some((calls, from)) = self.lost else { return Ok(()) };
        let time = |time| humantime::format_rfc3339_millis(time).to_string();
        let gap = GapLine { r#type: "gap", timestamp: time(SystemTime::now()), from: time(from), calls };
        self.write(&serde_json::to_string(&gap)?)?;
        self.lost = None;
        Ok(())
    }

    /// One write of the whole line, so that lines of other processes stay apart from it.
    fn write(&mut self, line: &str) -> io::Result<()> {
        let line = if self.is_torn { format!("\n{line}\n") } else { format!("{line}\n") };
        let written = loop {
            match self.file.write(line.as_bytes()) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                result => break result?,
            }
        };
        self.is_torn = written < line.len() && (written > 0 || self.is_torn);
        if written < line.len() { Err(io::Error::from(ErrorKind::StorageFull)) } else { Ok(()) }
    }
}

impl fmt::Debug for Accounting {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Accounting").field(&self.0.is_some()).finish()
    }
}

#[cfg(test)]
#[path = "accounting_tests.rs"]
mod tests;
