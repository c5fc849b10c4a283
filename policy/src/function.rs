//! All that holds for one function.

use crate::argument::Fault;
use crate::counted::Counted;
use crate::counts::{CountError, RateFile};
use crate::decide::Decided;
use crate::facts::Facts;
use crate::limiter::Limiter;
use crate::middleware::Middleware;
use crate::rates::{Rates, Wait};
use crate::refusal::{Refusal, not_callable};
use crate::rule::{Decision, Rule};
use crate::shown::shown;
use capability_gen::identity::FunctionId;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// All that holds for one function: made when it is linked, asked at every call.
pub struct FunctionPolicy {
    pub(crate) id: FunctionId,
    pub(crate) label: String,
    pub(crate) decided: Decided,
    /// The rules that are about it, the most specific one last.
    pub(crate) rules: Vec<Arc<Rule>>,
    /// Scopes that a caller must have, and where that stands.
    pub(crate) scopes: Vec<(String, String)>,
    pub(crate) counted: Vec<Counted>,
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
            counted: rules.iter().filter_map(|rule| Counted::of(rule)).collect(),
            middleware: Middleware::of(&rules),
            rules,
            limiters,
            rates,
        }
    }

    /// Whether there is nothing to ask: every call is allowed, and made in the plain way.
    pub fn is_empty(&self) -> bool {
        self.decided.decision == Decision::Allow
            && self.scopes.is_empty()
            && self.counted.is_empty()
            && self.limiters.is_empty()
            && self.rules.iter().all(|rule| rule.arguments.is_empty())
            && self.middleware == Middleware::default()
    }

    /// What becomes of calls, and which rule says so.
    pub fn decision(&self) -> &Decided {
        &self.decided
    }

    /// How calls are made once they may be.
    pub fn middleware(&self) -> Middleware {
        self.middleware
    }

    /// The change to a configuration that would let every call pass without asking.
    pub fn line_to_allow(&self) -> String {
        let decides = |rule: &&Arc<Rule>| rule.decision == Some(self.decided.decision);
        match self.rules.iter().rev().find(decides) {
            // Another rule for the same name would not be weaker than this one.
            Some(rule) if rule.pattern.is_exact() => format!("{}: write \"allow\"", rule.place),
            // The name that stands for one function alone, also where a module is one function.
            _ if !self.label.contains('.') => {
                format!("`policy.functions`: add \"{0}.{0}\": \"allow\"", self.label)
            }
            _ => format!("`policy.functions`: add \"{}\": \"allow\"", self.label),
        }
    }

    /// Whether some callers may not call it at all.
    pub fn is_gated(&self) -> bool {
        self.decided.decision == Decision::Deny || !self.scopes.is_empty()
    }

    /// The scopes that it asks for.
    pub fn scopes(&self) -> impl Iterator<Item = &str> {
        self.scopes.iter().map(|(scope, _)| scope.as_str())
    }

    /// Whether calls by who has these scopes may pass at all.
    pub fn is_open(&self, scopes: &BTreeSet<String>) -> bool {
        self.decided.decision != Decision::Deny && self.scopes.iter().all(|(scope, _)| scopes.contains(scope))
    }

    /// Refuses a function that is denied.
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
        let (label, scope) = (&self.label, shown(scope));
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
                            shown(&fault.place)
                        ),
                    }
                })?;
            }
        }
        Ok(())
    }

    /// Whether a rule says something of arguments.
    pub fn has_arguments(&self) -> bool {
        self.rules.iter().any(|rule| !rule.arguments.is_empty())
    }

    /// The rule that allows it, where that does not hold before its file is accepted.
    pub fn ignored_rule(&self) -> Option<String> {
        let (label, place) = (&self.label, self.decided.ignored.as_ref()?);
        Some(format!(
            "{place}: \"allow\" does not hold for {label}, whose definition wants approval, before the configuration is \
             accepted with `agent-spaces trust`"
        ))
    }

    /// Constraints on arguments that a schema of its parameters does not have: most likely slips, and one of them that
    /// is optional never applies. Of a rule over several functions only those that look like another argument.
    pub fn unknown_arguments(&self, schema: &Value) -> Vec<String> {
        let all = self.rules.iter().flat_map(|rule| rule.arguments.iter().map(move |(path, _)| (rule, path)));
        let unknown = all.filter_map(|(rule, path)| {
            let unknown = path.unknown_in(schema)?;
            let near = unknown.nearest.map(|near| format!("; did you mean `{}`?", shown(&near)));
            if near.is_none() && !rule.pattern.is_exact() {
                return None;
            }
            let (place, label, name) = (&rule.place, &self.label, shown(&unknown.name));
            let near = near.unwrap_or_default();
            Some(format!("{place}.arguments: `{path}`: {label} has no argument `{name}`{near}"))
        });
        unknown.collect()
    }

    /// What a script is told: of its own value, and not of those that would be allowed.
    fn message(&self, fault: &Fault) -> String {
        let message = match fault.place.as_str() {
            "" => format!("{}: the policy does not allow these parameters", self.label),
            place => format!("{}: the policy does not allow this value of `{}`", self.label, shown(place)),
        };
        if fault.why.is_about_spelling() { format!("{message}: {}", fault.why) } else { message }
    }

    /// Whether a rate bounds its calls.
    pub fn has_rates(&self) -> bool {
        !self.limiters.is_empty()
    }

    /// Takes back the turn that a call was given which is not made.
    pub fn give_back(&self) {
        self.rates.give_back(&self.limiters);
    }

    /// Takes a turn at every rate over all processes that share a file, or none. May wait a moment for other processes.
    pub fn take_shared(&self, file: &RateFile, waited: Duration) -> Result<Result<(), Wait>, CountError> {
        Rates::take_shared(&self.limiters, file, waited)
    }

    /// Takes a turn at every rate, or none. `waited` is how long the call has been waiting for one.
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
