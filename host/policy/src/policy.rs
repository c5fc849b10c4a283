//! Effective policy of a space, built from settings.

use crate::decide::decide;
use crate::facts::Facts;
use crate::files::FilePolicy;
use crate::function::FunctionPolicy;
use crate::limiter::Limiter;
use crate::network::NetworkPolicy;
use crate::preset::{Preset, PresetLimits};
use crate::rate::Rate;
use crate::rates::Rates;
use crate::rule::Rule;
use crate::settings::{APPROVALS_EXPIRE, ApprovalSettings, FileSettings, NetworkSettings, Settings};
use agent_spaces_types::identity::FunctionId;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Effective policy of a space. One per space, since it holds the rate-limit counters.
pub struct Policy {
    preset: Option<Preset>,
    files: FilePolicy,
    network: NetworkPolicy,
    approvals: ApprovalPolicy,
    rules: Vec<RuleInForce>,
    rates: Arc<Rates>,
    space: Option<Arc<Limiter>>,
    /// Rate limits of definitions.
    declared: Arc<Mutex<BTreeMap<Declared, Arc<Limiter>>>>,
    /// From an untrusted file: may only tighten the defaults.
    only_tightens: bool,
}

/// Subject of a definition's rate limit.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Declared {
    Function(FunctionId),
    /// All functions of an interface together.
    Interface(String),
}

/// A rule, and the rate limiter shared by its functions.
struct RuleInForce {
    rule: Arc<Rule>,
    limiter: Option<Arc<Limiter>>,
}

/// Settings of approval requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ApprovalPolicy {
    /// Time until a request expires. for a decision.
    pub expires: Duration,
    /// The time that a run waits for approvals counts against its time limit.
    pub counts_time: bool,
    /// Most pending approvals of a run.
    pub max_pending: u32,
}

impl ApprovalPolicy {
    /// Upper bound of `max_pending`: people cannot review more at once.
    pub const MAX_PENDING: u32 = 20;
}

impl Policy {
    /// Builds a policy from settings.
    pub fn new(settings: Settings) -> Policy {
        let settings = if settings.only_tightens { settings.tightened() } else { settings };
        let preset = settings.preset.unwrap_or(Preset::Standard);
        let rules = settings.functions.into_iter().map(|rule| {
            let limiter = rule.rate_limit.map(|rate| {
                let key = format!("{} at {}", rule.pattern, rule.place);
                Arc::new(Limiter::new(rate, format!("{}.rateLimit", rule.place), key))
            });
            RuleInForce { rule: Arc::new(rule), limiter }
        });
        Policy {
            preset: settings.preset,
            files: files(preset, &settings.fs),
            network: network(preset, settings.http),
            approvals: approvals(&settings.approvals),
            rules: rules.collect(),
            space: settings.rate_limit.map(|rate| {
                Arc::new(Limiter::new(rate, "`policy.rateLimit` of the space".to_owned(), "the space".to_owned()))
            }),
            rates: Arc::new(Rates::new()),
            declared: Arc::default(),
            only_tightens: settings.only_tightens,
        }
    }

    /// Builds the policy of a part of a space, whose calls count against the rate limits of the whole space too.
    pub fn within(settings: Settings, whole: &Policy) -> Policy {
        let mut part = Policy::new(settings);
        let known = || whole.rules.iter().filter_map(|entry| entry.limiter.as_ref()).chain(&whole.space);
        let limiters = part.rules.iter_mut().filter_map(|entry| entry.limiter.as_mut()).chain(&mut part.space);
        for limiter in limiters {
            if let Some(shared) = known().find(|known| known.key == limiter.key && known.rate == limiter.rate) {
                *limiter = shared.clone();
            }
        }
        // One clock and one lock for the limiters of both.
        (part.rates, part.declared) = (whole.rates.clone(), whole.declared.clone());
        part
    }

    /// True if its calls count against the rate limits of `whole`.
    pub fn is_within(&self, whole: &Policy) -> bool {
        Arc::ptr_eq(&self.rates, &whole.rates)
    }

    /// Returns the file access policy.
    pub fn files(&self) -> &FilePolicy {
        &self.files
    }

    /// Returns the network access policy.
    pub fn network(&self) -> &NetworkPolicy {
        &self.network
    }

    /// Returns the approval settings.
    pub fn approvals(&self) -> ApprovalPolicy {
        self.approvals
    }

    /// Returns the preset's run limits, used where the configuration has none.
    pub fn limits(&self) -> Option<PresetLimits> {
        self.preset.map(Preset::limits)
    }

    /// Returns the effective policy of one function.
    pub fn function(&self, facts: &Facts<'_>) -> FunctionPolicy {
        let matching = || self.rules.iter().filter(|entry| entry.rule.pattern.is_match(facts.id, facts.label));
        let mut rules: Vec<_> = matching().map(|entry| entry.rule.clone()).collect();
        // Of equals the last one wins, which is the space's own.
        rules.sort_by_key(|rule| rule.pattern.specificity());
        let limiters = self.declared(facts).into_iter();
        let limiters = limiters.chain(matching().filter_map(|entry| entry.limiter.clone())).chain(self.space.clone());
        let decided = decide(self.preset, &rules, facts, self.only_tightens);
        FunctionPolicy::new(facts, decided, rules, limiters.collect(), self.rates.clone())
    }

    pub(crate) fn rules(&self) -> impl Iterator<Item = &Rule> {
        self.rules.iter().map(|entry| &*entry.rule)
    }

    /// Limiters of the definition's rate limits for a function and its capability, the same each time the function is
    /// linked.
    fn declared(&self, facts: &Facts<'_>) -> Vec<Arc<Limiter>> {
        let own = facts.rate_limit.map(|rate| (rate, Declared::Function(facts.id.clone()), facts.id.to_string()));
        let shared = facts.capability_rate_limit.map(|rate| {
            let interface = facts.id.interface();
            (rate, Declared::Interface(interface.to_owned()), interface.to_owned())
        });
        own.into_iter().chain(shared).map(|(rate, of, name)| self.limiter(rate.into(), of, &name)).collect()
    }

    fn limiter(&self, rate: Rate, of: Declared, name: &str) -> Arc<Limiter> {
        let mut declared = self.declared.lock().unwrap_or_else(PoisonError::into_inner);
        match declared.get(&of) {
            Some(limiter) if limiter.rate == rate => limiter.clone(),
            _ => {
                let place = format!("`rateLimit` in the definition of {name}");
                let limiter = Arc::new(Limiter::new(rate, place, format!("the definition of {name}")));
                declared.insert(of, limiter.clone());
                limiter
            }
        }
    }
}

fn files(preset: Preset, settings: &FileSettings) -> FilePolicy {
    let base = preset.files();
    FilePolicy {
        read: settings.read.unwrap_or(base.read),
        write: settings.write.unwrap_or(base.write),
        max_file_bytes: settings.max_file_bytes.unwrap_or(base.max_file_bytes),
        max_total_bytes: settings.max_total_bytes.unwrap_or(base.max_total_bytes),
    }
}

fn network(preset: Preset, settings: NetworkSettings) -> NetworkPolicy {
    let base = NetworkPolicy::default();
    let domains = settings.domains.unwrap_or_else(|| preset.domains());
    NetworkPolicy {
        // With no allowed host, "network disabled" is clearer than "host not allowed".
        enabled: settings.enabled.unwrap_or(preset.has_network() && !domains.is_empty()),
        domains,
        blocked: settings.blocked.unwrap_or_default(),
        private: settings.private.unwrap_or_default(),
        methods: settings.methods.or_else(|| preset.methods()),
        max_response_bytes: settings.max_response_bytes.unwrap_or(base.max_response_bytes),
        max_request_bytes: settings.max_request_bytes.unwrap_or(base.max_request_bytes),
        timeout: settings.timeout.unwrap_or(base.timeout),
    }
}

fn approvals(settings: &ApprovalSettings) -> ApprovalPolicy {
    ApprovalPolicy {
        expires: settings.expires.unwrap_or(APPROVALS_EXPIRE),
        counts_time: settings.counts_time.unwrap_or(false),
        max_pending: settings.max_pending.unwrap_or(ApprovalPolicy::MAX_PENDING).min(ApprovalPolicy::MAX_PENDING),
    }
}

impl fmt::Debug for Policy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rules: Vec<_> = self.rules().map(|rule| &rule.place).collect();
        formatter.debug_struct("Policy").field("preset", &self.preset).field("rules", &rules).finish_non_exhaustive()
    }
}
