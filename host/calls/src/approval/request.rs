//! Approval request for one call.

use super::times;
use agent_spaces_types::canonical::{digest, hash};
use agent_spaces_types::identity::FunctionId;
use agent_spaces_types::shown::Shown;
use data_encoding::HEXLOWER;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

/// Longest message, in characters: one that fills the screen hides the arguments.
pub const MAX_MESSAGE: usize = 500;
/// Most script locations that are shown.
const MAX_PLACES: usize = 10;
/// Longest script location, in characters.
const MAX_PLACE: usize = 200;
/// Longest module or provider name, in characters.
const MAX_SOURCE: usize = 200;
/// Longest lifetime of a request: nobody remembers what a call of last month was for.
const MAX_LIFETIME: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// Prefix of request ids.
const PREFIX: &str = "apr_";
/// Random characters of an id, which make it unique.
const RANDOM: usize = 16;
/// Characters of an id that are a hash of its request: 96 bits, enough for second-preimage resistance.
const HASH_CHARACTERS: usize = 24;

/// A call that needs approval, as the pipeline describes it.
#[derive(Clone, Debug)]
pub struct Question {
    /// The run that makes the call.
    pub run_id: String,
    /// The call within its run.
    pub call_id: u64,
    /// The space, where it has a name.
    pub space: Option<String>,
    /// Identity of the function.
    pub function_id: FunctionId,
    /// Module that exports it: `@capabilities/crm`.
    pub module: String,
    /// Description of its provider: `MCP server crm (npx crm-server)`.
    pub source: String,
    /// The capability, as scripts name it: `crm`.
    pub capability: String,
    /// The function, as scripts name it: `createTicket`.
    pub function: String,
    /// Arguments sent to the provider. A decision is bound to them.
    pub params: Value,
    /// The arguments as shown to people, if secrets were redacted.
    pub shown: Option<Value>,
    /// Message of the definition, untrusted; empty if it has none.
    pub message: String,
    /// Script locations that make the call: `agent.ts:5`.
    pub places: Vec<String>,
}

/// Approval request for one call. [`Request::new`] sets its id and digest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Request {
    /// `apr_`, random characters, and a hash of all other members: a decision by id covers exactly what was shown with
    /// that id.
    pub id: String,
    /// The run that makes the call.
    pub run_id: String,
    /// The call within its run.
    pub call_id: u64,
    /// The space, where it has a name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub space: Option<String>,
    /// Identity of the function: `capabilities:crm/crm@1.0.0#create-ticket`.
    pub function_id: FunctionId,
    /// Module that exports it: `@capabilities/crm`.
    pub module: String,
    /// Description of its provider.
    pub source: String,
    /// The capability, as scripts name it: `crm`. For people: another module may have one of the same name.
    pub capability: String,
    /// The function, as scripts name it: `createTicket`.
    pub function: String,
    /// Arguments sent to the provider, with secrets redacted.
    pub params: Value,
    /// The [`digest`](agent_spaces_types::canonical::digest) of the function and its unredacted arguments.
    pub digest: String,
    /// Secrets were redacted from `params`, so the digest does not match them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub redacted: bool,
    /// Message of the definition on one line, untrusted; empty if it has none.
    #[serde(deserialize_with = "message")]
    pub message: Shown,
    /// Script locations that make the call: `agent.ts:5`.
    #[serde(deserialize_with = "places")]
    pub places: Vec<Shown>,
    /// Creation time.
    #[serde(with = "times")]
    pub created: SystemTime,
    /// Expiry time.
    #[serde(with = "times")]
    pub expires: SystemTime,
}

impl Request {
    /// Creates a request that expires after `lifetime`.
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

    /// Returns the name in scripts: `crm.createTicket`, or `getWeather` for a single-function capability.
    pub fn label(&self) -> String {
        match self.capability == self.function {
            true => self.function.clone(),
            false => format!("{}.{}", self.capability, self.function),
        }
    }

    /// Returns the time left, or `None` if it has expired.
    pub fn time_left(&self) -> Option<Duration> {
        self.expires.duration_since(SystemTime::now()).ok().filter(|left| !left.is_zero())
    }

    /// Verifies that the id matches the contents and the digest matches the call, to detect a changed file. With
    /// redacted secrets only the waiting run can verify the digest.
    pub fn is_consistent(&self) -> bool {
        let random = self.id.get(..PREFIX.len() + RANDOM);
        random.is_some_and(|random| self.bound_id(random) == self.id)
            && (self.redacted || self.digest == digest(&self.function_id, &self.params))
    }

    /// Builds the id from its random part and the hash of the request.
    fn bound_id(&self, random: &str) -> String {
        let mut said = json!(self);
        said["id"] = json!(random);
        let mut bound = hash(&said);
        bound.truncate(HASH_CHARACTERS);
        format!("{random}{bound}")
    }

    /// Hashes everything that a person is shown.
    pub fn fingerprint(&self) -> String {
        hash(&json!(self))
    }
}

fn shown_places(places: &[String]) -> Vec<Shown> {
    places.iter().take(MAX_PLACES).map(|place| Shown::line(place, MAX_PLACE)).collect()
}

/// Deserializes a message from a file, which is untrusted.
fn message<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Shown, D::Error> {
    String::deserialize(deserializer).map(|message| Shown::line(&message, MAX_MESSAGE))
}

fn places<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Shown>, D::Error> {
    Vec::<String>::deserialize(deserializer).map(|places| shown_places(&places))
}

/// Validates an id before it is used as a file name.
pub fn is_id(text: &str) -> bool {
    /// Longer than any valid id.
    const MAX_LENGTH: usize = 64;
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    text.len() <= MAX_LENGTH
        && text.strip_prefix(PREFIX).is_some_and(|rest| !rest.is_empty() && rest.bytes().all(is_plain))
}

/// Generates the random part of an id. A counter keeps ids unique within this process even without randomness.
fn random_id() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let mut random = [0; 16];
    let _ = getrandom::fill(&mut random);
    let mut hash = Sha256::new();
    hash.update(random);
    hash.update(COUNT.fetch_add(1, Ordering::Relaxed).to_le_bytes());
    hash.update(std::process::id().to_le_bytes());
    let mut text = HEXLOWER.encode(&hash.finalize());
    text.truncate(RANDOM);
    format!("{PREFIX}{text}")
}

#[cfg(test)]
#[path = "request_tests.rs"]
mod tests;
