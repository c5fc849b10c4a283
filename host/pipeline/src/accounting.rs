//! Usage log: one JSON line per call and per request to a model, with latency and sizes, appended to a file that the
//! operator names.
//!
//! - `model`: lines of an agent: requests to models, and results that its context guard refused

mod model;

pub use model::{GuardEntry, ModelEntry};

use crate::OPERATOR_TARGET;
use agent_spaces_private_fs::folder;
use agent_spaces_secrets::Redactor;
use agent_spaces_types::identity::FunctionId;
use agent_spaces_types::shown::Shown;
use serde::Serialize;
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

/// Maximum length of an error text, in characters.
const MAX_ERROR: usize = 500;

/// Maximum length of a name, in characters.
const MAX_NAME: usize = 200;

/// Usage of one call.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Start time.
    pub began: SystemTime,
    /// Duration of the call.
    pub latency: Duration,
    /// Characters of JSON sent.
    pub characters_in: usize,
    /// Characters of JSON received.
    pub characters_out: usize,
    /// Provider that answers: a capability, or an MCP server by its name in the configuration.
    pub provider: Provider,
    /// Name of the function at its provider.
    pub command: String,
    /// Identity of the function, if known.
    pub function_id: Option<FunctionId>,
    /// Name of the caller, if they have one.
    pub caller: Option<String>,
    /// Error message, if the call failed.
    pub error: Option<String>,
}

/// Provider of a call, as the log names it.
#[derive(Clone, Debug)]
pub enum Provider {
    /// MCP server, by its name in the configuration.
    Server(String),
    /// Any other provider, by the name of its capability.
    Capability(String),
}

/// Usage log; disabled by default. Clones share the file.
#[derive(Clone, Default)]
pub struct Accounting(Option<Arc<Writer>>);

/// An enabled usage log.
struct Writer {
    redactor: Redactor,
    log: Mutex<LogFile>,
}

/// The open file and its state.
struct LogFile {
    file: File,
    /// True if the last line was written in part: the next write starts a new line first.
    has_partial_line: bool,
    has_warned: bool,
    /// Number of calls and requests lost since the last successful write, and the start time of the first.
    lost: Option<(u64, SystemTime)>,
}

/// Line that reports how many calls and requests before it are missing.
#[derive(Serialize)]
struct GapLine {
    r#type: &'static str,
    timestamp: String,
    from: String,
    calls: u64,
}

/// Line of one call.
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

/// Milliseconds, with three digits behind the point.
fn milliseconds(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 1e6).round() / 1e3
}

impl Accounting {
    /// Opens a usage log that appends to this file, created with its parent folders and readable by its owner alone.
    /// The operator is warned once when writing begins to fail: see [`OPERATOR_TARGET`].
    pub fn to_file(path: &Path, redactor: Redactor) -> io::Result<Self> {
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            folder::make(folder)?;
        }
        // Writing to a pipe could block, and a symlink may point to a file that another user chose.
        let kind = path.symlink_metadata().map(|known| known.file_type());
        if kind.is_ok_and(|kind| kind.is_symlink() || kind.is_fifo() || kind.is_socket()) {
            return Err(io::Error::new(ErrorKind::InvalidInput, "not a regular file, but a link, a pipe or a socket"));
        }
        let file = OpenOptions::new().append(true).create(true).mode(0o600).open(path)?;
        let log = Mutex::new(LogFile { file, has_partial_line: false, has_warned: false, lost: None });
        Ok(Accounting(Some(Arc::new(Writer { redactor, log }))))
    }

    /// Returns true if the log is enabled; callers skip measuring otherwise.
    pub fn is_enabled(&self) -> bool {
        self.0.is_some()
    }

    /// Appends a call. A write error does not fail the call: the next successful write is preceded by a line that reports
    /// how many calls are missing.
    pub fn record(&self, entry: Entry) {
        let began = entry.began;
        self.append(began, |writer| writer.line(entry));
    }

    /// Appends a line, unless the log is disabled.
    fn append<L: Serialize>(&self, began: SystemTime, line: impl FnOnce(&Writer) -> L) {
        let Some(writer) = &self.0 else { return };
        let Ok(line) = serde_json::to_string(&line(writer)) else { return };
        let mut log = writer.log.lock().unwrap_or_else(PoisonError::into_inner);
        let Err(error) = log.write_gap().and_then(|()| log.write(&line)) else {
            log.has_warned = false;
            return;
        };
        let (calls, from) = log.lost.unwrap_or((0, began));
        log.lost = Some((calls + 1, from));
        if !std::mem::replace(&mut log.has_warned, true) {
            drop(log);
            tracing::warn!(target: OPERATOR_TARGET, "calls are no longer recorded: {error}");
        }
    }
}

impl Writer {
    /// Text from outside: redacted, then shortened to a line of at most `max` characters.
    fn plain(&self, text: &str, max: usize) -> String {
        String::from(Shown::line(&self.redactor.text(text), max))
    }

    fn line(&self, entry: Entry) -> Line {
        let plain = |text: &str, max| self.plain(text, max);
        let (mcp_server, capability) = match &entry.provider {
            Provider::Server(name) => (Some(plain(name, MAX_NAME)), None),
            Provider::Capability(name) => (None, Some(plain(name, MAX_NAME))),
        };
        Line {
            r#type: "tool",
            timestamp: humantime::format_rfc3339_millis(entry.began).to_string(),
            status: if entry.error.is_none() { "ok" } else { "failed" },
            latency: milliseconds(entry.latency),
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

impl LogFile {
    /// Writes the number of missing calls, if there are any.
    fn write_gap(&mut self) -> io::Result<()> {
        let Some((calls, from)) = self.lost else { return Ok(()) };
        let time = |time| humantime::format_rfc3339_millis(time).to_string();
        let gap = GapLine { r#type: "gap", timestamp: time(SystemTime::now()), from: time(from), calls };
        self.write(&serde_json::to_string(&gap)?)?;
        self.lost = None;
        Ok(())
    }

    /// Writes the line in one `write`, so that lines of several processes do not interleave.
    fn write(&mut self, line: &str) -> io::Result<()> {
        let line = if self.has_partial_line { format!("\n{line}\n") } else { format!("{line}\n") };
        let written = loop {
            match self.file.write(line.as_bytes()) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                result => break result?,
            }
        };
        self.has_partial_line = written < line.len() && (written > 0 || self.has_partial_line);
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
