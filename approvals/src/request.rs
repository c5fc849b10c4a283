//! One call that waits for a person.

use crate::canonical::{digest, hash, hexadecimal};
use crate::times;
use capability_gen::identity::FunctionId;
use capability_gen::shown::Shown;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

/// The longest message, in characters: one that fills the screen hides the arguments.
pub const MAX_MESSAGE: usize = 500;
/// How many lines of a script are named; more say no more.
const MAX_PLACES: usize = 10;
/// The longest name of a file with its line, in characters.
const MAX_PLACE: usize = 200;
/// The longest name of a module, and of what answers it, in characters.
const MAX_SOURCE: usize = 200;
/// The longest that a request waits: nobody remembers what a call of last month was for.
const MAX_LIFETIME: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// What every id begins with.
const PREFIX: &str = "apr_";
/// Random characters of an id, after what all begin with: no two requests that wait have the same.
const RANDOM: usize = 16;
/// Characters of an id that are a hash of its request: 96 bits, for which nobody finds another request.
const BOUND: usize = 24;

/// What the pipeline knows of a call that needs approval.
#[derive(Clone, Debug)]
pub struct Question {
    /// The run that makes the call.
    pub run_id: String,
    /// The call within its run.
    pub call_id: u64,
    /// The space, where it has a name.
    pub space: Option<String>,
    /// Which function is called.
    pub function_id: FunctionId,
    /// What scripts import it from: `@capabilities/crm`.
    pub module: String,
    /// What answers it, in words: `MCP server crm (npx crm-server)`.
    pub source: String,
    /// The capability, as scripts name it: `crm`.
    pub capability: String,
    /// The function, as scripts name it: `createTicket`.
    pub function: String,
    /// What the provider will be given. A decision is bound to it.
    pub params: Value,
    /// The same as people are shown it, where secrets were taken out.
    pub shown: Option<Value>,
    /// What the definition says of the call; a stranger's words. Empty where it says nothing.
    pub message: String,
    /// The lines of the script that make the call: `agent.ts:5`.
    pub places: Vec<String>,
}

/// One call that waits for a person. Made by [`Request::new`], which sees to its id and digest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Request {
    /// `apr_`, random letters and digits, and a hash of all the rest: who decides by an id decides about what was
    /// shown with it.
    pub id: String,
    /// The run that makes the call.
    pub run_id: String,
    /// The call within its run.
    pub call_id: u64,
    /// The space, where it has a name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub space: Option<String>,
    /// Which function is called: `capabilities:crm/crm@1.0.0#create-ticket`.
    pub function_id: FunctionId,
    /// What scripts import it from: `@capabilities/crm`.
    pub module: String,
    /// What answers it, in words.
    pub source: String,
    /// The capability, as scripts name it: `crm`. For people: another module may have one of the same name.
    pub capability: String,
    /// The function, as scripts name it: `createTicket`.
    pub function: String,
    /// What the provider will be given, without secrets.
    pub params: Value,
    /// The [`digest`](crate::digest) of function and what the provider will be given.
    pub digest: String,
    /// Whether secrets were taken out of `params`, so that the digest is not theirs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub redacted: bool,
    /// What the definition says of the call, on one line; a stranger's words. Empty where it says nothing.
    #[serde(deserialize_with = "message")]
    pub message: Shown,
    /// The lines of the script that make the call: `agent.ts:5`.
    #[serde(deserialize_with = "places")]
    pub places: Vec<Shown>,
    /// When it was made.
    #[serde(with = "times")]
    pub created: SystemTime,
    /// From when on it can no longer be approved.
    #[serde(with = "times")]
    pub expires: SystemTime,
}

impl Request {
    /// A request that can be decided for so long from now on.
    pub fn new(question: Question, lifetime: Duration) -> Request {
        let Question {
            run_id,
            call_id,
            space,
            function_id,
            module,
            source,
            capability,
            function,
            params,
            shown,
            message,
            places,
        } = question;
        let created = times::to_millis(SystemTime::now());
        let request = Request {
            id: random_id(),
            run_id,
            call_id,
            space,
            digest: digest(&function_id, &params),
            redacted: shown.is_some(),
            function_id,
            module: Shown::line(&module, MAX_SOURCE).into(),
            source: Shown::line(&source, MAX_SOURCE).into(),
            capability,
            function,
            params: shown.unwrap_or(params),
            message: Shown::line(&message, MAX_MESSAGE),
            places: shown_places(&places),
            created,
            expires: times::to_millis(created + lifetime.min(MAX_LIFETIME)),
        };
        Request { id: request.bound_id(&request.id), ..request }
    }

    /// The function as scripts call it: `crm.createTicket`, or `getWeather` for one that is a capability of its own.
    pub fn label(&self) -> String {
        match self.capability == self.function {
            true => self.function.clone(),
            false => format!("{}.{}", self.capability, self.function),
        }
    }

    /// How long it can still be decided; nothing once it has expired.
    pub fn time_left(&self) -> Option<Duration> {
        self.expires.duration_since(SystemTime::now()).ok().filter(|left| !left.is_zero())
    }

    /// Whether its id is that of all it says, and its digest that of its call: not so for a file that somebody changed,
    /// be it only until the request was shown. Where secrets were taken out the digest is for the run that waits.
    pub fn is_consistent(&self) -> bool {
        let random = self.id.get(..PREFIX.len() + RANDOM);
        random.is_some_and(|random| self.bound_id(random) == self.id)
            && (self.redacted || self.digest == digest(&self.function_id, &self.params))
    }

    /// The id that begins with this, of a request that says all that this one does.
    fn bound_id(&self, random: &str) -> String {
        let mut said = json!(self);
        said["id"] = json!(random);
        let mut bound = hash(&said);
        bound.truncate(BOUND);
        format!("{random}{bound}")
    }

    /// A hash over everything that a person is shown of it.
    pub(crate) fn fingerprint(&self) -> String {
        hash(&json!(self))
    }
}

fn shown_places(places: &[String]) -> Vec<Shown> {
    places.iter().take(MAX_PLACES).map(|place| Shown::line(place, MAX_PLACE)).collect()
}

/// The message of a file: its folder's owner may have written anything.
fn message<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Shown, D::Error> {
    String::deserialize(deserializer).map(|message| Shown::line(&message, MAX_MESSAGE))
}

fn places<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Shown>, D::Error> {
    Vec::<String>::deserialize(deserializer).map(|places| shown_places(&places))
}

/// Whether this is the form of an id; only then may it become the name of a file.
pub(crate) fn is_id(text: &str) -> bool {
    /// More than any id of ours has.
    const MAX_LENGTH: usize = 64;
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    text.len() <= MAX_LENGTH
        && text.strip_prefix(PREFIX).is_some_and(|rest| !rest.is_empty() && rest.bytes().all(is_plain))
}

/// How an id begins. It is random; the count keeps ids apart within this process even without randomness.
fn random_id() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let mut random = [0; 16];
    let _ = getrandom::fill(&mut random);
    let mut hash = Sha256::new();
    hash.update(random);
    hash.update(COUNT.fetch_add(1, Ordering::Relaxed).to_le_bytes());
    hash.update(std::process::id().to_le_bytes());
    let mut text = hexadecimal(&hash.finalize());
    text.truncate(RANDOM);
    format!("{PREFIX}{text}")
}

#[cfg(test)]
#[path = "request_tests.rs"]
mod tests;
