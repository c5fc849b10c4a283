//! Effective policy of one function.

use crate::argument::Fault;
use crate::call_limits::CallLimits;
use crate::counts::{CountError, DayCounts, RateFile, RunCounts};
use crate::decide::Decided;
use crate::facts::Facts;
use crate::limiter::Limiter;
use crate::middleware::Middleware;
use crate::rates::{Rates, Wait};
use crate::refusal::Refusal;
use crate::rule::{Decision, Rule};
use crate::sanitize::sanitize;
use agent_spaces_types::identity::FunctionId;
use agent_spaces_types::names::not_callable;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Constraint on an argument that the function does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownArgument {
    /// Configuration path of the constraint.
    pub place: String,
    /// The fault, with the nearest argument name.
    pub text: String,
}

impl fmt::Display for UnknownArgument {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.place, self.text)
    }
}

/// Effective policy of one function: built when it is linked, checked at every call.
pub struct FunctionPolicy {
    pub(crate) id: FunctionId,
    pub(crate) label: String,
    pub(crate) decided: Decided,
    /// Matching rules, the most specific one last.
    pub(crate) rules: Vec<Arc<Rule>>,
    /// Required scopes, each with the location that requires it.
    pub(crate) scopes: Vec<(String, String)>,
    pub(crate) call_limits: CallLimits,
    pub(crate) limiters: Vec<Arc<Limiter>>,
    rates: Arc<Rates>,
    middleware: Middleware,
}

impl FunctionPolicy {
    pub(crate) fn new(
        facts: &Facts<'_>,
        decided: Decided,
        rules: Vec<Arc<Rule>>,
        limiters: Vec<Arc<Limiter>>,
        rates: Arc<Rates>,
    ) -> FunctionPolicy {
        let declared = facts.scopes.iter().map(|scope| (scope.clone(), format!("the definition of {}", facts.label)));
        let ruled = rules
            .iter()
            .flat_map(|rule| rule.scopes.iter().map(|scope| (scope.clone(), format!("{}.scopes", rule.place))));
        FunctionPolicy {
            id: facts.id.clone(),
            label: facts.label.to_owned(),
            decided,
            scopes: declared.chain(ruled).collect(),
            call_limits: CallLimits::of(facts.label, &rules),
            middleware: Middleware::of(&rules),
            rules,
            limiters,
            rates,
        }
    }

    /// True if every call is allowed and no limit or middleware applies.
    pub fn is_empty(&self) -> bool {
        self.decided.decision == Decision::Allow
            && self.scopes.is_empty()
            && self.call_limits.is_empty()
            && self.limiters.is_empty()
            && self.rules.iter().all(|rule| rule.arguments.is_empty())
            && self.middleware == Middleware::default()
    }

    /// Returns the decision and its source.
    pub fn decision(&self) -> &Decided {
        &self.decided
    }

    /// Returns the middleware of allowed calls.
    pub fn middleware(&self) -> Middleware {
        self.middleware
    }

    /// Returns the configuration change that would allow every call without approval.
    pub fn line_to_allow(&self) -> String {
        let decides = |rule: &&Arc<Rule>| rule.decision == Some(self.decided.decision);
        match self.rules.iter().rev().find(decides) {
            // Adding another rule for the same name would not override this one.
            Some(rule) if rule.pattern.is_exact() => format!("{}: write \"allow\"", rule.place),
            // The unambiguous name, also for a module with one function.
            _ if !self.label.contains('.') => {
                format!("`policy.functions`: add \"{0}.{0}\": \"allow\"", self.label)
            }
            _ => format!("`policy.functions`: add \"{}\": \"allow\"", self.label),
        }
    }

    /// True if some callers may not call it at all.
    pub fn is_gated(&self) -> bool {
        self.decided.decision == Decision::Deny || !self.scopes.is_empty()
    }

    /// Returns the required scopes.
    pub fn scopes(&self) -> impl Iterator<Item = &str> {
        self.scopes.iter().map(|(scope, _)| scope.as_str())
    }

    /// True if a caller with these scopes may call it.
    pub fn is_open(&self, scopes: &BTreeSet<String>) -> bool {
        self.decided.decision != Decision::Deny && self.scopes.iter().all(|(scope, _)| scopes.contains(scope))
    }

    /// Refuses calls of a denied function.
    pub fn check_decision(&self) -> Result<(), Refusal> {
        if self.decided.decision != Decision::Deny {
            return Ok(());
        }
        Err(Refusal {
            message: not_callable(&self.label),
            operator: format!(
                "{} is denied by {}; to allow it, {}",
                self.label,
                self.decided.because,
                self.line_to_allow()
            ),
        })
    }

    /// Refuses a caller that lacks a scope.
    pub fn check_scopes(&self, caller: &BTreeSet<String>) -> Result<(), Refusal> {
        let Some((scope, place)) = self.scopes.iter().find(|(scope, _)| !caller.contains(scope)) else { return Ok(()) };
        let (label, scope) = (&self.label, sanitize(scope));
        Err(Refusal {
            message: not_callable(label),
            operator: format!(
                "{label} needs the scope `{scope}` by {place}; give it to the caller, or take it out there"
            ),
        })
    }

    /// Refuses arguments that do not fit every constraint.
    pub fn check_arguments(&self, params: &Value) -> Result<(), Refusal> {
        for rule in &self.rules {
            for (path, constraint) in &rule.arguments {
                path.check(params, constraint).map_err(|fault| {
                    let (label, place, why) = (&self.label, &rule.place, fault.why);
                    Refusal {
                        message: self.message(&fault),
                        operator: format!(
                            "{label}: `{}` {constraint} by {place}.arguments, and {why}; change that constraint to let it pass",
                            sanitize(&fault.place)
                        ),
                    }
                })?;
            }
        }
        Ok(())
    }

    /// True if a rule constrains arguments.
    pub fn has_arguments(&self) -> bool {
        self.rules.iter().any(|rule| !rule.arguments.is_empty())
    }

    /// Warns about an `allow` rule that has no effect until its file is trusted.
    pub fn ignored_rule(&self) -> Option<String> {
        let (label, place) = (&self.label, self.decided.ignored.as_ref()?);
        Some(format!(
            "{place}: \"allow\" is ignored for {label}: its definition requires approval and the configuration is not \
             trusted (run `agent-spaces trust`)"
        ))
    }

    /// Lists constraints on arguments that the parameter schema lacks: most likely typos, and an optional one would
    /// never apply. For rules over several functions only those close to a known argument name.
    pub fn unknown_arguments(&self, schema: &Value) -> Vec<UnknownArgument> {
        let all = self.rules.iter().flat_map(|rule| rule.arguments.iter().map(move |(path, _)| (rule, path)));
        let unknown = all.filter_map(|(rule, path)| {
            let unknown = path.unknown_in(schema)?;
            let near = unknown.nearest.map(|near| format!("; did you mean `{}`?", sanitize(&near)));
            if near.is_none() && !rule.pattern.is_exact() {
                return None;
            }
            let (place, label, name) = (&rule.place, &self.label, sanitize(&unknown.name));
            let near = near.unwrap_or_default();
            Some(UnknownArgument {
                place: format!("{place}.arguments"),
                text: format!("`{path}`: {label} has no argument `{name}`{near}"),
            })
        });
        unknown.collect()
    }

    /// Message for the script: names its own value, never the allowed ones.
    fn message(&self, fault: &Fault) -> String {
        let message = match fault.place.as_str() {
            "" => format!("{}: the policy does not allow these parameters", self.label),
            place => format!("{}: the policy does not allow this value of `{}`", self.label, sanitize(place)),
        };
        if fault.why.is_about_spelling() { format!("{message}: {}", fault.why) } else { message }
    }

    /// True if counting a call may block: daily counts are kept in a file.
    pub fn is_counted_by_day(&self) -> bool {
        self.call_limits.has_daily()
    }

    /// Counts a call in its run and in the day, or refuses it if a limit is reached.
    pub fn count(&self, run: &RunCounts, day: &dyn DayCounts) -> Result<(), Refusal> {
        self.call_limits.count(run, day)
    }

    /// Counts a call in its run that was counted in its day before.
    pub fn recount(&self, run: &RunCounts) {
        self.call_limits.recount(run);
    }

    /// True if a rate limit applies.
    pub fn has_rates(&self) -> bool {
        !self.limiters.is_empty()
    }

    /// Releases the rate-limit slot of a call that was not made.
    pub fn give_back(&self) {
        self.rates.give_back(&self.limiters);
    }

    /// Takes a slot of every rate limit shared between processes through a file, or none. May block briefly on other
    /// processes.
    pub fn take_shared(&self, file: &RateFile, waited: Duration) -> Result<Result<(), Wait>, CountError> {
        Rates::take_shared(&self.limiters, file, waited)
    }

    /// Takes a slot of every rate limit, or none. `waited` is how long the call has waited so far.
    pub fn take(&self, now: Instant, waited: Duration) -> Result<(), Wait> {
        if self.limiters.is_empty() { Ok(()) } else { self.rates.take(&self.limiters, now, waited) }
    }
}

impl fmt::Debug for FunctionPolicy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("FunctionPolicy");
        shown.field("label", &self.label).field("decided", &self.decided).finish_non_exhaustive()
    }
}
