//! Portable form of one run: JSON Lines that any store writes and reads.
//!
//! ```text
//! {"header":{"format":"agent-spaces-run","version":1}}
//! {"run":{"id":"run_…",…}}
//! {"entry":{"seq":0,"kind":"…","at_ms":0,"body":"…"}}
//! {"blob":{"hash":"…","base64":"…"}}
//! {"approval":{…}}
//! {"signal":"…"}
//! {"end":{"blake3":"…"}}
//! ```
//! The last line has the hash of all lines before it, so a truncated document is refused.

use crate::approval::ApprovalRow;
use crate::content::hash;
use crate::entry::Stored;
use crate::error::StoreError;
use crate::run::{RunRow, Status};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

const FORMAT: &str = "agent-spaces-run";
const VERSION: u32 = 1;

/// Key that an imported, unfinished run waits for, and kind of the entry that the import appends to it.
pub const IMPORTED: &str = "imported";

/// Longest id and key. Ours are below 100 bytes; a document may have any.
const MAX_NAME: usize = 256;

/// Everything about one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportedRun {
    /// Its row.
    pub run: RunRow,
    /// All entries.
    pub entries: Vec<Stored>,
    /// Blobs that it keeps.
    pub blobs: Vec<Vec<u8>>,
    /// Its requests for approval.
    pub approvals: Vec<ApprovalRow>,
    /// Keys that were signalled.
    pub signals: Vec<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    format: String,
    version: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Blob {
    hash: String,
    base64: String,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
enum Line {
    Header(Header),
    Run(Box<RunRow>),
    Entry(Stored),
    Blob(Blob),
    Approval(ApprovalRow),
    Signal(String),
    End { blake3: String },
}

impl ExportedRun {
    /// Returns its text.
    pub fn to_text(&self) -> Result<String, StoreError> {
        let mut text = String::new();
        let header = Header { format: FORMAT.to_owned(), version: VERSION };
        push(&mut text, &Line::Header(header))?;
        push(&mut text, &Line::Run(Box::new(self.run.clone())))?;
        for entry in &self.entries {
            push(&mut text, &Line::Entry(entry.clone()))?;
        }
        for blob in &self.blobs {
            push(&mut text, &Line::Blob(Blob { hash: hash(blob), base64: STANDARD.encode(blob) }))?;
        }
        for approval in &self.approvals {
            push(&mut text, &Line::Approval(approval.clone()))?;
        }
        for signal in &self.signals {
            push(&mut text, &Line::Signal(signal.clone()))?;
        }
        let blake3 = hash(text.as_bytes());
        push(&mut text, &Line::End { blake3 })?;
        Ok(text)
    }

    /// Reads a document and checks its hashes and that its parts belong together.
    pub fn parse(text: &str) -> Result<ExportedRun, StoreError> {
        let mut lines = text.lines().enumerate().map(|(index, line)| (index + 1, line));
        let header = lines.next().map(|(number, line)| read(number, line)).transpose()?;
        match header {
            Some(Line::Header(header)) if header.format == FORMAT && header.version <= VERSION => {}
            Some(Line::Header(header)) if header.format == FORMAT => {
                return Err(StoreError::Newer { found: header.version, known: VERSION });
            }
            _ => return Err(invalid("line 1 is not the header of an exported run")),
        }
        let Some(Line::Run(run)) = lines.next().map(|(number, line)| read(number, line)).transpose()? else {
            return Err(invalid("line 2 is not a run"));
        };
        let mut document =
            ExportedRun { run: *run, entries: vec![], blobs: vec![], approvals: vec![], signals: vec![] };
        while let Some((number, line)) = lines.next() {
            match read(number, line)? {
                Line::Entry(entry) => document.entries.push(entry),
                Line::Blob(blob) => document.blobs.push(decoded(number, &blob)?),
                Line::Approval(approval) => document.approvals.push(approval),
                Line::Signal(key) => document.signals.push(key),
                Line::End { blake3 } => {
                    // The lines are slices of the text.
                    let before = line.as_ptr() as usize - text.as_ptr() as usize;
                    if blake3 != hash(&text.as_bytes()[..before]) {
                        return Err(invalid("the document was changed: its hash differs"));
                    }
                    return match lines.next() {
                        None => document.checked(),
                        Some((number, _)) => Err(invalid(format!("line {number} is after the end"))),
                    };
                }
                Line::Header(_) | Line::Run(_) => return Err(invalid(format!("line {number}: a second run"))),
            }
        }
        Err(invalid("the document is truncated: it has no last line"))
    }

    /// Returns the document as it is to be stored: nobody owns the run, and an unfinished one is marked for good, because
    /// whoever wrote the document chose everything in it.
    pub fn arrived(mut self, now_ms: i64) -> ExportedRun {
        let run = &mut self.run;
        (run.owner, run.lease_until, run.wake_at, run.waits_for) = (None, 0, None, Vec::new());
        if !run.status.is_ended() {
            run.status = Status::Parked;
            run.waits_for = vec![IMPORTED.to_owned()];
            let mark = Stored { seq: run.next_seq, kind: IMPORTED.to_owned(), at_ms: now_ms, body: b"{}".to_vec() };
            run.next_seq += 1;
            run.bytes += (mark.kind.len() + mark.body.len()) as u64;
            self.entries.push(mark);
        }
        self
    }

    fn checked(self) -> Result<ExportedRun, StoreError> {
        let run = &self.run;
        check_name(&run.id)?;
        self.signals.iter().try_for_each(|key| check_name(key))?;
        self.approvals.iter().try_for_each(|approval| check_name(&approval.id))?;
        if run.next_seq != self.entries.len() as u64
            || self.entries.iter().zip(0..).any(|(entry, number)| entry.seq != number)
        {
            return Err(invalid("entries are missing or out of order"));
        }
        let bytes: usize = self.entries.iter().map(|entry| entry.kind.len() + entry.body.len()).sum();
        if run.bytes != bytes as u64 {
            return Err(invalid("the size of the entries is not that of the run"));
        }
        if self.approvals.iter().any(|approval| approval.run != run.id) {
            return Err(invalid("an approval belongs to another run"));
        }
        Ok(self)
    }
}

/// Checks an id or key: not empty, not long, no control characters.
pub fn check_name(name: &str) -> Result<(), StoreError> {
    if !name.is_empty() && name.len() <= MAX_NAME && !name.chars().any(char::is_control) {
        return Ok(());
    }
    let start: String = name.chars().take(40).collect();
    Err(invalid(format!("{start:?} is no id or key: they have 1 to {MAX_NAME} bytes, without control characters")))
}

fn invalid(text: impl Into<String>) -> StoreError {
    StoreError::Invalid(text.into())
}

fn push(text: &mut String, line: &Line) -> Result<(), StoreError> {
    let line = serde_json::to_string(line).map_err(|error| StoreError::Io(error.to_string()))?;
    text.push_str(&line);
    text.push('\n');
    Ok(())
}

fn read(number: usize, line: &str) -> Result<Line, StoreError> {
    serde_json::from_str(line).map_err(|error| invalid(format!("line {number} is not of an exported run: {error}")))
}

fn decoded(number: usize, blob: &Blob) -> Result<Vec<u8>, StoreError> {
    let bytes = STANDARD.decode(&blob.base64).map_err(|error| invalid(format!("line {number}: {error}")))?;
    match hash(&bytes) == blob.hash {
        true => Ok(bytes),
        false => Err(invalid(format!("line {number}: the blob does not have its hash"))),
    }
}
