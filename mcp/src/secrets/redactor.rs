//! Takes secrets out of what is shown.

use super::finder::Finder;
use super::{MIN_SECRET, Secret, values};
use serde_json::Value;
use std::borrow::Cow;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

/// What stands where a secret was.
pub const MASK: &str = "[redacted]";

/// The longest secret, in bytes. Of a longer one only so much is looked for; settings that hold one are refused.
pub const MAX_SECRET: usize = 16 << 10;

/// How many secrets are known at once.
const MAX_COUNT: usize = 1024;

/// How many bytes of secrets are known at once.
const MAX_TOTAL: usize = 64 << 10;

/// Knows the secrets of a process. Clones share what they know.
///
/// A secret is found as it is and as JSON, addresses, HTML, hexadecimal digits, UTF-16 and base64 write it, the last
/// also inside longer base64 and over several lines. Escapes of HTML (`&#65;`, `&#x41;`, `&amp;`), addresses (`%41`) and
/// JSON (`\u0041`) may stand for any of its characters, mixed with the others as they are. Parts that are secret on their
/// own are found as well: what follows `Bearer`, the password of an address, the lines of a key. Of parts longer than
/// 1 KiB only the commonest spellings are looked for.
///
/// At most 1,024 secrets of 64 KiB in all are known. Above that the one that was added longest ago is forgotten;
/// adding one again makes it the latest. Every connection adds its own, so only tokens that were renewed since go.
/// Tokens of logins are known beside them, within the same bounds: an authorization server that gives ever new ones makes
/// no other secret be forgotten.
#[derive(Clone, Default)]
pub struct Redactor(Arc<Shared>);

#[derive(Default)]
struct Shared {
    /// Whether there is any: with none, nothing is locked.
    any: AtomicBool,
    known: RwLock<Arc<Known>>,
}

type Secrets = Vec<Arc<Secret>>;

#[derive(Default)]
struct Known {
    /// The latest is the last.
    secrets: Secrets,
    /// What authorization servers gave.
    tokens: Secrets,
    /// Made when it is first needed: secrets are added many at a time.
    finder: OnceLock<Arc<Finder>>,
}

impl Redactor {
    /// From now on, this is a secret. One of fewer than [`MIN_SECRET`] characters is ignored.
    pub fn add(&self, secret: &Secret) {
        self.learn(secret, |known| &mut known.secrets);
    }

    /// As [`Redactor::add`] for what an authorization server chose.
    pub fn add_token(&self, token: &Secret) {
        self.learn(token, |known| &mut known.tokens);
    }

    fn learn(&self, secret: &Secret, place: impl FnOnce(&mut Known) -> &mut Secrets) {
        let text = secret.expose().trim();
        if text.chars().count() < MIN_SECRET {
            return;
        }
        let text = text.get(..text.floor_char_boundary(MAX_SECRET)).unwrap_or(text);
        let mut known = self.0.known.write().unwrap_or_else(PoisonError::into_inner);
        let Known { secrets, tokens, finder } = &**known;
        let mut now = Known { secrets: secrets.clone(), tokens: tokens.clone(), finder: finder.clone() };
        if put_last(place(&mut now), text) {
            now.finder = OnceLock::new();
        }
        *known = Arc::new(now);
        self.0.any.store(true, Ordering::Release);
    }

    /// The text without secrets, however they are spelt.
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.finder().map_or(Cow::Borrowed(text), |finder| mask(&finder, text))
    }

    /// The text with `*` for every character of a secret, so that lines and columns stay where they are.
    pub fn starred<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let star = |character| if matches!(character, '\n' | '\r') { character } else { '*' };
        let stars = |secret: &str| secret.chars().map(star).collect::<String>().into();
        self.finder().map_or(Cow::Borrowed(text), |finder| replace(&finder, text, stars))
    }

    /// The end of a text, from about so many bytes before it, without secrets. One that begins further ahead is taken
    /// out as a whole: a text must not be cut before this.
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

    /// Takes secrets out of every string, key and number. Base64 text whose bytes hold one is withheld whole.
    pub fn value(&self, value: &mut Value) {
        if let Some(finder) = self.finder() {
            values::redact(&finder, value);
        }
    }

    /// Whether a string, key or number of it holds a secret, so that [`Redactor::value`] would change it.
    pub fn is_in(&self, value: &Value) -> bool {
        self.finder().is_some_and(|finder| values::holds(&finder, value))
    }

    /// Whether no secret is known: then nothing is ever changed.
    pub fn is_empty(&self) -> bool {
        !self.0.any.load(Ordering::Acquire)
    }

    /// Whether these bytes hold a secret.
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

/// Makes this the latest of some secrets; gives whether it was not among them.
fn put_last(secrets: &mut Secrets, text: &str) -> bool {
    if let Some(place) = secrets.iter().position(|known| known.expose() == text) {
        let same = secrets.remove(place);
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

/// The text with [`MASK`] where something was found.
pub(super) fn mask<'a>(finder: &Finder, text: &'a str) -> Cow<'a, str> {
    replace(finder, text, |_| MASK.into())
}

/// The text with something else where a secret was found.
fn replace<'a>(finder: &Finder, text: &'a str, shown: impl Fn(&str) -> Cow<'static, str>) -> Cow<'a, str> {
    let found = finder.ranges(text);
    if found.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for range in found {
        out.push_str(text.get(from..range.start).unwrap_or_default());
        out.push_str(&shown(text.get(range.clone()).unwrap_or_default()));
        from = range.end;
    }
    out.push_str(text.get(from..).unwrap_or_default());
    Cow::Owned(out)
}

impl fmt::Debug for Redactor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Redactor").finish_non_exhaustive()
    }
}

#[cfg(test)]
#[path = "redactor_tests.rs"]
mod tests;
