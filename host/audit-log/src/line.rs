//! Line format: `{"seq":n,"time":"…","prev":"…","entry":…,"hash":"…"}`. The hash is the SHA-256 of the line without its
//! last member, byte for byte, so a line has exactly one valid spelling.

use crate::key::Key;
use data_encoding::HEXLOWER;
use ring::digest::{Context, SHA256, digest};
use serde_json::{Value, json};

/// Longest entry, in bytes of JSON. A longer one is written as its hash and length.
pub const MAX_ENTRY: usize = 64 << 10;

/// Longest line. The frame around an entry takes less than 256 bytes, and so does the name of the host.
pub(crate) const MAX_LINE: usize = MAX_ENTRY + 512;

/// Deepest nesting of an entry. JSON parsers often stop at 128, and the line adds one level.
const MAX_DEPTH: usize = 100;

const HASH_DIGITS: usize = 64;

/// Text before and after the hash of a line.
const BEFORE_HASH: &[u8] = b",\"hash\":\"";
const AFTER_HASH: &[u8] = b"\"}";

/// The number of a log's first file.
pub(crate) const FIRST_FILE: u64 = 1;

/// Position between two lines: what precedes it, and the hash that the next line continues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    /// The number of its file.
    pub(crate) file: u64,
    /// Lines before it, in all files.
    pub(crate) count: u64,
    /// Bytes before it, in this file.
    pub(crate) bytes: u64,
    /// Hash of the line before it, in lower-case hex.
    pub(crate) hash: String,
}

impl Position {
    /// Returns the start of the log of a key.
    pub(crate) fn start(key: &Key) -> Position {
        Position { file: FIRST_FILE, count: 0, bytes: 0, hash: key.start() }
    }

    /// Returns the start of the next file, which continues the chain.
    pub(crate) fn next_file(&self) -> Position {
        Position { file: self.file.saturating_add(1), bytes: 0, ..self.clone() }
    }

    /// Returns the number of the next line.
    pub(crate) fn next(&self) -> u64 {
        self.count.saturating_add(1)
    }

    /// Writes the next line.
    pub(crate) fn write(&mut self, time: &str, entry: &str, out: &mut String) {
        let text = format!(r#"{}{time}","prev":"{}","entry":{entry}"#, self.begin(), self.hash);
        let hash = hash_of(text.as_bytes());
        let line = format!("{text},\"hash\":\"{hash}\"}}\n");
        out.push_str(&line);
        self.pass(line.len(), hash);
    }

    /// Checks that a line, without its newline, is the next one, and advances. Returns the text of its entry.
    pub(crate) fn read<'a>(&mut self, line: &'a [u8]) -> Result<&'a [u8], String> {
        const BROKEN: &str = "is not a line of this log";
        if !line.starts_with(self.begin().as_bytes()) {
            return Err(self.not_next(line));
        }
        let length = line.len().checked_sub(BEFORE_HASH.len() + HASH_DIGITS + AFTER_HASH.len()).ok_or(BROKEN)?;
        let (text, end) = line.split_at_checked(length).ok_or(BROKEN)?;
        let hash = hash_of(text);
        if end.strip_prefix(BEFORE_HASH).and_then(|end| end.strip_suffix(AFTER_HASH)) != Some(hash.as_bytes()) {
            return Err("was changed: its hash does not match".to_owned());
        }
        let rest = text.strip_prefix(self.begin().as_bytes()).ok_or(BROKEN)?;
        let time = rest.iter().position(|byte| *byte == b'"').ok_or(BROKEN)?;
        let prev = rest.get(time..).and_then(|rest| rest.strip_prefix(b"\",\"prev\":\"")).ok_or(BROKEN)?;
        let Some(rest) = prev.strip_prefix(self.hash.as_bytes()) else {
            return Err(match self.count {
                0 => "belongs to a log of another key".to_owned(),
                count => format!("does not continue line {count}: one of the two was changed"),
            });
        };
        let entry = rest.strip_prefix(b"\",\"entry\":").ok_or(BROKEN)?;
        self.pass(line.len() + 1, hash);
        Ok(entry)
    }

    /// Returns the beginning of the next line, up to its time.
    pub(crate) fn begin(&self) -> String {
        format!(r#"{{"seq":{},"time":""#, self.next())
    }

    /// Returns the end of the line before this position.
    pub(crate) fn end(&self) -> Vec<u8> {
        [BEFORE_HASH, self.hash.as_bytes(), AFTER_HASH, b"\n"].concat()
    }

    /// Advances past a line of this length, newline included.
    fn pass(&mut self, length: usize, hash: String) {
        self.count = self.next();
        self.bytes = self.bytes.saturating_add(length as u64);
        self.hash = hash;
    }

    fn not_next(&self, line: &[u8]) -> String {
        let digits = line.strip_prefix(b"{\"seq\":").unwrap_or_default();
        let digits: String =
            digits.iter().take(20).take_while(|byte| byte.is_ascii_digit()).map(|byte| char::from(*byte)).collect();
        match digits.parse::<u64>() {
            Ok(number) if number != self.next() => {
                format!("has the number {number}: lines were removed, added or reordered")
            }
            _ => "is not a line of this log".to_owned(),
        }
    }
}

/// Returns the text of an entry, or its hash and length if it is too long or too deep.
pub(crate) fn entry_text(entry: &Value) -> String {
    let text = entry.to_string();
    if text.len() <= MAX_ENTRY && !is_deeper(entry, MAX_DEPTH) {
        return text;
    }
    let hash = HEXLOWER.encode(digest(&SHA256, text.as_bytes()).as_ref());
    json!({ "type": "omitted", "bytes": text.len(), "sha256": hash }).to_string()
}

/// Hashes a line's text up to its last member.
fn hash_of(text: &[u8]) -> String {
    let mut context = Context::new(&SHA256);
    context.update(text);
    context.update(b"}");
    HEXLOWER.encode(context.finish().as_ref())
}

fn is_deeper(value: &Value, levels: usize) -> bool {
    let mut items: Box<dyn Iterator<Item = &Value>> = match value {
        Value::Array(items) => Box::new(items.iter()),
        Value::Object(members) => Box::new(members.values()),
        _ => return false,
    };
    match levels.checked_sub(1) {
        Some(levels) => items.any(|item| is_deeper(item, levels)),
        None => true,
    }
}
