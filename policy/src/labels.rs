//! Labels in rules: each must stand for the functions of one module.
//!
//! A label is what scripts write, and two modules may export one name: the standard library's `time` and that of an
//! MCP server `time`. A rule that could be about either is refused before anything is called.

use crate::policy::Policy;
use capability_gen::identity::FunctionId;
use std::fmt;

/// A function by all its names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelledFunction {
    /// Which function it is.
    pub id: FunctionId,
    /// What scripts call it: `time.now`.
    pub label: String,
    /// What they import it from: `@agent-spaces/std`.
    pub module: String,
}

/// A rule whose label stands for functions of two modules.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct AmbiguousRule {
    /// Where it stands.
    pub place: String,
    /// What it is about.
    pub pattern: String,
    /// Whether the pattern names one function, and not all of a capability.
    is_exact: bool,
    /// A function of each module.
    functions: [LabelledFunction; 2],
}

impl LabelledFunction {
    /// How rules name it, whatever else has its label: `agent-spaces:std/time#now`.
    pub fn name_in_full(&self) -> String {
        format!("{}#{}", self.id.interface_without_version(), self.id.function())
    }
}

impl Policy {
    /// Refuses rules whose label stands for functions of two modules among these.
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
