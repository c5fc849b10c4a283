//! Rule precedence: which rule decides a function's calls.

use crate::facts::{Facts, Kind};
use crate::preset::Preset;
use crate::rule::{Decision, Rule};
use serde::Serialize;
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
/// preset. With `only_tightens`, no rule allows a function whose definition requires approval.
pub(crate) fn decide(preset: Option<Preset>, rules: &[Arc<Rule>], facts: &Facts<'_>, only_tightens: bool) -> Decided {
    let wants_approval = facts.requires_approval == Some(true);
    let mut ignored = None;
    let deciding = rules.iter().filter_map(|rule| Some((rule.pattern.specificity(), rule.decision?, &rule.place)));
    // The first of equals, so that the reported location is stable.
    if let Some((_, decision, place)) =
        deciding.reduce(|best, next| if (next.0, next.1) > (best.0, best.1) { next } else { best })
    {
        if !(only_tightens && wants_approval && decision == Decision::Allow) {
            return Decided { decision, because: Because::Rule { place: place.clone() }, ignored };
        }
        ignored = Some(place.clone());
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
