//! Sessions of callers in a browser, by cookie, and links that sign in once.
//!
//! A cookie says who its caller is and until when, and is signed with a key of that caller's token. So nothing is stored:
//! a session survives a restart, and ends when the token changes. A server remembers only revoked codes: sessions that
//! were signed out, and links that were used.
//!
//! - `code`: signed text of cookies and links; `spent`: revoked codes; `ended`: sessions that were signed out, and the end
//!   of one that is in use
//! - `own_page`: protection against cross-site request forgery (CSRF)

mod code;
mod ended;
mod own_page;
mod spent;

pub(crate) use ended::SessionEnd;
pub use own_page::{CONSOLE_HEADER, is_from_own_page, is_https};

use crate::callers::Callers;
use crate::client::Client;
use crate::token::Token;
use code::{Code, Key, Purpose, mint};
use ended::SignedOut;
use http::header::{COOKIE, HeaderValue};
use http::{HeaderMap, Uri};
use spent::Spent;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

/// Name of the cookie.
const NAME: &str = "agent_spaces_session";

/// Sessions of the callers of a server. Clones share them.
#[derive(Clone)]
pub struct Sessions(Arc<Vec<Member>>);

/// Caller who can sign in.
struct Member {
    client: Client,
    token: Token,
    key: Key,
    /// Sessions that were signed out.
    ended: SignedOut,
    /// Links that were used.
    used: Mutex<Spent>,
    /// Start of the server: links that were used before are not known.
    since: u64,
}

/// Session that began.
#[derive(Debug)]
pub struct SignedIn<'a> {
    /// Its caller.
    pub client: &'a Client,
    /// Value of the header `Set-Cookie`.
    pub set_cookie: HeaderValue,
}

/// Error of a sign-in.
#[derive(Debug, thiserror::Error)]
pub enum SignInError {
    /// No caller has this token.
    #[error("Unknown token (use the operator's token, or that of a caller)")]
    Token,
    /// The link is forged, has expired, or was used.
    #[error("The link was used, has expired, or is of another token (make a new one with `agent-spaces console`)")]
    Link,
    /// The system has no random numbers.
    #[error("There are no random numbers: {0}")]
    Random(#[from] std::io::Error),
}

/// Creates the code of a link that signs the caller of a token in, once and within two minutes.
pub fn link(token: &Token) -> std::io::Result<String> {
    // The key alone says whose it is: whoever has the token need not know the caller's name.
    mint(Purpose::Link, &token.session_key(), "", now())
}

impl Sessions {
    /// Creates the sessions of these callers.
    pub fn new(callers: &Callers) -> Sessions {
        let member = |(token, client): &(Token, Client)| Member {
            client: client.clone(),
            token: token.clone(),
            key: token.session_key(),
            ended: SignedOut::default(),
            used: Mutex::default(),
            since: now(),
        };
        Sessions(Arc::new(callers.entries().map(member).collect()))
    }

    /// Signs in the caller who has a token.
    pub fn sign_in(&self, token: &str, is_secure: bool) -> Result<SignedIn<'_>, SignInError> {
        let token = Token::of_key(token.as_bytes());
        let member = self.find(|member| member.token == token).ok_or(SignInError::Token)?;
        member.sign_in(is_secure, now())
    }

    /// Signs in the caller for whom a link was made.
    pub fn sign_in_with_link(&self, link: &str, is_secure: bool) -> Result<SignedIn<'_>, SignInError> {
        self.sign_in_with_link_at(link, is_secure, now())
    }

    fn sign_in_with_link_at(&self, link: &str, is_secure: bool, now: u64) -> Result<SignedIn<'_>, SignInError> {
        let code = Code::parse(link).ok_or(SignInError::Link)?;
        let signer = self.find(|member| code.is_signed(Purpose::Link, &member.key));
        // Links from before the start may have been used. A clock that was set back says nothing about that.
        let is_known = |member: &Member| now < member.since || code.is_made_since(Purpose::Link, member.since);
        let is_valid = |member: &&Member| code.is_current(Purpose::Link, now) && is_known(member);
        let member = signer.filter(is_valid).ok_or(SignInError::Link)?;
        if !locked(&member.used).spend(code.mac, code.expiry, now) {
            return Err(SignInError::Link);
        }
        member.sign_in(is_secure, now)
    }

    /// Ends the session of a request. Returns its caller, if there was one, and the value of `Set-Cookie` that removes the
    /// cookie.
    pub fn sign_out(&self, uri: &Uri, headers: &HeaderMap) -> (Option<&Client>, HeaderValue) {
        let now = now();
        let ended = self.session(uri, headers, now).map(|(member, code)| {
            member.ended.end(code.mac, code.expiry, now);
            &member.client
        });
        (ended, HeaderValue::from_static("agent_spaces_session=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0"))
    }

    /// Returns the caller whose session a request has, and the end of the session. The cookie counts only from pages of this
    /// server.
    pub(crate) fn session_of(&self, uri: &Uri, headers: &HeaderMap) -> Option<(&Client, SessionEnd)> {
        self.session_at(uri, headers, now())
    }

    fn session_at(&self, uri: &Uri, headers: &HeaderMap, now: u64) -> Option<(&Client, SessionEnd)> {
        let (member, code) = self.session(uri, headers, now)?;
        Some((&member.client, SessionEnd::new(&member.ended, code.mac, code.expiry)))
    }

    fn session<'a>(&self, uri: &Uri, headers: &'a HeaderMap, now: u64) -> Option<(&Member, Code<'a>)> {
        let cookie = cookie(headers).filter(|_| is_from_own_page(uri, headers))?;
        let code = Code::parse(cookie)?;
        let member = self.0.iter().find(|member| **member.client.identity() == *code.identity)?;
        let is_valid = code.is_signed(Purpose::Session, &member.key) && code.is_current(Purpose::Session, now);
        let is_ended = member.ended.contains(&code.mac);
        (is_valid && !is_ended).then_some((member, code))
    }

    /// Looks at all callers, so that timing does not reveal whose token it is.
    fn find(&self, is_wanted: impl Fn(&Member) -> bool) -> Option<&Member> {
        self.0.iter().fold(None, |found, member| if is_wanted(member) { Some(member) } else { found })
    }
}

impl Member {
    fn sign_in(&self, is_secure: bool, now: u64) -> Result<SignedIn<'_>, SignInError> {
        let code = mint(Purpose::Session, &self.key, self.client.identity(), now)?;
        let (seconds, secure) = (Purpose::Session.lifetime(), if is_secure { "; Secure" } else { "" });
        let text = format!("{NAME}={code}; HttpOnly; SameSite=Strict; Path=/; Max-Age={seconds}{secure}");
        let mut set_cookie = HeaderValue::try_from(text).map_err(std::io::Error::other)?;
        set_cookie.set_sensitive(true);
        Ok(SignedIn { client: &self.client, set_cookie })
    }
}

impl fmt::Debug for Sessions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Sessions(…)")
    }
}

/// Returns the value of the cookie if there is one of its name. Another program of this host can add more: then nobody
/// knows which is the caller's.
fn cookie(headers: &HeaderMap) -> Option<&str> {
    let lines = headers.get_all(COOKIE).iter().filter_map(|line| line.to_str().ok());
    let pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    let mut values = pairs.filter(|(name, _)| *name == NAME).map(|(_, value)| value);
    let first = values.next();
    first.filter(|_| values.next().is_none())
}

fn locked(spent: &Mutex<Spent>) -> MutexGuard<'_, Spent> {
    spent.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Seconds since 1970. A clock before that ends all sessions.
fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(u64::MAX, |passed| passed.as_secs())
}

#[cfg(test)]
mod tests;
