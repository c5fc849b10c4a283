//! Where the tokens of logins are kept.

use super::entry::Entry;
use super::private_file;
use super::record::Record;
use super::store_error::TokenStoreError;
use super::target::Target;
use crate::secrets::Redactor;
use rmcp::transport::auth::CredentialRefreshGuard;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

/// The form of the file; another one is not read.
const VERSION: u32 = 1;
/// The largest file that is read or written.
const MAX_FILE: usize = 4 << 20;
/// The largest login: an authorization server cannot fill the disk.
pub(super) const MAX_LOGIN: usize = 64 << 10;
/// Changes of the file take a moment each.
const CHANGE_PATIENCE: Duration = Duration::from_secs(10);
/// A renewal waits for an authorization server.
const REFRESH_PATIENCE: Duration = Duration::from_secs(60);

/// Where tokens of logins are kept: one file for its owner alone, or the memory of this process.
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
    /// Its address when that login was made.
    pub url: String,
    /// When its token ends, where that was said.
    pub expires: Option<SystemTime>,
    /// Whether its token is renewed without a person.
    pub renews: bool,
    /// What it allows.
    pub scopes: Vec<String>,
}

impl TokenStore {
    /// Keeps tokens in this file, which is made when it is first written to.
    pub fn in_file(file: PathBuf) -> TokenStore {
        TokenStore(Arc::new(Place::File(file)))
    }

    /// All logins. Names and addresses are as they were configured: show them without secrets.
    pub fn list(&self) -> Result<Vec<Login>, TokenStoreError> {
        let document = self.read()?;
        Ok(document.logins.iter().filter(|record| record.credentials.is_some()).map(login_of).collect())
    }

    /// Makes known what is secret in the logins of some servers, by their names, before one of them is used.
    pub fn learn(&self, is_meant: impl Fn(&str) -> bool, redactor: &Redactor) {
        // A file that cannot be read is complained of when a login is used.
        let logins = self.read().map(|document| document.logins).unwrap_or_default();
        logins.iter().filter(|record| is_meant(&record.name)).for_each(|record| record.tell(redactor));
    }

    /// Forgets every login of a server. Says whether there was one.
    pub async fn remove(&self, name: &str) -> Result<bool, TokenStoreError> {
        self.change(|logins| {
            let before = logins.len();
            logins.retain(|record| record.name != name);
            logins.len() < before
        })
        .await
    }

    /// The login for a server at this address, whose secrets are known to `redactor` from now on.
    pub(super) fn get(&self, name: &str, url: &str, redactor: &Redactor) -> Result<Option<Record>, TokenStoreError> {
        let found = self.read()?.logins.into_iter().find(|record| record.is_of(name, url));
        if let Some(record) = &found {
            record.tell(redactor);
        }
        Ok(found)
    }

    /// Keeps a login in place of an earlier one for the same server.
    pub(super) async fn put(&self, record: Record) -> Result<(), TokenStoreError> {
        check(&record)?;
        self.change(|logins| {
            logins.retain(|other| !other.is_of(&record.name, &record.url));
            logins.push(record);
        })
        .await
    }

    /// Changes the login for a server, if there is one: a logout in the meantime stays one.
    pub(super) async fn update(
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

    /// The login of a server as rmcp keeps it.
    pub(super) fn entry(&self, target: &Target<'_>, redactor: &Redactor) -> Entry {
        Entry::new(self.clone(), target, redactor.clone())
    }

    /// One renewal at a time, of all processes that share the login.
    pub(super) async fn refresh_guard(&self, name: &str, url: &str) -> Result<CredentialRefreshGuard, TokenStoreError> {
        match &*self.0 {
            Place::Memory { refresh, .. } => Ok(CredentialRefreshGuard::new(Arc::clone(refresh).lock_owned().await)),
            Place::File(file) => {
                let digest = Sha256::digest(format!("{name}\n{url}"));
                let short: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
                let lock = private_file::lock(file, &format!("refresh-{short}.lock"), REFRESH_PATIENCE).await?;
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
        // The parser's own words could quote a token.
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
        let _lock = private_file::lock(file, "lock", CHANGE_PATIENCE).await?;
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
#[path = "store_tests.rs"]
mod tests;
