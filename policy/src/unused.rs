//! Rules that are about no function that there is: most likely a slip, and a slip in a rule that denies allows.

use crate::labels::LabelledFunction;
use crate::policy::Policy;
use capability_gen::names::nearest;
use std::fmt;

/// A rule that is about no function that there is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnusedRule {
    /// Where it stands.
    pub place: String,
    /// What it is about.
    pub pattern: String,
    /// The function that was probably meant.
    pub nearest: Option<String>,
}

impl Policy {
    /// Whether there are rules over functions.
    pub fn has_rules(&self) -> bool {
        self.rules().next().is_some()
    }

    /// The rules that are about none of these functions.
    pub fn unused_rules(&self, functions: &[LabelledFunction]) -> Vec<UnusedRule> {
        let is_unused =
            |pattern: &crate::Pattern| !functions.iter().any(|each| pattern.is_match(&each.id, &each.label));
        let names: Vec<String> =
            functions.iter().flat_map(|each| [each.label.clone(), each.id.to_string(), each.name_in_full()]).collect();
        let unused = self.rules().filter(|rule| is_unused(&rule.pattern));
        unused
            .map(|rule| UnusedRule {
                place: rule.place.clone(),
                pattern: rule.pattern.to_string(),
                nearest: nearest(rule.pattern.as_str(), names.iter().map(String::as_str)).map(str::to_owned),
            })
            .collect()
    }
}

impl fmt::Display for UnusedRule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: there is no function `{}`", self.place, self.pattern)?;
        self.nearest.as_ref().map_or(Ok(()), |near| write!(formatter, "; did you mean `{near}`?"))
    }
}
