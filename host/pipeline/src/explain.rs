//! Dry run of the steps: explains the outcome of a call without making it.

use super::{Pipeline, defaults, validate};
use agent_spaces_policy::{Decision, Explained, Explanation};
use serde_json::Value;

impl Pipeline {
    /// Explains the decision about calls of the function; with parameters, about that call, whose parameters are
    /// validated too.
    pub fn explain(&self, params: Option<Value>) -> Explanation {
        let mut explanation = self.explain_call(params);
        explanation.checks.extend(self.unknown_arguments.iter().map(|unknown| Explained {
            text: unknown.text.clone(),
            place: unknown.place.clone(),
            passes: None,
            why: None,
        }));
        explanation
    }

    fn explain_call(&self, params: Option<Value>) -> Explanation {
        let (Some(mut params), Some(_)) = (params.clone(), &self.checks) else {
            return self.policy.explain(params.as_ref());
        };
        let fits = self.compiled().map(|compiled| defaults::apply(compiled, &mut params));
        let fits = fits.and_then(|()| validate::check_now(self, params.clone()));
        let mut explanation = self.policy.explain(Some(&params));
        let check = Explained {
            text: "the parameters must fit their schema".to_owned(),
            place: format!("the definition of {}", self.label),
            passes: Some(fits.is_ok()),
            why: fits.err().map(|error| error.message),
        };
        if check.passes == Some(false) {
            explanation.outcome = Decision::Deny;
        }
        explanation.checks.insert(0, check);
        explanation
    }
}
