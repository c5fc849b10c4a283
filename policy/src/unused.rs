//! Rules that are about no function that there is: most likely a slip, and a slip in a rule that denies allows.

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
    pub fn unused_rules(&self, labels: &[&str]) -> Vec<UnusedRule> {
        let is_unused = |pattern: &crate::Pattern| !labels.iter().any(|label| pattern.is_match(label));
        let unused = self.rules().filter(|rule| is_unused(&rule.pattern));
        unused
            .map(|rule| UnusedRule {
                place: rule.place.clone(),
                pattern: rule.pattern.to_string(),
                nearest: nearest(rule.pattern.as_str(), labels.iter().copied()).map(str::to_owned),
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
