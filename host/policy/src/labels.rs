//! Ambiguous labels in rules: each label must match functions of one module only.
//!
//! A label is the name in scripts, and two modules may export the same name: the standard library's `time` and an MCP
//! server's `time`. A rule that matches both is refused before any call.

use crate::policy::Policy;
use agent_spaces_types::identity::FunctionId;
use std::fmt;

/// A function with its identity, label and module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelledFunction {
    /// Its identity.
    pub id: FunctionId,
    /// Name in scripts: `time.now`.
    pub label: String,
    /// Module that exports it: `@agent-spaces/std`.
    pub module: String,
}

/// A rule whose label matches functions of two modules.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct AmbiguousRule {
    /// Location of the rule.
    pub place: String,
    /// Pattern of the rule.
    pub pattern: String,
    /// True if the pattern names one function rather than a whole capability.
    is_exact: bool,
    /// A function of each module.
    functions: [LabelledFunction; 2],
}

impl LabelledFunction {
    /// Returns its unambiguous name in rules: `agent-spaces:std/time#now`.
    pub fn name_in_full(&self) -> String {
        format!("{}#{}", self.id.interface_without_version(), self.id.function())
    }
}

impl Policy {
    /// Refuses rules whose label matches functions of two modules among these.
    pub fn check_labels(&self, functions: &[LabelledFunction]) -> Result<(), AmbiguousRule> {
        for rule in self.rules().filter(|rule| rule.pattern.names_a_capability()) {
            let mut meant = functions.iter().filter(|each| rule.pattern.is_match(&each.id, &each.label));
            let Some(first) = meant.next() else { continue };
            if let Some(second) = meant.find(|each| each.module != first.module) {
                return Err(AmbiguousRule {
                    place: rule.place.clone(),
                    pattern: rule.pattern.to_string(),
                    is_exact: rule.pattern.is_exact(),
                    functions: [first.clone(), second.clone()],
                });
            }
        }
        Ok(())
    }
}

impl fmt::Display for AmbiguousRule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [first, second] = &self.functions;
        let in_full = |function: &LabelledFunction| match self.is_exact {
            true => function.name_in_full(),
            false => format!("{}#*", function.id.interface_without_version()),
        };
        let AmbiguousRule { place, pattern, .. } = self;
        write!(
            formatter,
            "{place}: `{pattern}` could be {} of '{}' or {} of '{}'; write the one that you mean in full: \"{}\" or \"{}\"",
            first.id,
            first.module,
            second.id,
            second.module,
            in_full(first),
            in_full(second),
        )
    }
}
