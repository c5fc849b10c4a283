//! Parent call: the call of another run that a run answers.

use crate::clock::RunClock;
use crate::record::RunRecord;
use agent_spaces_types::event::{Event, Parent};
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::mpsc;

/// Call of another run that a run answers. Events of the answering run name it, and the calling run's clock is paused
/// while the answering run waits for approval.
#[derive(Clone, Debug)]
pub struct ParentCall {
    /// Id of the calling run.
    pub run_id: Arc<str>,
    /// Number of the call in that run.
    pub call_id: u64,
    /// Clock of the calling run.
    pub clock: Option<RunClock>,
    /// Sender of the calling run's events, which receives those of the answering run too.
    pub listener: Option<mpsc::UnboundedSender<Event>>,
    /// Record of the calling run: both share its quota of the audit log.
    pub record: Option<Arc<dyn RunRecord>>,
    /// The answering script and those above it, if a script answers.
    pub script: Option<Arc<AnsweringScript>>,
}

/// Script that answers a call.
#[derive(Debug)]
pub struct AnsweringScript {
    /// Its file.
    pub file: Arc<PathBuf>,
    /// Name of the space it runs in, if it has one.
    pub space: Option<String>,
    /// Script whose call it answers, if that answers a call itself.
    pub above: Option<Arc<AnsweringScript>>,
}

impl ParentCall {
    /// Returns run id and call number, as in events.
    pub fn id(&self) -> Parent {
        Parent { run_id: self.run_id.clone(), call_id: self.call_id }
    }

    /// Adds the script that answers the call.
    pub fn answered_by(self, file: &Arc<PathBuf>, space: Option<&str>) -> ParentCall {
        let script = AnsweringScript { file: file.clone(), space: space.map(str::to_owned), above: self.script };
        ParentCall { script: Some(Arc::new(script)), ..self }
    }
}
