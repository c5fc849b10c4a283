//! Error messages for invalid values, which people and language models can act on.

use super::check::Checker;
use super::fuel::Exhausted;
use super::program::{Keyword, Limit, Members, NodeId, TypeSet, type_of};
use super::text::{Path, clean, list, quote};
use super::{Issue, IssueKind, ROOT};
use crate::names::nearest;
use serde_json::{Map, Value};

/// Maximum number of issues of a value.
const MAX_ISSUES: usize = 32;
/// Maximum number of issues of a branch: enough to find the nearest branch.
const MAX_BRANCH_ISSUES: usize = 8;
/// Maximum number of values in one list of alternatives.
const MAX_CHOICES: usize = 64;
/// Maximum length of a name, and maximum number of names, for a suggestion.
const MAX_SUGGESTED: usize = 512;

/// All issues of an invalid value; a single generic one if finding them is too costly.
pub(super) fn explain(checker: Checker<'_>, value: &Value) -> Vec<Issue> {
    let mut found = Found::new(MAX_ISSUES);
    let is_complete = Explainer { checker }.node(ROOT, value, &Path::Root, &mut found).is_ok();
    let more = found.count.saturating_sub(found.findings.len());
    let mut issues: Vec<Issue> = found.findings.into_iter().map(|finding| finding.issue).collect();
    let rest = |message| Issue { path: String::new(), message, kind: IssueKind::More };
    if issues.is_empty() {
        issues.push(Issue { kind: IssueKind::Value, ..rest("does not match the schema".to_owned()) });
    } else if !is_complete {
        issues.push(rest("and perhaps more: not all of it was checked".to_owned()));
    } else if more > 0 {
        issues.push(rest(format!("and {more} more")));
    }
    issues
}

struct Found {
    findings: Vec<Finding>,
    count: usize,
    most: usize,
}

struct Finding {
    issue: Issue,
    depth: usize,
    expected: Expected,
}

/// Expected value of a finding, by which branches can be distinguished.
enum Expected {
    Types(TypeSet),
    Choices(Vec<Value>),
    Other,
}

impl Found {
    fn new(most: usize) -> Found {
        Found { findings: Vec::new(), count: 0, most }
    }

    fn add(&mut self, kind: IssueKind, path: &Path<'_>, message: impl FnOnce() -> String) {
        self.expected(kind, path, message, || Expected::Other);
    }

    fn expected(
        &mut self,
        kind: IssueKind,
        path: &Path<'_>,
        message: impl FnOnce() -> String,
        expected: impl FnOnce() -> Expected,
    ) {
        self.count += 1;
        if self.findings.len() < self.most {
            let issue = Issue { path: path.text(), message: message(), kind };
            self.findings.push(Finding { issue, depth: path.depth(), expected: expected() });
        }
    }
}

struct Explainer<'p> {
    checker: Checker<'p>,
}

impl<'p> Explainer<'p> {
    fn node(&mut self, node: NodeId, value: &Value, path: &Path<'_>, found: &mut Found) -> Result<(), Exhausted> {
        self.checker.fuel.enter()?;
        let program = self.checker.program;
        for keyword in &program.nodes[node.0].keywords {
            let is_type_wrong = self.keyword(keyword, node, value, path, found)?;
            if is_type_wrong {
                break;
            }
        }
        self.checker.fuel.leave();
        Ok(())
    }

    /// Reports the issues of a keyword. Returns true if it is the type, after which nothing else matters.
    fn keyword(
        &mut self,
        keyword: &'p Keyword,
        node: NodeId,
        value: &Value,
        path: &Path<'_>,
        found: &mut Found,
    ) -> Result<bool, Exhausted> {
        match (keyword, value) {
            (Keyword::Members(rule), Value::Object(members)) => self.members(rule, members, path, found)?,
            (Keyword::Items { prefix, rest }, Value::Array(items)) => {
                for (at, item) in items.iter().enumerate() {
                    let Some(node) = prefix.get(at).copied().or(*rest) else { break };
                    self.node(node, item, &Path::Item(path, at), found)?;
                }
            }
            (Keyword::Reference(node), _) => self.node(*node, value, path, found)?,
            (Keyword::AllOf(nodes), _) => {
                for node in nodes {
                    self.node(*node, value, path, found)?;
                }
            }
            (Keyword::DependentSchemas(rules), Value::Object(members)) => {
                for (_, node) in rules.iter().filter(|(name, _)| members.contains_key(name)) {
                    self.node(*node, value, path, found)?;
                }
            }
            (Keyword::If { condition, then, otherwise }, _) => {
                let branch = if self.checker.check(*condition, value)? { then } else { otherwise };
                if let Some(node) = branch {
                    self.node(*node, value, path, found)?;
                }
            }
            (Keyword::PropertyNames(node), Value::Object(members)) => {
                for name in members.keys() {
                    let mut inner = Found::new(1);
                    self.node(*node, &Value::from(name.as_str()), path, &mut inner)?;
                    if let Some(finding) = inner.findings.pop() {
                        let message = || format!("the name is not allowed: {}", finding.issue.message);
                        found.add(IssueKind::Unknown, &Path::Member(path, name), message);
                    }
                }
            }
            (Keyword::UnevaluatedMembers(rest), Value::Object(members)) => {
                let seen = self.checker.evaluated_members(node, members, value)?;
                for ((name, member), _) in members.iter().zip(seen).filter(|(_, seen)| !seen) {
                    self.member(&[*rest], name, member, &[], path, found)?;
                }
            }
            (Keyword::UnevaluatedItems(rest), Value::Array(items)) => {
                let seen = self.checker.evaluated_items(node, items, value)?;
                for ((at, item), _) in items.iter().enumerate().zip(seen).filter(|(_, seen)| !seen) {
                    self.node(*rest, item, &Path::Item(path, at), found)?;
                }
            }
            (Keyword::AnyOf(nodes), _) if !self.checker.holds(keyword, node, value)? => {
                self.branches(nodes, value, path, found)?;
            }
            (Keyword::OneOf(nodes), _) => match self.checker.count_valid(nodes, value, 2)? {
                0 => self.branches(nodes, value, path, found)?,
                1 => {}
                _ => found.add(IssueKind::Value, path, || {
                    "fits more than one of the alternatives, and must fit exactly one".to_owned()
                }),
            },
            (Keyword::AnyOf(_), _) => {}
            _ if self.checker.holds(keyword, node, value)? => {}
            (Keyword::Required(names), Value::Object(members)) => {
                for name in names.iter().filter(|name| !members.contains_key(*name)) {
                    let message = || format!("`{}` is required but missing", clean(name, 80));
                    found.add(IssueKind::Missing, &Path::Member(path, name), message);
                }
            }
            (Keyword::DependentRequired(rules), Value::Object(members)) => {
                for (given, names) in rules.iter().filter(|(name, _)| members.contains_key(name)) {
                    for name in names.iter().filter(|name| !members.contains_key(*name)) {
                        let message =
                            || format!("`{}` is required when `{}` is given", clean(name, 80), clean(given, 80));
                        found.add(IssueKind::Missing, &Path::Member(path, name), message);
                    }
                }
            }
            (Keyword::Type(types), _) => {
                let message = || wrong_type(*types, value);
                found.expected(IssueKind::Type, path, message, || Expected::Types(*types));
                return Ok(true);
            }
            (Keyword::Const(expected), _) => {
                let message = || format!("expected {}, got {}", quote(expected), quote(value));
                found.expected(IssueKind::Value, path, message, || Expected::Choices(vec![expected.clone()]));
            }
            (Keyword::Enum(choices), _) => {
                let message = || not_chosen(&choices.all, value);
                let expected = || Expected::Choices(choices.all.iter().take(MAX_CHOICES).cloned().collect());
                found.expected(IssueKind::Value, path, message, expected);
            }
            (Keyword::UniqueItems, Value::Array(items)) => {
                if let Some((first, second)) = self.checker.first_repeated(items)? {
                    let message = || format!("is the same as item {first}, and no item may stand twice");
                    found.add(IssueKind::Value, &Path::Item(path, second), message);
                }
            }
            _ => found.add(IssueKind::Value, path, || self.describe(keyword, value)),
        }
        Ok(false)
    }

    fn members(
        &mut self,
        rule: &Members,
        members: &Map<String, Value>,
        path: &Path<'_>,
        found: &mut Found,
    ) -> Result<(), Exhausted> {
        for (name, member) in members {
            let nodes = self.checker.nodes_of_member(rule, name)?;
            let names = if rule.index.contains_key(name) { &[] } else { rule.named.as_slice() };
            if !nodes.is_empty() {
                self.member(&nodes, name, member, names, path, found)?;
            }
        }
        Ok(())
    }

    fn member(
        &mut self,
        nodes: &[NodeId],
        name: &str,
        member: &Value,
        known: &[(String, NodeId)],
        path: &Path<'_>,
        found: &mut Found,
    ) -> Result<(), Exhausted> {
        let path = Path::Member(path, name);
        for node in nodes {
            if matches!(self.checker.program.nodes[node.0].keywords.as_slice(), [Keyword::Never]) {
                self.checker.fuel.spend(known.len() as u64)?;
                found.add(IssueKind::Unknown, &path, || unknown(name, known));
            } else {
                self.node(*node, member, &path, found)?;
            }
        }
        Ok(())
    }

    /// Reports the issues of the nearest alternative if all fail.
    fn branches(
        &mut self,
        nodes: &[NodeId],
        value: &Value,
        path: &Path<'_>,
        found: &mut Found,
    ) -> Result<(), Exhausted> {
        let depth = path.depth();
        let mut branches = Vec::new();
        for node in nodes {
            let mut inner = Found::new(MAX_BRANCH_ISSUES);
            self.node(*node, value, path, &mut inner)?;
            branches.push(inner);
        }
        if let Some(types) = all_here(&branches, depth, |expected| match expected {
            Expected::Types(types) => Some(*types),
            _ => None,
        }) {
            let types = types.into_iter().fold(TypeSet::default(), TypeSet::union);
            let message = || wrong_type(types, value);
            found.expected(IssueKind::Type, path, message, || Expected::Types(types));
            return Ok(());
        }
        if let Some(choices) = all_here(&branches, depth, |expected| match expected {
            Expected::Choices(choices) => Some(choices.clone()),
            _ => None,
        }) {
            let mut choices = choices.concat();
            choices.truncate(MAX_CHOICES);
            let message = || not_chosen(&choices, value);
            found.expected(IssueKind::Value, path, message, || Expected::Choices(choices.clone()));
            return Ok(());
        }
        let plausible = branches.iter().filter(|branch| !branch.is_type_wrong(depth)).count();
        let best = branches.into_iter().min_by_key(|branch| {
            let wrong_tags = branch
                .findings
                .iter()
                .filter(|finding| finding.depth == depth + 1 && matches!(finding.expected, Expected::Choices(_)));
            (branch.is_type_wrong(depth), wrong_tags.count(), branch.count)
        });
        let Some(best) = best.filter(|best| !best.findings.is_empty()) else {
            found.add(IssueKind::Value, path, || format!("{} fits none of the alternatives", quote(value)));
            return Ok(());
        };
        for mut finding in best.findings {
            if plausible > 1 {
                finding.issue.message.push_str(&format!(" (in the nearest of {plausible} alternatives)"));
            }
            found.count += 1;
            if found.findings.len() < found.most {
                found.findings.push(finding);
            }
        }
        Ok(())
    }

    fn describe(&self, keyword: &Keyword, value: &Value) -> String {
        match (keyword, value) {
            (Keyword::Never, _) => "no value is allowed here".to_owned(),
            (Keyword::Limit(limit, bound), _) => {
                let relation = match limit {
                    Limit::AtLeast => "at least",
                    Limit::MoreThan => "more than",
                    Limit::AtMost => "at most",
                    Limit::LessThan => "less than",
                };
                format!("expected {relation} {bound}, got {}", quote(value))
            }
            (Keyword::MultipleOf(of), _) => format!("expected a multiple of {of}, got {}", quote(value)),
            (Keyword::Length { least, most }, Value::String(text)) => {
                counted(*least, *most, "character", text.chars().count())
            }
            (Keyword::ItemCount { least, most }, Value::Array(items)) => counted(*least, *most, "item", items.len()),
            (Keyword::MemberCount { least, most }, Value::Object(members)) => {
                counted(*least, *most, "member", members.len())
            }
            (Keyword::Pattern(pattern), _) => {
                format!("{} does not match the pattern {}", quote(value), clean(&pattern.source, 160))
            }
            (Keyword::Contains { least, most, .. }, _) => {
                let range = range(*least, *most, "item");
                format!("expected {range} of the kind that `contains` describes")
            }
            (Keyword::Not(node), _) => match self.checker.program.nodes[node.0].keywords.as_slice() {
                [Keyword::Required(names)] => {
                    let names: Vec<String> =
                        names.iter().take(12).map(|name| format!("`{}`", clean(name, 80))).collect();
                    match names.as_slice() {
                        [one] => format!("{one} is not allowed here"),
                        names => format!("{} are not allowed together", names.join(", ")),
                    }
                }
                [] => "no value is allowed here".to_owned(),
                _ => format!("{} is one of the values that are not allowed here", quote(value)),
            },
            _ => format!("{} does not match the schema", quote(value)),
        }
    }
}

impl Found {
    fn is_type_wrong(&self, depth: usize) -> bool {
        let mut here = self.findings.iter().filter(|finding| finding.depth == depth);
        here.any(|finding| matches!(finding.expected, Expected::Types(_)))
    }
}

/// Returns the expectation of each branch at this place; `None` if one has none.
fn all_here<T>(branches: &[Found], depth: usize, pick: impl Fn(&Expected) -> Option<T>) -> Option<Vec<T>> {
    let picks = branches.iter().map(|branch| {
        branch.findings.iter().filter(|finding| finding.depth == depth).find_map(|finding| pick(&finding.expected))
    });
    let picks: Option<Vec<T>> = picks.collect();
    picks.filter(|picks| !picks.is_empty())
}

fn wrong_type(types: TypeSet, value: &Value) -> String {
    let got = match value {
        // The type alone would not explain the error.
        Value::Number(number) if types.describe().contains("integer") => number.to_string(),
        other => type_of(other).to_owned(),
    };
    format!("expected {}, got {got}", types.describe())
}

fn not_chosen(choices: &[Value], value: &Value) -> String {
    match choices {
        [] => "no value is allowed here".to_owned(),
        [one] => format!("expected {}, got {}", quote(one), quote(value)),
        many => {
            let nearest = value
                .as_str()
                .and_then(|text| nearest(text, many.iter().take(MAX_SUGGESTED).filter_map(Value::as_str)));
            let hint = match nearest {
                Some(name) if many.len() > 12 => format!("; did you mean {}?", quote(&Value::from(name))),
                _ => String::new(),
            };
            format!("expected one of {}, got {}{hint}", list(many), quote(value))
        }
    }
}

fn unknown(name: &str, known: &[(String, NodeId)]) -> String {
    let hint = match nearest(name, known.iter().take(MAX_SUGGESTED).map(|(name, _)| name.as_str())) {
        Some(near) => format!("; did you mean `{}`?", clean(near, 80)),
        None if known.is_empty() => String::new(),
        None => {
            let names: Vec<String> = known.iter().take(12).map(|(name, _)| format!("`{}`", clean(name, 80))).collect();
            let more = if known.len() > 12 { ", …" } else { "" };
            format!("; known are {}{more}", names.join(", "))
        }
    };
    format!("unknown name `{}`{hint}", clean(name, 80))
}

fn counted(least: usize, most: usize, noun: &str, got: usize) -> String {
    format!("expected {}, got {got}", range(least, most, noun))
}

fn range(least: usize, most: usize, noun: &str) -> String {
    let plural = |count: usize| if count == 1 { "" } else { "s" };
    match (least, most) {
        (least, usize::MAX) => format!("at least {least} {noun}{}", plural(least)),
        (0, most) => format!("at most {most} {noun}{}", plural(most)),
        (least, most) if least == most => format!("exactly {least} {noun}{}", plural(least)),
        (least, most) => format!("{least} to {most} {noun}s"),
    }
}
