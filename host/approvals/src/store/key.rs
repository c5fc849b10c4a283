//! Public key that verifies decisions.

use super::error::StoreError;
use super::folder::{Folder, Rights};
use crate::times;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{ED25519, UnparsedPublicKey};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::time::SystemTime;

/// Format version of the file; other versions are refused.
const VERSION: u32 = 1;
/// The largest file that is read.
const MAX_FILE: usize = 4 << 10;

/// Public key of an [`ApproverToken`](super::ApproverToken): verifies decisions, cannot make them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApproverKey(Vec<u8>);

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Document {
    version: u32,
    public_key: String,
    #[serde(with = "times")]
    created: SystemTime,
}

impl ApproverKey {
    /// Loads the key from this file, `approver.json` in the user's state folder; `None` if there is none.
    pub fn load(file: &Path) -> Result<Option<ApproverKey>, StoreError> {
        let (folder, name) = split(file)?;
        if !folder.try_exists().is_ok_and(|is_there| is_there) {
            return Ok(None);
        }
        let folder = Folder::open(folder, Rights::Unshared)?;
        let Some(bytes) = folder.read(name, MAX_FILE)? else { return Ok(None) };
        let malformed = |message: String| StoreError::Malformed { path: file.to_owned(), message };
        let document: Document = serde_json::from_slice(&bytes).map_err(|error| malformed(error.to_string()))?;
        if document.version != VERSION {
            return Err(malformed(format!("its version is {}", document.version)));
        }
        let key =
            ApproverKey::parse(&document.public_key).ok_or_else(|| malformed("it has no public key".to_owned()))?;
        Ok(Some(key))
    }

    /// Saves the key to this file, replacing an earlier one, whose token then no longer counts.
    pub fn save(&self, file: &Path) -> Result<(), StoreError> {
        let (folder, name) = split(file)?;
        let document = Document { version: VERSION, public_key: self.text(), created: SystemTime::now() };
        let malformed =
            |error: serde_json::Error| StoreError::Malformed { path: file.to_owned(), message: error.to_string() };
        let bytes = serde_json::to_vec_pretty(&document).map_err(malformed)?;
        Folder::open(folder, Rights::Unshared)?.replace(name, &bytes)
    }

    pub(super) fn of(bytes: &[u8]) -> ApproverKey {
        ApproverKey(bytes.to_vec())
    }

    /// Reads a text that [`text`](ApproverKey::text) returned.
    pub fn parse(text: &str) -> Option<ApproverKey> {
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        (bytes.len() == 32).then_some(ApproverKey(bytes))
    }

    /// Returns its text, which is not secret.
    pub fn text(&self) -> String {
        URL_SAFE_NO_PAD.encode(&self.0)
    }

    pub(super) fn is_signature(&self, signature: &[u8], message: &[u8]) -> bool {
        UnparsedPublicKey::new(&ED25519, &self.0).verify(message, signature).is_ok()
    }
}

fn split(file: &Path) -> Result<(&Path, &str), StoreError> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    let name = file.file_name().and_then(|name| name.to_str());
    folder.zip(name).ok_or_else(|| StoreError::NotFile { path: file.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::ApproverKey;
    use crate::store::{ApproverToken, StoreError};
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn a_key_file_is_private_and_replaceable() {
        let folder = private();
        let file = folder.path().join("state/approver.json");
        assert_eq!(ApproverKey::load(&file).unwrap(), None);
        for _ in 0..2 {
            let token = ApproverToken::new().unwrap();
            token.key().save(&file).unwrap();
            assert_eq!(ApproverKey::load(&file).unwrap(), Some(token.key()));
            let text = fs::read_to_string(&file).unwrap();
            assert!(!text.contains(&token.reveal()[4..]), "the token itself was written down");
            assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        }
        assert_eq!(fs::read_dir(file.parent().unwrap()).unwrap().count(), 1);
    }

    /// A folder whose permissions do not depend on the umask.
    fn private() -> tempfile::TempDir {
        tempfile::Builder::new().permissions(fs::Permissions::from_mode(0o700)).tempdir().unwrap()
    }

    #[test]
    fn a_key_file_that_others_can_write_is_refused() {
        let folder = private();
        let file = folder.path().join("approver.json");
        ApproverToken::new().unwrap().key().save(&file).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
        assert!(matches!(ApproverKey::load(&file), Err(StoreError::NotPrivate { .. })));
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
        assert!(matches!(ApproverKey::load(&file), Err(StoreError::NotPrivate { .. })));
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        assert!(ApproverKey::load(&file).unwrap().is_some());
        fs::rename(&file, folder.path().join("other.json")).unwrap();
        symlink("other.json", &file).unwrap();
        assert!(matches!(ApproverKey::load(&file), Err(StoreError::NotFile { .. })));
    }

    #[test]
    fn a_malformed_key_file_is_refused() {
        let folder = private();
        let file = folder.path().join("approver.json");
        for text in [
            "",
            "{}",
            r#"{"version":2,"publicKey":"","created":"2026-01-01T00:00:00Z"}"#,
            r#"{"version":1,"publicKey":"AAAA","created":"2026-01-01T00:00:00Z"}"#,
        ] {
            fs::write(&file, text).unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
            assert!(matches!(ApproverKey::load(&file), Err(StoreError::Malformed { .. })), "{text}");
        }
        fs::write(&file, vec![b' '; 5_000]).unwrap();
        assert!(matches!(ApproverKey::load(&file), Err(StoreError::TooLarge { .. })));
    }
}
