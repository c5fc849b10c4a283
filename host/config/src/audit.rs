//! Audit log settings (`audit`).

use super::quantity::{read_bytes, read_count, read_duration};
use super::reader::{Node, Result};
use serde_json::Value;
use std::time::Duration;

/// Minimum and maximum file size for rotation: smaller files would be rotated all the time.
const FILE_BYTES: (u64, u64) = (64 << 10, 1 << 40);

/// Minimum and maximum log budget of a run: its start, its end and a few calls must fit.
const RUN_BYTES: (u64, u64) = (4 << 10, 1 << 40);

/// Maximum of `rotate.keep`, and of `perRun.lines`.
const MAX_KEEP: u32 = 100_000;
const MAX_LINES: u64 = 1_000_000_000;

/// Default interval between copies of the signed heads.
const EVERY: Duration = Duration::from_secs(60);

/// Settings of the audit log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Audit {
    /// Mode. By default the log is written, and `mcp serve` requires it.
    pub mode: Option<AuditSetting>,
    /// Maximum delay before entries are synced to disk; zero syncs every entry.
    pub sync: Option<Duration>,
    /// File size at which the log is rotated, in bytes.
    pub file_bytes: Option<u64>,
    /// Number of rotated files to keep; all by default.
    pub keep: Option<u32>,
    /// Maximum bytes of one run.
    pub run_bytes: Option<u64>,
    /// Maximum lines of one run.
    pub run_lines: Option<u64>,
    /// Further destinations of the signed heads.
    pub heads: Option<AuditHeads>,
}

/// Mode of the audit log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuditSetting {
    /// The log is not written.
    Off,
    /// Calls proceed even if the log cannot be written.
    BestEffort,
    /// Calls are refused while the log cannot be written.
    Required,
}

/// Destinations of copies of the signed heads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditHeads {
    /// File to append to.
    pub file: Option<String>,
    /// Program and arguments to run.
    pub command: Vec<String>,
    /// Interval between copies.
    pub every: Duration,
}

const MODES: [(&str, AuditSetting); 3] =
    [("off", AuditSetting::Off), ("bestEffort", AuditSetting::BestEffort), ("required", AuditSetting::Required)];

impl Audit {
    pub(super) fn read(node: Node<'_>) -> Result<Audit> {
        match node.value {
            Value::Bool(is_on) => Ok(Audit { mode: (!is_on).then_some(AuditSetting::Off), ..Audit::default() }),
            Value::String(_) => Ok(Audit { mode: Some(node.choice("audit mode", &MODES)?), ..Audit::default() }),
            _ => Audit::read_object(node),
        }
    }

    fn read_object(node: Node<'_>) -> Result<Audit> {
        let keys = ["mode", "sync", "rotate", "perRun", "heads"];
        let object = node.object("`true`, `false`, a mode, or an object of settings", &keys)?;
        let mut audit = Audit {
            mode: object.read("mode", |node| node.choice("audit mode", &MODES))?,
            sync: object.read("sync", read_sync)?,
            heads: object.read("heads", AuditHeads::read)?,
            ..Audit::default()
        };
        if let Some(node) = object.get("rotate") {
            let object = node.object("an object with `bytes` and `keep`", &["bytes", "keep"])?;
            audit.file_bytes = object.read("bytes", |node| read_bytes(node, FILE_BYTES.0, FILE_BYTES.1))?;
            audit.keep = object.read("keep", |node| read_count(node, MAX_KEEP))?;
        }
        if let Some(node) = object.get("perRun") {
            let object = node.object("an object with `bytes` and `lines`", &["bytes", "lines"])?;
            audit.run_bytes = object.read("bytes", |node| read_bytes(node, RUN_BYTES.0, RUN_BYTES.1))?;
            audit.run_lines = object.read("lines", |node| read_count(node, MAX_LINES))?;
        }
        Ok(audit)
    }
}

/// Reads `"always"` or an interval.
fn read_sync(node: Node<'_>) -> Result<Duration> {
    match node.value.as_str() {
        Some("always") => Ok(Duration::ZERO),
        _ => read_duration(node),
    }
}

impl AuditHeads {
    fn read(node: Node<'_>) -> Result<AuditHeads> {
        let object = node.object("an object with `file`, `command` and `every`", &["file", "command", "every"])?;
        let file = object.read("file", |node| node.filled_text("a path").map(str::to_owned))?;
        let word = |node: Node<'_>| node.text("a text").map(str::to_owned);
        let command = object.read("command", |node| node.list("a program and its arguments", word))?;
        let every = object.read("every", read_duration)?.unwrap_or(EVERY);
        if command.as_ref().is_some_and(|command| command.first().is_none_or(String::is_empty)) {
            return Err(node.error("`command` names no program").with_fix("write it first, such as [\"logger\"]"));
        }
        if file.is_none() && command.is_none() {
            return Err(node.error("heads have no destination").with_fix("name a `file`, a `command` or both"));
        }
        Ok(AuditHeads { file, command: command.unwrap_or_default(), every })
    }
}

#[cfg(test)]
mod tests {
    use crate::audit::{Audit, AuditHeads, AuditSetting};
    use crate::from_value;
    use serde_json::{Value, json};
    use std::time::Duration;

    fn read(audit: Value) -> Result<Audit, String> {
        let config = from_value("f", json!({ "audit": audit }));
        config.map(|config| config.audit.unwrap()).map_err(|error| error.to_string())
    }

    #[test]
    fn the_mode_is_a_boolean_a_string_or_a_member() {
        assert_eq!(read(json!(true)), Ok(Audit::default()));
        assert_eq!(read(json!(false)).unwrap().mode, Some(AuditSetting::Off));
        assert_eq!(read(json!("required")).unwrap().mode, Some(AuditSetting::Required));
        assert_eq!(read(json!({ "mode": "bestEffort" })).unwrap().mode, Some(AuditSetting::BestEffort));
        assert!(read(json!("requird")).unwrap_err().contains("required"));
        assert!(read(json!(1)).unwrap_err().contains("$.audit"));
    }

    #[test]
    fn all_settings_are_read_and_invalid_ones_are_refused() {
        let audit = read(json!({
            "mode": "required", "sync": "always", "rotate": { "bytes": "16MiB", "keep": 8 },
            "perRun": { "bytes": "1MiB", "lines": 1000 },
            "heads": { "file": "/mnt/usb/heads.jsonl", "command": ["logger", "-t", "audit"], "every": "5min" },
        }));
        let heads = AuditHeads {
            file: Some("/mnt/usb/heads.jsonl".into()),
            command: ["logger", "-t", "audit"].map(String::from).to_vec(),
            every: Duration::from_secs(300),
        };
        let expected = Audit {
            mode: Some(AuditSetting::Required),
            sync: Some(Duration::ZERO),
            file_bytes: Some(16 << 20),
            keep: Some(8),
            run_bytes: Some(1 << 20),
            run_lines: Some(1000),
            heads: Some(heads),
        };
        assert_eq!(audit, Ok(expected));
        for slip in [
            json!({ "modes": "off" }),
            json!({ "sync": "0s" }),
            json!({ "rotate": { "bytes": 10 } }),
            json!({ "rotate": { "keep": 0 } }),
            json!({ "perRun": { "bytes": 1 } }),
            json!({ "heads": {} }),
            json!({ "heads": { "every": "1min" } }),
            json!({ "heads": { "command": [] } }),
            json!({ "heads": { "url": "https://x" } }),
        ] {
            assert!(read(slip.clone()).is_err(), "{slip}");
        }
    }
}
