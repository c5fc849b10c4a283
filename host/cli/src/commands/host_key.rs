//! Key of hosts that share a store: the variable `AGENT_SPACES_HOST_KEY`, or the file that it names.

use super::failure::Failure;
use super::known_secrets;
use agent_spaces::Code;
use agent_spaces::durable::host_key::HostKey;
use agent_spaces_mcp::secrets::Secret;
use std::fs::File;
use std::io::Read as _;
use std::path::PathBuf;

/// Environment variable with the key, or with `file:PATH`.
pub(super) const VARIABLE: &str = "AGENT_SPACES_HOST_KEY";

/// Note for hosts that share a store without a key.
pub(super) const MISSING: &str = "hosts of this store have no key in common: an approval counts only on the host where it \
                                  was given; set AGENT_SPACES_HOST_KEY to the same secret on all of them";

/// Most bytes of a file with a key.
const MAX_FILE: u64 = 4096;

/// Returns the file that has the key, if the variable names one.
pub(super) fn file() -> Option<PathBuf> {
    std::env::var(VARIABLE).ok()?.strip_prefix("file:").map(PathBuf::from)
}

/// Reads the key; `None` if the variable is not set.
pub(super) fn read() -> Result<Option<HostKey>, Failure> {
    match std::env::var(VARIABLE) {
        Ok(text) if !text.is_empty() => parse(&text).map(Some),
        _ => Ok(None),
    }
}

fn parse(text: &str) -> Result<HostKey, Failure> {
    let hint = "make one with `openssl rand -base64 32`, the same for all hosts of a store";
    let text = match text.strip_prefix("file:") {
        None => text.to_owned(),
        Some(path) => {
            let mut text = String::new();
            let read = File::open(path).and_then(|file| file.take(MAX_FILE).read_to_string(&mut text));
            if let Err(error) = read {
                let message = format!("the key of hosts, {path}: {error}");
                return Err(Failure::new(Code::ConfigFile, message, Some(hint)));
            }
            text
        }
    };
    // A script or a server may print it.
    known_secrets::redactor().add(&Secret::new(text.trim()));
    HostKey::parse(&text).map_err(|error| Failure::new(Code::ConfigUsage, format!("{VARIABLE}: {error}"), Some(hint)))
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn a_key_is_in_a_file_or_written_out() {
        let folder = tempfile::tempdir().unwrap();
        let (file, text) = (folder.path().join("key"), "k".repeat(44));
        std::fs::write(&file, format!("{text}\n")).unwrap();
        let token = |text: &str| parse(text).ok().unwrap().approver_token().unwrap().key();
        assert_eq!(token(&format!("file:{}", file.display())), token(&text));
        for wrong in ["s3cret-word", "file:/no/such/file"] {
            let failure = parse(wrong).err().unwrap();
            assert!(!failure.message().contains("s3cret"), "{}", failure.message());
        }
    }
}
