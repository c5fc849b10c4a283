//! Dry run of a call's policy: the outcome, and the rules that lead to it.

use crate::decide::Because;
use crate::function::FunctionPolicy;
use crate::rule::Decision;
use agent_spaces_types::identity::FunctionId;
use serde::Serialize;
use serde_json::Value;
use std::fmt;

/// The outcome of a hypothetical call. For the operator: it names rules.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Explanation {
    /// The function, as scripts call it.
    pub function: String,
    /// The function's identity.
    pub function_id: FunctionId,
    /// The outcome, including all checks that are possible without calling.
    pub outcome: Decision,
    /// The decision before arguments are checked.
    pub decision: Decision,
    /// The source of the decision.
    pub because: Because,
    /// All other conditions.
    pub checks: Vec<Explained>,
    /// Middleware of allowed calls: caching, retries, concurrency, timeouts.
    pub made: Vec<String>,
}

/// One condition on calls of a function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Explained {
    /// The condition in words.
    pub text: String,
    /// Its location in the configuration.
    pub place: String,
    /// True if the call passes it; absent if that is known only at the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passes: Option<bool>,
    /// Reason for which it does not pass.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

impl Explained {
    fn new(text: String, place: impl Into<String>) -> Explained {
        Explained { text, place: place.into(), passes: None, why: None }
    }
}

impl FunctionPolicy {
    /// Explains a call with these parameters, or calls in general.
    pub fn explain(&self, params: Option<&Value>) -> Explanation {
        let mut checks = self.overridden();
        checks.extend(self.conditions(params));
        let is_refused = checks.iter().any(|check| check.passes == Some(false));
        let decision = self.decided.decision;
        Explanation {
            function: self.label.clone(),
            function_id: self.id.clone(),
            outcome: if is_refused { Decision::Deny } else { decision },
            decision,
            because: self.decided.because.clone(),
            checks,
            made: self.middleware().texts(),
        }
    }

    /// Returns the conditions on calls besides the decision, one line each: limits and middleware.
    pub fn terms(&self) -> Vec<String> {
        let bounds = self.conditions(None).into_iter().map(|condition| condition.text);
        bounds.chain(self.middleware().texts()).collect()
    }

    fn conditions(&self, params: Option<&Value>) -> Vec<Explained> {
        let mut checks = self.arguments(params);
        checks.extend(
            self.scopes
                .iter()
                .map(|(scope, place)| Explained::new(format!("the caller must have the scope `{scope}`"), place)),
        );
        for limit in self.call_limits.iter() {
            let calls =
                |most: u64, when: &str| Explained::new(format!("at most {most} calls in one {when}"), &limit.place);
            checks.extend(limit.per_run.map(|most| calls(most, "run")));
            checks.extend(limit.per_day.map(|most| calls(most, "day")));
        }
        checks.extend(self.limiters.iter().map(|limiter| Explained::new(limiter.rate.to_string(), &limiter.place)));
        checks
    }

    /// Rules overridden by a stronger one.
    fn overridden(&self) -> Vec<Explained> {
        let decides =
            |place: &str| matches!(&self.decided.because, Because::Rule { place: deciding } if deciding == place);
        let weaker = self.rules.iter().rev().filter(|rule| !decides(&rule.place));
        weaker
            .filter_map(|rule| {
                let text = format!("`{}` says {}, but is overridden", rule.pattern, rule.decision?);
                Some(Explained::new(text, &rule.place))
            })
            .collect()
    }

    fn arguments(&self, params: Option<&Value>) -> Vec<Explained> {
        let all = self.rules.iter().flat_map(|rule| rule.arguments.iter().map(move |argument| (rule, argument)));
        all.map(|(rule, (path, constraint))| {
            let fault = params.and_then(|params| path.check(params, constraint).err());
            Explained {
                text: format!("the argument `{path}` {constraint}"),
                place: format!("{}.arguments", rule.place),
                passes: params.map(|_| fault.is_none()),
                why: fault.map(|fault| format!("`{}`: {}", fault.place, fault.why)),
            }
        })
        .collect()
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}, by {}", self.function, self.decision, self.because)?;
        for check in &self.checks {
            let verdict = match check.passes {
                Some(true) => "passes: ",
                Some(false) => "fails: ",
                None => "",
            };
            write!(formatter, "\n  {verdict}{} ({})", check.text, check.place)?;
            check.why.iter().try_for_each(|why| write!(formatter, ": {why}"))?;
        }
        self.made.iter().try_for_each(|text| write!(formatter, "\n  {text}"))?;
        if self.outcome == self.decision { Ok(()) } else { write!(formatter, "\n  so the outcome is {}", self.outcome) }
    }
}
