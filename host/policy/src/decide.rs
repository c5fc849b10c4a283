//! Rule precedence: which rule decides a function's calls.

use crate::facts::{Facts, Kind};
use crate::preset::Preset;
use crate::rule::{Decision, Rule};
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

/// A decision and its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decided {
    /// The decision.
    pub decision: Decision,
    /// Its source.
    pub because: Because,
    /// Location of an `allow` rule that was ignored, because it comes from an untrusted file.
    pub(crate) ignored: Option<String>,
}

/// The source of a decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Because {
    /// A rule.
    Rule {
        /// Location of the rule in the configuration.
        place: String,
    },
    /// `requiresApproval` of the function's definition.
    Definition,
    /// The preset, for functions of this kind.
    Preset(Preset),
    /// The default: nothing is configured.
    Default,
}

/// Decides by the most specific matching rule, and among equals the strictest; otherwise by the definition, then by the
/// preset. With `only_tightens`, no rule allows a function whose definition requires approval. Higher layers of rules
/// can only make the decision stricter.
pub(crate) fn decide(preset: Option<Preset>, rules: &[Arc<Rule>], facts: &Facts<'_>, only_tightens: bool) -> Decided {
    let mut decided = decide_lowest(preset, rules, facts, only_tightens);
    let layers: BTreeSet<u32> = rules.iter().map(|rule| rule.layer).filter(|layer| *layer > 0).collect();
    for layer in layers {
        if let Some((decision, place)) = deciding(rules.iter().map(|rule| &**rule), layer)
            && decision > decided.decision
        {
            decided =
                Decided { decision, because: Because::Rule { place: place.to_owned() }, ignored: decided.ignored };
        }
    }
    decided
}

/// Returns the decision of the most specific of these rules in one layer, and among equals of the strictest, with its
/// location.
pub(crate) fn deciding<'a>(rules: impl Iterator<Item = &'a Rule>, layer: u32) -> Option<(Decision, &'a str)> {
    let deciding = rules
        .filter(|rule| rule.layer == layer)
        .filter_map(|rule| Some((rule.pattern.specificity(), rule.decision?, rule.place.as_str())));
    // The first of equals, so that the reported location is stable.
    let strongest = deciding.reduce(|best, next| if (next.0, next.1) > (best.0, best.1) { next } else { best });
    strongest.map(|(_, decision, place)| (decision, place))
}

/// Decides by the rules of the configuration alone.
fn decide_lowest(preset: Option<Preset>, rules: &[Arc<Rule>], facts: &Facts<'_>, only_tightens: bool) -> Decided {
    let wants_approval = facts.requires_approval == Some(true);
    let mut ignored = None;
    if let Some((decision, place)) = deciding(rules.iter().map(|rule| &**rule), 0) {
        if !(only_tightens && wants_approval && decision == Decision::Allow) {
            return Decided { decision, because: Because::Rule { place: place.to_owned() }, ignored };
        }
        ignored = Some(place.to_owned());
    }
    if wants_approval {
        return Decided { decision: Decision::Approve, because: Because::Definition, ignored };
    }
    let is_harmless = matches!(facts.kind, Kind::Standard | Kind::ServerTool { read_only: true });
    let (decision, because) = match preset {
        None => (Decision::Allow, Because::Default),
        Some(preset @ Preset::Permissive) => (Decision::Allow, Because::Preset(preset)),
        Some(preset) if is_harmless => (Decision::Allow, Because::Preset(preset)),
        Some(Preset::Standard) if facts.requires_approval == Some(false) => (Decision::Allow, Because::Definition),
        Some(preset) => (Decision::Approve, Because::Preset(preset)),
    };
    Decided { decision, because, ignored }
}

impl fmt::Display for Because {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Because::Rule { place } => formatter.write_str(place),
            Because::Definition => formatter.write_str("`requiresApproval` of its definition"),
            Because::Preset(preset) => write!(formatter, "the preset `{preset}`"),
            Because::Default => formatter.write_str("default"),
        }
    }
}
