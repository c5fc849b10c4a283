//! Reference model of the pipeline, written independently in the simplest way.
//!
//! Nothing of the product is used here: names are matched letter by letter, rates are numbers that go down, and every
//! step is one `if`.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Verdict {
    Allow,
    Approve,
    Deny,
}

/// A rule, as far as the model knows rules.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    pub(super) pattern: &'static str,
    pub(super) verdict: Option<Verdict>,
    /// The largest `amount`, and whether it may be left out.
    pub(super) amount: Option<(i64, bool)>,
    /// `repo` must match `acme/…`.
    pub(super) is_acme: bool,
    pub(super) per_run: Option<u64>,
    pub(super) per_day: Option<u64>,
    pub(super) per_period: Option<u64>,
    pub(super) scope: Option<&'static str>,
    pub(super) is_kept: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Policy {
    pub(super) preset: Option<&'static str>,
    pub(super) rules: Vec<Rule>,
    pub(super) per_period: Option<u64>,
    /// Functions that the operator approved beforehand.
    pub(super) approved: BTreeSet<&'static str>,
    pub(super) has_person: bool,
}

/// A function: what is known of it without any rule.
#[derive(Clone, Copy, Debug)]
pub(super) struct Function {
    pub(super) label: &'static str,
    pub(super) is_read_only: bool,
    pub(super) requires_approval: Option<bool>,
    pub(super) scope: Option<&'static str>,
    pub(super) per_period: Option<u64>,
    pub(super) has_schema: bool,
}

/// Decision of a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Says {
    Once,
    ForRun,
    ForArguments,
    No,
    Nothing,
    Gone,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Caller {
    pub(super) name: Option<&'static str>,
    pub(super) scopes: BTreeSet<&'static str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Provided,
    Kept,
    NotGranted,
    Denied,
    NoScope,
    Invalid,
    BadArgument,
    TooFast,
    TooOften,
    NotApproved,
    Expired,
}

/// State of a run.
#[derive(Default)]
pub(super) struct Run {
    counts: BTreeMap<usize, u64>,
    functions: BTreeSet<&'static str>,
    arguments: BTreeSet<(&'static str, String)>,
}

/// A space, as it should be.
pub(super) struct Model {
    policy: Policy,
    revoked: BTreeSet<&'static str>,
    /// Remaining slots of each rate limit, by its subject.
    rates: BTreeMap<String, u64>,
    days: BTreeMap<usize, u64>,
    kept: BTreeSet<(Caller, &'static str, String)>,
    says: std::vec::IntoIter<Says>,
    pub(super) asked: usize,
    /// A step that the model leaves out, to see whether that is noticed.
    forgotten: Option<Outcome>,
}

impl Model {
    pub(super) fn new(policy: Policy, says: Vec<Says>, forgotten: Option<Outcome>) -> Model {
        Model {
            policy,
            revoked: BTreeSet::new(),
            rates: BTreeMap::new(),
            days: BTreeMap::new(),
            kept: BTreeSet::new(),
            says: says.into_iter(),
            asked: 0,
            forgotten,
        }
    }

    /// True if a fault ends the call.
    fn ends(&self, step: Outcome, is_wrong: bool) -> bool {
        is_wrong && self.forgotten != Some(step)
    }

    pub(super) fn revoke(&mut self, capability: &'static str) {
        self.revoked.insert(capability);
    }

    /// Outcome of a call. Steps are in order, and the first failure ends it.
    pub(super) fn call(&mut self, run: &mut Run, caller: &Caller, function: &Function, params: &Value) -> Outcome {
        let capability = function.label.split('.').next().unwrap_or_default();
        if self.ends(Outcome::NotGranted, self.revoked.contains(capability)) {
            return Outcome::NotGranted;
        }
        let rules = self.policy.rules.iter().cloned().enumerate();
        let rules: Vec<(usize, Rule)> = rules.filter(|(_, rule)| fits(rule.pattern, function.label)).collect();
        let verdict = self.verdict(&rules, function);
        if self.ends(Outcome::Denied, verdict == Verdict::Deny) {
            return Outcome::Denied;
        }
        let mut scopes = rules.iter().filter_map(|(_, rule)| rule.scope).chain(function.scope);
        if self.ends(Outcome::NoScope, scopes.any(|scope| !caller.scopes.contains(scope))) {
            return Outcome::NoScope;
        }
        let is_large = params.get("amount").and_then(Value::as_f64).is_some_and(|amount| amount > 1_000.0);
        if self.ends(Outcome::Invalid, function.has_schema && is_large) {
            return Outcome::Invalid;
        }
        if self.ends(Outcome::BadArgument, rules.iter().any(|(_, rule)| !has_good_arguments(rule, params))) {
            return Outcome::BadArgument;
        }
        let has_turn = self.take_rates(&rules, function);
        if self.ends(Outcome::TooFast, !has_turn) {
            return Outcome::TooFast;
        }
        let is_counted = self.count(&rules, run);
        if self.ends(Outcome::TooOften, !is_counted) {
            return Outcome::TooOften;
        }
        let arguments = completed(params, function);
        if verdict == Verdict::Approve
            && let Some(refused) = self.ask(run, function.label, &arguments)
            && self.ends(refused, true)
        {
            return refused;
        }
        let is_kept = rules.iter().any(|(_, rule)| rule.is_kept);
        let is_known = is_kept && !self.kept.insert((caller.clone(), function.label, arguments));
        if self.ends(Outcome::Kept, is_known) { Outcome::Kept } else { Outcome::Provided }
    }

    fn verdict(&self, rules: &[(usize, Rule)], function: &Function) -> Verdict {
        let letters = |pattern: &str| pattern.chars().filter(|letter| !"*.".contains(*letter)).count();
        let rank = |pattern: &str| if pattern.contains('*') { letters(pattern) } else { usize::MAX };
        let deciding = rules.iter().filter_map(|(_, rule)| Some((rank(rule.pattern), rule.verdict?)));
        if let Some((_, verdict)) = deciding.max() {
            return verdict;
        }
        let is_asked = match (self.policy.preset, function.requires_approval) {
            (_, Some(true)) => true,
            (None | Some("permissive"), _) => false,
            (Some("standard"), Some(false)) => false,
            _ => !function.is_read_only,
        };
        if is_asked { Verdict::Approve } else { Verdict::Allow }
    }

    /// Takes one of every rate, or none.
    fn take_rates(&mut self, rules: &[(usize, Rule)], function: &Function) -> bool {
        let mut rates: Vec<(String, u64)> = Vec::new();
        rates.extend(self.policy.per_period.map(|most| ("the space".to_owned(), most)));
        rates.extend(function.per_period.map(|most| (function.label.to_owned(), most)));
        rates.extend(rules.iter().filter_map(|(index, rule)| Some((format!("rule {index}"), rule.per_period?))));
        let left = |rates: &BTreeMap<String, u64>, name: &str, most| *rates.get(name).unwrap_or(&most);
        if rates.iter().any(|(name, most)| left(&self.rates, name, *most) == 0) {
            return false;
        }
        for (name, most) in rates {
            let left = left(&self.rates, &name, most);
            self.rates.insert(name, left - 1);
        }
        true
    }

    /// Counts in the run and in the day, or in neither.
    fn count(&mut self, rules: &[(usize, Rule)], run: &mut Run) -> bool {
        let is_full = |counts: &BTreeMap<usize, u64>, index: &usize, most: Option<u64>| {
            most.is_some_and(|most| counts.get(index).copied().unwrap_or(0) >= most)
        };
        let is_over = rules
            .iter()
            .any(|(index, rule)| is_full(&run.counts, index, rule.per_run) || is_full(&self.days, index, rule.per_day));
        if is_over {
            return false;
        }
        for (index, _) in rules {
            *run.counts.entry(*index).or_default() += 1;
            *self.days.entry(*index).or_default() += 1;
        }
        true
    }

    /// Returns `None` if the call may proceed.
    fn ask(&mut self, run: &mut Run, label: &'static str, arguments: &str) -> Option<Outcome> {
        if self.policy.approved.contains(label) {
            return None;
        }
        if !self.policy.has_person {
            return Some(Outcome::NotApproved);
        }
        if run.functions.contains(label) || run.arguments.contains(&(label, arguments.to_owned())) {
            return None;
        }
        self.asked += 1;
        match self.says.next().unwrap_or(Says::Gone) {
            Says::Once => {}
            Says::ForRun => {
                run.functions.insert(label);
            }
            Says::ForArguments => {
                run.arguments.insert((label, arguments.to_owned()));
            }
            Says::No | Says::Gone => return Some(Outcome::NotApproved),
            Says::Nothing => return Some(Outcome::Expired),
        }
        None
    }
}

/// The parameters with what the definition fills in, always in the same order.
fn completed(params: &Value, function: &Function) -> String {
    let mut members: BTreeMap<String, Value> = params.as_object().unwrap().clone().into_iter().collect();
    if function.has_schema {
        members.entry("n".to_owned()).or_insert_with(|| 1.into());
    }
    format!("{members:?}")
}

fn has_good_arguments(rule: &Rule, params: &Value) -> bool {
    let is_good_amount = rule.amount.is_none_or(|(most, is_optional)| match params.get("amount") {
        None => is_optional,
        Some(amount) => amount.as_f64().is_some_and(|amount| amount <= most as f64),
    });
    // Of the texts that are tried only this one is good.
    let is_good_repo = !rule.is_acme || params.get("repo").is_some_and(|repo| repo == "acme/x");
    is_good_amount && is_good_repo
}

/// Letter by letter; a star is any letters but dots.
pub(super) fn fits(pattern: &str, label: &str) -> bool {
    if pattern == "*" {
        return true;
    }
    let mut rest = pattern.chars();
    match rest.next() {
        None => label.is_empty(),
        Some('*') => {
            let part = label.split('.').next().unwrap_or_default();
            (0..=part.len()).any(|taken| follows(rest.as_str(), &label[taken..]))
        }
        Some(letter) => label.strip_prefix(letter).is_some_and(|label| follows(rest.as_str(), label)),
    }
}

/// The same where a star alone is one part and not everything.
fn follows(pattern: &str, label: &str) -> bool {
    if pattern == "*" { !label.contains('.') } else { fits(pattern, label) }
}
