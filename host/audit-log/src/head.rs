//! Signed head: a position in the log, such as its end.

use crate::key::Key;
use crate::line::{FIRST_FILE, Position};
use data_encoding::HEXLOWER;
use serde::Deserialize;

/// Length to which heads are padded with spaces: more than the contents ever take, and less than a page for
/// `files::overwrite`.
const LENGTH: usize = 511;

/// Kind of head. It is part of the signed message, so that one cannot replace the other.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    /// `head.json`, never ahead of what is on disk.
    Durable,
    /// `live.json`, signed at every append.
    Live,
}

/// A signed position in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) position: Position,
    /// Boot id at signing, if known.
    pub(crate) boot: Option<String>,
}

/// Serialized head.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    /// Omitted while the log has only its first file.
    #[serde(default = "first_file")]
    file: u64,
    count: u64,
    bytes: u64,
    hash: String,
    boot: String,
    signature: String,
}

impl Head {
    /// Signs the head. All texts have one length, so that one can overwrite another.
    pub(crate) fn sign(&self, kind: Kind, key: &Key) -> String {
        self.text(&HEXLOWER.encode(&key.sign(&self.message(kind))))
    }

    /// Parses a head, if it was signed with this key and is byte-for-byte unchanged.
    pub(crate) fn read(bytes: &[u8], kind: Kind, key: &Key) -> Option<Head> {
        let form: Form = serde_json::from_slice(bytes).ok()?;
        let position = Position { file: form.file, count: form.count, bytes: form.bytes, hash: form.hash };
        let head = Head { position, boot: Some(form.boot).filter(|boot| !boot.is_empty()) };
        let is_signed = key.is_signed(&head.message(kind), &HEXLOWER.decode(form.signature.as_bytes()).ok()?);
        // JSON has many spellings of a value; only ours is accepted.
        (is_signed && head.text(&form.signature).as_bytes() == bytes).then_some(head)
    }

    fn message(&self, kind: Kind) -> Vec<u8> {
        let kind = match kind {
            Kind::Durable => "head",
            Kind::Live => "live",
        };
        let (Position { file, count, bytes, hash }, boot) = (&self.position, self.boot());
        let file = if *file == FIRST_FILE { String::new() } else { format!("file {file}\n") };
        format!("agent-spaces audit {kind}\n{file}{count}\n{bytes}\n{hash}\n{boot}\n").into_bytes()
    }

    fn text(&self, signature: &str) -> String {
        let (Position { file, count, bytes, hash }, boot) = (&self.position, self.boot());
        let file = if *file == FIRST_FILE { String::new() } else { format!(r#""file":{file},"#) };
        let text = format!(
            r#"{{{file}"count":{count},"bytes":{bytes},"hash":"{hash}","boot":"{boot}","signature":"{signature}"}}"#
        );
        format!("{text:<LENGTH$}\n")
    }

    fn boot(&self) -> &str {
        self.boot.as_deref().unwrap_or_default()
    }
}

fn first_file() -> u64 {
    FIRST_FILE
}
