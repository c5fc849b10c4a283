//! State that all pipelines of a space share: policy, limits, approvals, redaction and observers.

use super::approval::Approvals;
use super::cache::AnswerCache;
use super::grant::Grants;
use super::provide::ConcurrencyLimits;
use crate::accounting::Accounting;
use agent_spaces_calls::events::Observer;
use agent_spaces_calls::operator_notices::{Notices, Operator, Told};
use agent_spaces_calls::record::RunRecorder;
use agent_spaces_calls::run_rules::RunRules;
use agent_spaces_policy::{DayCounts, DayMemory, FunctionId, Policy, RateFile, Settings};
use agent_spaces_secrets::Redactor;
use agent_spaces_types::limits::Limits;
use serde_json::Value;
use std::sync::Arc;

/// Observer of results that have no declared type; secrets are redacted.
pub type ResultObserver = dyn Fn(&FunctionId, &Value) + Send + Sync;

/// State that all pipelines of a space share. Clones share it too.
#[derive(Clone)]
pub struct Rules {
    /// Name of the space, for approval requests.
    pub space: Option<Arc<str>>,
    /// Interfaces granted to the space.
    pub grants: Grants,
    /// Limits of runs that set none of their own.
    pub limits: Limits,
    /// Policy of the space.
    pub policy: Arc<Policy>,
    /// Calls per day, by function.
    pub days: Arc<dyn DayCounts>,
    /// Rate limits shared by all processes of the project, if configured.
    pub rates: Option<Arc<RateFile>>,
    /// Approval of calls by a person.
    pub approvals: Approvals,
    /// Answer cache.
    pub answers: AnswerCache,
    /// Concurrency limits by function.
    pub concurrency: ConcurrencyLimits,
    /// Removes secrets from answers, errors and notices.
    pub redactor: Redactor,
    /// Usage log.
    pub accounting: Accounting,
    /// Receives every event of every run.
    pub observer: Option<Arc<Observer>>,
    /// Audit log.
    pub recorder: Option<Arc<dyn RunRecorder>>,
    /// Receives every result that has no declared type.
    pub results: Option<Arc<ResultObserver>>,
    /// Receives the parts of refusals that only the operator may see.
    pub operator: Option<Arc<Operator>>,
    /// Notices that were sent already.
    told: Told,
}

impl Rules {
    /// Creates rules that allow every granted function.
    pub fn new(grants: Grants) -> Rules {
        Rules {
            space: None,
            grants,
            limits: Limits::default(),
            policy: Arc::new(Policy::new(Settings::default())),
            days: Arc::new(DayMemory::default()),
            rates: None,
            approvals: Approvals::default(),
            answers: AnswerCache::default(),
            concurrency: ConcurrencyLimits::default(),
            redactor: Redactor::default(),
            accounting: Accounting::default(),
            observer: None,
            recorder: None,
            results: None,
            operator: None,
            told: Told::default(),
        }
    }

    /// Takes over the counts, limits and cache of an earlier instance of the space.
    pub fn resume_from(&mut self, history: crate::History) {
        self.policy = history.policy;
        self.answers = history.answers;
        self.concurrency = history.concurrency;
    }

    /// Returns the settings that all runs of the space share.
    pub fn runs(&self) -> RunRules {
        RunRules {
            limits: self.limits.clone(),
            observer: self.observer.clone(),
            recorder: self.recorder.clone(),
            redactor: self.redactor.clone(),
            notices: self.notices(),
            max_pending: self.policy.approvals().max_pending as usize,
        }
    }

    /// Returns the sender of notices to the operator.
    pub fn notices(&self) -> Notices {
        Notices::new(self.operator.clone(), self.redactor.clone(), self.told.clone())
    }
}
