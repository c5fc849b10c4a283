//! What is signed: a place in the log, such as its end.

use crate::key::Key;
use crate::line::{FIRST_FILE, Position, hex};
use serde::Deserialize;

/// How long a head is made with spaces: more than its numbers, hash, boot and signature ever take, and less than a page
/// for `files::overwrite`.
const LENGTH: usize = 511;

/// Which of the two heads it is. It is signed with the rest, so that one cannot stand in for the other.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    /// `head.json`, never ahead of what is on the disk.
    Durable,
    /// `live.json`, which signs every append at once.
    Live,
}

/// A signed place in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) position: Position,
    /// The start of the machine in which it was signed, where that is known.
    pub(crate) boot: Option<String>,
}

/// A head as it is read.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    /// Left out of the head of a log that has only its first file.
    #[serde(default = "first_file")]
    file: u64,
    count: u64,
    bytes: u64,
    hash: String,
    boot: String,
    signature: String,
}

impl Head {
    /// The head as text, signed. All are of one length, so that one can be written over another.
    pub(crate) fn sign(&self, kind: Kind, key: &Key) -> String {
        self.text(&hex(&key.sign(&self.message(kind))))
    }

    /// A head that was signed with this key and not changed in any byte since.
    pub(crate) fn read(bytes: &[u8], kind: Kind, key: &Key) -> Option<Head> {
        let form: Form = serde_json::from_slice(bytes).ok()?;
        let position = Position { file: form.file, count: form.count, bytes: form.bytes, hash: form.hash };
        let head = Head { position, boot: Some(form.boot).filter(|boot| !boot.is_empty()) };
        let is_signed = key.is_signed(&head.message(kind), &unhex(&form.signature)?);
        // A JSON value has many texts, and only one of them is ours.
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

/// The bytes of hex in lower case.
pub(crate) fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).filter(|_| !byte.is_ascii_uppercase());
    let pairs = text.as_bytes().chunks(2).map(|pair| match *pair {
        [high, low] => u8::try_from(digit(high)? * 16 + digit(low)?).ok(),
        _ => None,
    });
    pairs.collect()
}
