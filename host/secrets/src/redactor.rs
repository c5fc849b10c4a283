//! Redaction of secrets.

use super::finder::Finder;
use super::mask::{MASK, mask, replace};
use super::secret::{MAX_SECRET, MIN_SECRET, Secret};
use super::values;
use serde_json::Value;
use std::borrow::Cow;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

/// Limit on the number of secrets.
const MAX_COUNT: usize = 1024;

/// Limit on the total bytes of secrets.
const MAX_TOTAL: usize = 64 << 10;

/// Redactor with the secrets of a process. Clones share them.
///
/// A secret is found in plain text and encoded in JSON, URLs, HTML, hexadecimal, UTF-16 and base64, the last also
/// inside longer base64 and over several lines. Any of its characters may be an escape of HTML (`&#65;`, `&#x41;`,
/// `&amp;`), URLs (`%41`) or JSON (`\u0041`), mixed with plain ones. Parts that are secret on their own are found too:
/// the token after `Bearer`, the password of a URL, the lines of a key. Parts longer than 1 KiB are found only in their
/// common spellings.
///
/// At most 1,024 secrets with a total of 64 KiB are kept. Above that the least recently added one is dropped; adding
/// one again makes it the latest. Every connection adds its own secrets, so only tokens that were refreshed since are
/// dropped. Tokens of logins are kept separately, with the same limits, so that an authorization server cannot displace
/// other secrets with ever new tokens.
#[derive(Clone, Default)]
pub struct Redactor(Arc<Shared>);

#[derive(Default)]
struct Shared {
    /// True if there is any secret; if not, no lock is taken.
    any: AtomicBool,
    known: RwLock<Arc<Known>>,
}

type Secrets = Vec<Arc<Secret>>;

#[derive(Default)]
struct Known {
    /// The latest comes last.
    secrets: Secrets,
    /// Tokens issued by authorization servers.
    tokens: Secrets,
    /// Built on first use, because many secrets are added at a time.
    finder: OnceLock<Arc<Finder>>,
}

impl Redactor {
    /// Adds a secret. One of fewer than [`MIN_SECRET`] characters is ignored.
    pub fn add(&self, secret: &Secret) {
        self.learn(secret, |known| &mut known.secrets);
    }

    /// Like [`Redactor::add`], for a token issued by an authorization server.
    pub fn add_token(&self, token: &Secret) {
        self.learn(token, |known| &mut known.tokens);
    }

    fn learn(&self, secret: &Secret, list: impl FnOnce(&mut Known) -> &mut Secrets) {
        let text = secret.expose().trim();
        if text.chars().count() < MIN_SECRET {
            return;
        }
        let text = text.get(..text.floor_char_boundary(MAX_SECRET)).unwrap_or(text);
        let mut known = self.0.known.write().unwrap_or_else(PoisonError::into_inner);
        let Known { secrets, tokens, finder } = &**known;
        let mut now = Known { secrets: secrets.clone(), tokens: tokens.clone(), finder: finder.clone() };
        if put_last(list(&mut now), text) {
            now.finder = OnceLock::new();
        }
        *known = Arc::new(now);
        self.0.any.store(true, Ordering::Release);
    }

    /// Masks the secrets in a text, in all their encodings.
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.finder().map_or(Cow::Borrowed(text), |finder| mask(&finder, text))
    }

    /// Replaces every character of a secret with `*`, so that lines and columns stay the same.
    pub fn starred<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let star = |character| if matches!(character, '\n' | '\r') { character } else { '*' };
        let stars = |secret: &str| secret.chars().map(star).collect::<String>().into();
        self.finder().map_or(Cow::Borrowed(text), |finder| replace(&finder, text, stars))
    }

    /// Returns about the last `bytes` of a text, without secrets. A secret that begins before them is masked as a
    /// whole, so the text must not be truncated before.
    pub fn end(&self, text: &str, bytes: usize) -> String {
        let mut from = text.ceil_char_boundary(text.len().saturating_sub(bytes));
        let mut out = String::new();
        for range in self.finder().map(|finder| finder.ranges(text)).unwrap_or_default() {
            if range.end > from {
                out.push_str(text.get(from..range.start).unwrap_or_default());
                out.push_str(MASK);
                from = range.end;
            }
        }
        out.push_str(text.get(from..).unwrap_or_default());
        out
    }

    /// Masks secrets in every string, key and number. Base64 whose bytes contain one is withheld as a whole.
    pub fn value(&self, value: &mut Value) {
        if let Some(finder) = self.finder() {
            values::redact(&finder, value);
        }
    }

    /// Returns true if a string, key or number contains a secret, so that [`Redactor::value`] would change it.
    pub fn is_in(&self, value: &Value) -> bool {
        self.finder().is_some_and(|finder| values::holds(&finder, value))
    }

    /// Returns true if there are no secrets, so that nothing is ever changed.
    pub fn is_empty(&self) -> bool {
        !self.0.any.load(Ordering::Acquire)
    }

    /// Returns true if the bytes contain a secret.
    pub fn taints(&self, bytes: &[u8]) -> bool {
        self.finder().is_some_and(|finder| finder.is_in(bytes))
    }

    fn finder(&self) -> Option<Arc<Finder>> {
        if !self.0.any.load(Ordering::Acquire) {
            return None;
        }
        let known = self.0.known.read().unwrap_or_else(PoisonError::into_inner).clone();
        Some(known.finder().clone())
    }
}

impl Known {
    fn finder(&self) -> &Arc<Finder> {
        let all = || self.secrets.iter().chain(&self.tokens).map(|secret| secret.expose());
        self.finder.get_or_init(|| Arc::new(Finder::of(all())))
    }
}

/// Moves a secret to the end of the list; returns true if it was not in it.
fn put_last(secrets: &mut Secrets, text: &str) -> bool {
    if let Some(index) = secrets.iter().position(|known| known.expose() == text) {
        let same = secrets.remove(index);
        secrets.push(same);
        return false;
    }
    secrets.push(Arc::new(Secret::new(text)));
    let mut total: usize = secrets.iter().map(|secret| secret.expose().len()).sum();
    let too_many = secrets.len().saturating_sub(MAX_COUNT);
    let forgotten = secrets.iter().enumerate().take_while(|(index, secret)| {
        let goes = *index < too_many || total > MAX_TOTAL;
        total = total.saturating_sub(secret.expose().len());
        goes
    });
    let forgotten = forgotten.count();
    secrets.drain(..forgotten);
    true
}

impl fmt::Debug for Redactor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Redactor").finish_non_exhaustive()
    }
}

#[cfg(test)]
#[path = "redactor_tests.rs"]
mod tests;
