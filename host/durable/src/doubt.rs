//! Calls in doubt: sent, not answered when their host died, and not to be repeated.

use agent_spaces_calls::journal::{AnswerInfo, RecordedAnswer};
use agent_spaces_journal::{ApprovalFilter, Store, StoreError};
use agent_spaces_types::capability_error::CapabilityError;
use agent_spaces_types::code::Code;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Beginning of the ids of questions about calls in doubt.
pub(crate) const PREFIX: &str = "doubt_";

/// A person's word on a call in doubt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum DoubtAnswer {
    /// It took effect, and this is its result.
    Happened(Value),
    /// It did not take effect: it is made again.
    DidNotHappen,
    /// Its effect stays unknown: it fails with `call.in_doubt`.
    GiveUp,
}

impl DoubtAnswer {
    /// Returns the answer that the script gets, or `None` if the call is made again.
    pub(crate) fn outcome(self) -> Result<Option<RecordedAnswer>, CapabilityError> {
        match self {
            DoubtAnswer::Happened(value) => {
                Ok(Some(RecordedAnswer { answer: Ok(value), about: AnswerInfo::default(), is_counted: true }))
            }
            DoubtAnswer::DidNotHappen => Ok(None),
            DoubtAnswer::GiveUp => Err(error()),
        }
    }

    /// Returns the text that the store keeps.
    pub fn text(&self) -> String {
        json!(self).to_string()
    }
}

/// Question about a call in doubt, as the store keeps it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Doubt {
    kind: Kind,
    /// Id of the run.
    pub run_id: String,
    /// Number of the call in the run.
    pub call_id: u64,
    /// Number of times that the call was sent. Every time has its own question: an answer about an earlier one says
    /// nothing about this one.
    pub attempt: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Kind {
    InDoubt,
}

impl Doubt {
    pub(crate) fn new(run: &str, call: u64, attempt: u32) -> Doubt {
        Doubt { kind: Kind::InDoubt, run_id: run.to_owned(), call_id: call, attempt }
    }

    /// Returns the id under which the store keeps the question: `store.decide` takes it, with a [`DoubtAnswer`].
    pub fn id(&self) -> String {
        format!("{PREFIX}{}_{}_{}", self.run_id, self.call_id, self.attempt)
    }

    /// Returns the text that the store keeps.
    pub(crate) fn text(&self) -> String {
        json!(self).to_string()
    }
}

/// Returns the undecided questions of a run.
///
/// # Errors
/// The store cannot be read.
pub async fn undecided(store: &dyn Store, run: &str) -> Result<Vec<Doubt>, StoreError> {
    let filter = ApprovalFilter { run: Some(run.to_owned()), limit: usize::MAX, ..ApprovalFilter::default() };
    let rows = store.approvals(filter).await?;
    Ok(rows.iter().filter(|row| is_doubt(&row.id)).filter_map(|row| serde_json::from_str(&row.request).ok()).collect())
}

/// Reads a person's word, as the store keeps it.
pub fn read(text: &str) -> Option<DoubtAnswer> {
    serde_json::from_str(text).ok()
}

/// Returns the error of a call in doubt.
pub(crate) fn error() -> CapabilityError {
    let message = "the host died after it sent the call and before it was answered; it may have taken effect";
    CapabilityError::new(Code::CallInDoubt, message)
}

/// Returns true if a request of the store is a question about a call in doubt.
pub fn is_doubt(id: &str) -> bool {
    id.starts_with(PREFIX)
}
