//! Rules that match no function: most likely a typo, and a typo in a `deny` rule allows.

use crate::labels::LabelledFunction;
use crate::pattern::Pattern;
use crate::policy::Policy;
use agent_spaces_types::nearest::nearest;
use std::collections::BTreeSet;
use std::fmt;

/// A rule that matches no function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnusedRule {
    /// Location of the rule.
    pub place: String,
    /// Pattern of the rule.
    pub pattern: String,
    /// Nearest known function.
    pub nearest: Option<String>,
}

/// A capability whose function list is unknown: of an MCP server that has not been queried yet, or is switched off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownCapability {
    /// Name in scripts: `calcJs`.
    pub label: String,
    /// Package of its interfaces: `capabilities:mcp-calc-js`.
    pub package: String,
}

impl Policy {
    /// True if there are rules over functions.
    pub fn has_rules(&self) -> bool {
        self.rules().next().is_some()
    }

    /// Lists the rules that match none of these functions and cannot match the capabilities with unknown functions.
    pub fn unused_rules(&self, functions: &[LabelledFunction], unknown: &[UnknownCapability]) -> Vec<UnusedRule> {
        let is_unused = |pattern: &Pattern| {
            !functions.iter().any(|each| pattern.is_match(&each.id, &each.label))
                && !unknown.iter().any(|each| pattern.may_concern(&each.label, &each.package))
        };
        let names: Vec<String> =
            functions.iter().flat_map(|each| [each.label.clone(), each.id.to_string(), each.name_in_full()]).collect();
        let known = functions.iter().map(|each| each.label.split('.').next().unwrap_or_default());
        let capabilities: BTreeSet<&str> = known.chain(unknown.iter().map(|each| each.label.as_str())).collect();
        let near = |pattern: &Pattern| -> Option<String> {
            // A typo in the capability's name, whatever its functions are called.
            let near_capability = |written: &str| nearest(written, capabilities.iter().copied()).map(str::to_owned);
            let text = pattern.as_str();
            match (pattern.several_of(), text.split_once('.')) {
                (Some(capability), Some((_, functions))) if !capabilities.contains(capability) => {
                    Some(format!("{}.{functions}", near_capability(capability)?))
                }
                (Some(capability), None) => near_capability(capability),
                _ => nearest(text, names.iter().map(String::as_str)).map(str::to_owned),
            }
        };
        let unused = self.rules().filter(|rule| is_unused(&rule.pattern));
        unused
            .map(|rule| UnusedRule {
                place: rule.place.clone(),
                pattern: rule.pattern.to_string(),
                nearest: near(&rule.pattern),
            })
            .collect()
    }
}

impl fmt::Display for UnusedRule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: no function matches `{}`", self.place, self.pattern)?;
        self.nearest.as_ref().map_or(Ok(()), |near| write!(formatter, "; did you mean `{near}`?"))
    }
}
