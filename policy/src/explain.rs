//! What would become of a call, and which rule says so.

use crate::decide::Because;
use crate::function::FunctionPolicy;
use crate::rule::Decision;
use capability_gen::identity::FunctionId;
use serde::Serialize;
use serde_json::Value;
use std::fmt;

/// What would become of a call. For the operator: it names rules.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Explanation {
    /// The function, as scripts call it.
    pub function: String,
    /// Which function that is.
    pub function_id: FunctionId,
    /// What becomes of a call, with all that can be checked now.
    pub outcome: Decision,
    /// What is decided before arguments are looked at.
    pub decision: Decision,
    /// What decides.
    pub because: Because,
    /// All else that holds.
    pub checks: Vec<Explained>,
    /// How calls are made once they may be: kept answers, repetitions, places, times.
    pub made: Vec<String>,
}

/// One thing that holds for a function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Explained {
    /// What it says.
    pub text: String,
    /// Where it stands.
    pub place: String,
    /// Whether the call passes it, where that can be said without calling.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passes: Option<bool>,
    /// Why it does not pass.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

impl Explained {
    fn new(text: String, place: impl Into<String>) -> Explained {
        Explained { text, place: place.into(), passes: None, why: None }
    }
}

impl FunctionPolicy {
    /// What would become of a call with these parameters, or of calls in general.
    pub fn explain(&self, params: Option<&Value>) -> Explanation {
        let mut checks = self.overruled();
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

    /// What holds for calls besides the decision, a line each: bounds, and how calls are made.
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
        for counted in &self.counted {
            let calls =
                |most: u64, when: &str| Explained::new(format!("at most {most} calls in one {when}"), &counted.place);
            checks.extend(counted.per_run.map(|most| calls(most, "run")));
            checks.extend(counted.per_day.map(|most| calls(most, "day")));
        }
        checks.extend(self.limiters.iter().map(|limiter| Explained::new(limiter.rate.to_string(), &limiter.place)));
        checks
    }

    /// Rules that would decide if there were no stronger one.
    fn overruled(&self) -> Vec<Explained> {
        let decides =
            |place: &str| matches!(&self.decided.because, Because::Rule { place: deciding } if deciding == place);
        let weaker = self.rules.iter().rev().filter(|rule| !decides(&rule.place));
        weaker
            .filter_map(|rule| {
                let text = format!("`{}` says {}, and is overruled", rule.pattern, rule.decision?);
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
