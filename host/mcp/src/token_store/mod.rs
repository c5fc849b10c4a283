//! Token store: the tokens of logins, in a file or in memory.
//!
//! - `record`: one login with its tokens.
//! - `credential_store`: rmcp's view of one login.
//! - `private_file`: file that only its owner can read.

mod credential_store;
mod error;
mod private_file;
mod record;

pub use error::TokenStoreError;
pub(crate) use record::{Grant, Record, add_tokens_to, essential, essential_metadata};

use agent_spaces_secrets::Redactor;
use credential_store::Entry;
use data_encoding::HEXLOWER;
use rmcp::transport::auth::CredentialRefreshGuard;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

/// Format version of the file; others are refused.
const VERSION: u32 = 1;
/// Size limit of the file.
const MAX_FILE: usize = 4 << 20;
/// Size limit of a login, so that an authorization server cannot fill the disk.
const MAX_LOGIN: usize = 64 << 10;
/// Lock timeout for changes of the file, which are short.
const CHANGE_TIMEOUT: Duration = Duration::from_secs(10);
/// Lock timeout for token refreshes, which wait for an authorization server.
const REFRESH_TIMEOUT: Duration = Duration::from_secs(60);

/// Token store: a file readable by its owner only, or the memory of this process.
#[derive(Clone, Default)]
pub struct TokenStore(Arc<Place>);

enum Place {
    Memory { document: Mutex<Document>, refresh: Arc<tokio::sync::Mutex<()>> },
    File(PathBuf),
}

impl Default for Place {
    fn default() -> Place {
        Place::Memory { document: Mutex::default(), refresh: Arc::default() }
    }
}

#[derive(Clone, Serialize, Deserialize)]
struct Document {
    version: u32,
    logins: Vec<Record>,
}

impl Default for Document {
    fn default() -> Document {
        Document { version: VERSION, logins: Vec::new() }
    }
}

/// A login, without its secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Login {
    /// The server's name in the configuration.
    pub name: String,
    /// Its URL at the time of the login.
    pub url: String,
    /// Expiry of the token, if known.
    pub expires: Option<SystemTime>,
    /// True if the token is refreshed without a person.
    pub renews: bool,
    /// Scopes of the token.
    pub scopes: Vec<String>,
}

impl TokenStore {
    /// Keeps tokens in this file, which is created with the first write.
    pub fn in_file(file: PathBuf) -> TokenStore {
        TokenStore(Arc::new(Place::File(file)))
    }

    /// Lists all logins. Names and URLs are as configured, so they must be redacted before they are shown.
    pub fn list(&self) -> Result<Vec<Login>, TokenStoreError> {
        let document = self.read()?;
        Ok(document.logins.iter().filter(|record| record.credentials.is_some()).map(login_of).collect())
    }

    /// Adds the secrets of selected servers' logins to the redactor, before any of them is used.
    pub fn learn(&self, is_meant: impl Fn(&str) -> bool, redactor: &Redactor) {
        // Errors are reported when a login is used.
        let logins = self.read().map(|document| document.logins).unwrap_or_default();
        logins.iter().filter(|record| is_meant(&record.name)).for_each(|record| record.add_secrets_to(redactor));
    }

    /// Removes every login of a server. Returns true if there was one.
    pub async fn remove(&self, name: &str) -> Result<bool, TokenStoreError> {
        self.change(|logins| {
            let before = logins.len();
            logins.retain(|record| record.name != name);
            logins.len() < before
        })
        .await
    }

    /// Returns the login for a server at this URL and adds its secrets to `redactor`.
    pub(crate) fn get(&self, name: &str, url: &str, redactor: &Redactor) -> Result<Option<Record>, TokenStoreError> {
        let found = self.read()?.logins.into_iter().find(|record| record.is_of(name, url));
        if let Some(record) = &found {
            record.add_secrets_to(redactor);
        }
        Ok(found)
    }

    /// Stores a login; replaces an earlier one for the same server.
    pub(crate) async fn put(&self, record: Record) -> Result<(), TokenStoreError> {
        check(&record)?;
        self.change(|logins| {
            logins.retain(|other| !other.is_of(&record.name, &record.url));
            logins.push(record);
        })
        .await
    }

    /// Updates the login for a server, if there is one, so that a concurrent logout is not undone.
    pub(crate) async fn update(
        &self,
        name: &str,
        url: &str,
        change: impl FnOnce(&mut Record),
    ) -> Result<(), TokenStoreError> {
        self.change(|logins| {
            let Some(record) = logins.iter_mut().find(|record| record.is_of(name, url)) else {
                return Ok(());
            };
            let mut changed = record.clone();
            change(&mut changed);
            check(&changed)?;
            *record = changed;
            Ok(())
        })
        .await?
    }

    /// Returns rmcp's credential store for the login at a server with this name and URL.
    pub(crate) fn entry(&self, name: &str, url: &str, redactor: &Redactor) -> Entry {
        Entry::new(self.clone(), (name, url), redactor.clone())
    }

    /// Acquires the lock for refreshing a token, shared by all processes that share the login.
    pub(crate) async fn refresh_guard(&self, name: &str, url: &str) -> Result<CredentialRefreshGuard, TokenStoreError> {
        match &*self.0 {
            Place::Memory { refresh, .. } => Ok(CredentialRefreshGuard::new(Arc::clone(refresh).lock_owned().await)),
            Place::File(file) => {
                let digest = Sha256::digest(format!("{name}\n{url}"));
                let short = HEXLOWER.encode(&digest[..8]);
                let lock = private_file::lock(file, &format!("refresh-{short}.lock"), REFRESH_TIMEOUT).await?;
                Ok(CredentialRefreshGuard::new(lock))
            }
        }
    }

    fn read(&self) -> Result<Document, TokenStoreError> {
        let file = match &*self.0 {
            Place::Memory { document, .. } => {
                return Ok(document.lock().unwrap_or_else(PoisonError::into_inner).clone());
            }
            Place::File(file) => file,
        };
        let Some(bytes) = private_file::read(file, MAX_FILE)? else { return Ok(Document::default()) };
        let malformed = |message: String| TokenStoreError::Malformed { path: file.clone(), message };
        // The text of the parser's error could quote a token.
        let document: Document = serde_json::from_slice(&bytes)
            .map_err(|error| malformed(format!("line {}, column {}", error.line(), error.column())))?;
        if document.version != VERSION {
            return Err(malformed(format!("its version is {}", document.version)));
        }
        Ok(document)
    }

    async fn change<T>(&self, change: impl FnOnce(&mut Vec<Record>) -> T) -> Result<T, TokenStoreError> {
        let file = match &*self.0 {
            Place::Memory { document, .. } => {
                return Ok(change(&mut document.lock().unwrap_or_else(PoisonError::into_inner).logins));
            }
            Place::File(file) => file,
        };
        let _lock = private_file::lock(file, "lock", CHANGE_TIMEOUT).await?;
        let mut document = self.read()?;
        let result = change(&mut document.logins);
        let bytes = serde_json::to_vec_pretty(&document)
            .map_err(|error| TokenStoreError::Io { path: file.clone(), error: error.into() })?;
        if bytes.len() > MAX_FILE {
            return Err(TokenStoreError::TooLarge { path: file.clone(), limit: MAX_FILE });
        }
        private_file::replace(file, &bytes)?;
        Ok(result)
    }
}

fn check(record: &Record) -> Result<(), TokenStoreError> {
    if !record.can_be_kept_secret() {
        return Err(TokenStoreError::ShortSecret);
    }
    match serde_json::to_vec(record) {
        Ok(bytes) if bytes.len() <= MAX_LOGIN => Ok(()),
        _ => Err(TokenStoreError::LoginTooLarge),
    }
}

fn login_of(record: &Record) -> Login {
    Login {
        name: record.name.clone(),
        url: record.url.clone(),
        expires: record.expires(),
        renews: record.renews(),
        scopes: record.credentials.as_ref().map(|kept| kept.granted_scopes.clone()).unwrap_or_default(),
    }
}

impl fmt::Debug for TokenStore {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.0 {
            Place::Memory { .. } => formatter.write_str("TokenStore(memory)"),
            Place::File(file) => formatter.debug_tuple("TokenStore").field(file).finish(),
        }
    }
}

#[cfg(test)]
mod tests;
