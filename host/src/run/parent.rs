//! The call that a run answers.

use super::clock::RunClock;
use crate::audit_trail::Ledger;
use crate::events::Event;
use crate::handlers::Call;
use serde::Serialize;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::mpsc;

/// The call of another run that a run answers. Its events name it, and the other run's clock stands while this one
/// waits for a person.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ParentCall {
    /// The run that calls.
    pub run_id: Arc<str>,
    /// The call's number in it.
    pub call_id: u64,
    #[serde(skip)]
    pub(crate) clock: Option<RunClock>,
    /// Who hears the other run's events hears this one's too.
    #[serde(skip)]
    pub(crate) listener: Option<mpsc::UnboundedSender<Event>>,
    /// What the other run may take of the audit log is for both.
    #[serde(skip)]
    pub(crate) ledger: Option<Arc<Ledger>>,
    /// The script that answers, where one does, and those above it.
    #[serde(skip)]
    pub(crate) script: Option<Arc<AnsweringScript>>,
}

/// A script that answers a call, under those whose calls it answers.
#[derive(Debug)]
#[cfg_attr(not(feature = "compiler"), expect(dead_code, reason = "only a host that compiles lets scripts answer"))]
pub(crate) struct AnsweringScript {
    pub(crate) file: Arc<PathBuf>,
    pub(crate) space: Option<String>,
    pub(crate) above: Option<Arc<AnsweringScript>>,
}

impl ParentCall {
    /// The run that answers this call is to be under it.
    pub fn of(call: &Call) -> ParentCall {
        ParentCall {
            run_id: call.run_id.clone(),
            call_id: call.id,
            clock: call.clock.clone(),
            listener: call.progress.listener(),
            ledger: call.ledger.clone(),
            script: call.script.clone(),
        }
    }

    /// The same, answered by a script.
    #[cfg(feature = "compiler")]
    pub(crate) fn answered_by(self, file: &Arc<PathBuf>, space: Option<&str>) -> ParentCall {
        let script = AnsweringScript { file: file.clone(), space: space.map(str::to_owned), above: self.script };
        ParentCall { script: Some(Arc::new(script)), ..self }
    }
}
