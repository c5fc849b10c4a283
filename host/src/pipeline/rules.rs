//! What a space lets its callers do, and who is told of what they did.

use super::approval::Approvals;
use super::cache::Answers;
use super::grant::Grants;
use super::operator_notices::{Notices, Operator, Told};
use super::provide::Lines;
use crate::accounting::Accounting;
use crate::audit_trail::AuditHandle;
use crate::events::Observer;
use agent_spaces_mcp::secrets::Redactor;
use agent_spaces_policy::{DayCounts, DayMemory, FunctionId, Policy, RateFile, Settings};
use serde_json::Value;
use std::sync::Arc;

/// Is shown results, without secrets.
pub type ResultObserver = dyn Fn(&FunctionId, &Value) + Send + Sync;

/// Everything that the steps of a space's calls have in common; clones are one.
#[derive(Clone)]
pub(crate) struct Rules {
    /// The space's name, for those who decide.
    pub(crate) space: Option<Arc<str>>,
    pub(crate) grants: Grants,
    pub(crate) policy: Arc<Policy>,
    /// How often functions were called today.
    pub(crate) days: Arc<dyn DayCounts>,
    /// How fast functions were called by all processes, where there may be several.
    pub(crate) rates: Option<Arc<RateFile>>,
    pub(crate) approvals: Approvals,
    pub(crate) answers: Answers,
    pub(crate) lines: Lines,
    pub(crate) redactor: Redactor,
    pub(crate) accounting: Accounting,
    pub(crate) observer: Option<Arc<Observer>>,
    pub(crate) audit: Option<AuditHandle>,
    /// Shown every result without a type.
    pub(crate) results: Option<Arc<ResultObserver>>,
    /// Told what only the operator may know of a refusal.
    pub(crate) operator: Option<Arc<Operator>>,
    /// What the operator was told already.
    told: Told,
}

impl Rules {
    /// What is granted may be called.
    pub(crate) fn new(grants: Grants) -> Rules {
        Rules {
            space: None,
            grants,
            policy: Arc::new(Policy::new(Settings::default())),
            days: Arc::new(DayMemory::default()),
            rates: None,
            approvals: Approvals::default(),
            answers: Answers::default(),
            lines: Lines::default(),
            redactor: Redactor::default(),
            accounting: Accounting::default(),
            observer: None,
            audit: None,
            results: None,
            operator: None,
            told: Told::default(),
        }
    }

    /// Goes on from the calls that a space had before.
    #[cfg(feature = "compiler")]
    pub(crate) fn go_on_from(&mut self, history: super::History) {
        self.policy = history.policy;
        self.answers = history.answers;
        self.lines = history.lines;
    }

    /// Where notices to the operator go.
    pub(crate) fn notices(&self) -> Notices {
        Notices::new(self.operator.clone(), self.redactor.clone(), self.told.clone())
    }
}
