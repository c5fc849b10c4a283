//! The file `capabilities.lock`.

use super::server::LockedServer;
use agent_spaces_types::hidden::is_hidden;
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::{self, Write};

/// Size limit of the file, in bytes.
pub const MAX_LOCK: usize = 32 << 20;
const VERSION: u64 = 1;

/// Lock file: entries by the server's name in the configuration.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lock {
    /// The servers.
    pub servers: BTreeMap<String, LockedServer>,
}

/// Error of reading or writing the lock file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}:{column}: {message}; {fix}")]
pub struct LockError {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    /// The fault.
    pub message: String,
    /// The fix.
    pub fix: &'static str,
}

#[derive(Deserialize)]
#[serde(expecting = "an object with \"version\" and \"servers\"")]
struct Header {
    version: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written<Servers> {
    version: u64,
    servers: Servers,
}

impl Lock {
    /// Parses what [`to_text`](Lock::to_text) wrote. `file` is the name shown in errors.
    pub fn from_text(file: &str, text: &str) -> Result<Lock, LockError> {
        let failed = |line: usize, column: usize, message: String, fix| {
            // The parser reports 0 for empty input.
            LockError { file: file.to_owned(), line: line.max(1), column: column.max(1), message, fix }
        };
        if text.len() > MAX_LOCK {
            let message = format!("the file is larger than {MAX_LOCK} bytes");
            return Err(failed(1, 1, message, "use fewer servers, or servers with fewer tools"));
        }
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        if let Some(line) = text.lines().position(|line| line.starts_with("<<<<<<< ")) {
            let message = "unresolved merge conflict".to_owned();
            return Err(failed(line + 1, 1, message, "keep one of the two versions, then accept the changes"));
        }
        let wrong = |error: serde_json::Error| {
            let message = error.to_string();
            let message = message.rsplit_once(" at line ").map_or(message.as_str(), |(message, _)| message);
            let fix = "restore the file from version control, or delete it and accept the servers again";
            failed(error.line(), error.column(), message.to_owned(), fix)
        };
        let header: Header = serde_json::from_str(text).map_err(wrong)?;
        if header.version != VERSION {
            let message = format!("unsupported file version {} (this program supports {VERSION})", header.version);
            return Err(failed(
                1,
                1,
                message,
                "use the program that wrote it, or delete it and accept the servers again",
            ));
        }
        let written: Written<Servers> = serde_json::from_str(text).map_err(wrong)?;
        Ok(Lock { servers: written.servers.0 })
    }

    /// Returns the text of the file: JSON in a stable order, with invisible characters escaped.
    pub fn to_text(&self) -> Result<String, LockError> {
        let failed =
            |message: String, fix| LockError { file: "capabilities.lock".to_owned(), line: 1, column: 1, message, fix };
        let written = Written { version: VERSION, servers: &self.servers };
        let text = serde_json::to_string_pretty(&written)
            .map_err(|error| failed(error.to_string(), "this is a bug in agent-spaces: please report it"))?;
        let text = visible(&text) + "\n";
        if text.len() > MAX_LOCK {
            let message = format!("the new contents take more than {MAX_LOCK} bytes");
            return Err(failed(message, "use fewer servers, or servers with fewer tools"));
        }
        Ok(text)
    }
}

/// Escapes invisible and bidirectional control characters, because people review this file. Outside of strings JSON has
/// none of these characters but the line break, which inside of strings is escaped already.
fn visible(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for letter in json.chars() {
        if letter != '\n' && is_hidden(letter) {
            for unit in letter.encode_utf16(&mut [0; 2]) {
                // Writing to a string cannot fail.
                let _ = write!(text, "\\u{unit:04x}");
            }
        } else {
            text.push(letter);
        }
    }
    text
}

/// Servers by name, without duplicates: a merge may produce one, and an entry would be lost.
struct Servers(BTreeMap<String, LockedServer>);

impl<'de> Deserialize<'de> for Servers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Servers, D::Error> {
        deserializer.deserialize_map(ServersReader).map(Servers)
    }
}

struct ServersReader;

impl<'de> Visitor<'de> for ServersReader {
    type Value = BTreeMap<String, LockedServer>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object of servers")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        let mut servers = BTreeMap::new();
        while let Some(name) = members.next_key::<String>()? {
            if servers.contains_key(&name) {
                return Err(A::Error::custom(format_args!("duplicate server {name:?}")));
            }
            servers.insert(name, members.next_value()?);
        }
        Ok(servers)
    }
}

#[cfg(test)]
#[path = "file_tests.rs"]
mod tests;
