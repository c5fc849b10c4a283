//! Validity check of a value, which stops at the first error.

use super::equal::{compare, equal, hash, is_multiple, size};
use super::fuel::{Exhausted, Fuel};
use super::program::{Choices, Keyword, Limit, Members, NodeId, Program};
use serde_json::{Map, Value};
use std::cmp::Ordering;
use std::collections::HashMap;

/// Check of one value.
pub(super) struct Checker<'p> {
    pub(super) program: &'p Program,
    pub(super) fuel: Fuel,
}

impl<'p> Checker<'p> {
    /// Returns true if the value is valid for this subschema.
    pub(super) fn check(&mut self, node: NodeId, value: &Value) -> Result<bool, Exhausted> {
        self.fuel.enter()?;
        let program = self.program;
        for keyword in &program.nodes[node.0].keywords {
            if !self.holds(keyword, node, value)? {
                self.fuel.leave();
                return Ok(false);
            }
        }
        self.fuel.leave();
        Ok(true)
    }

    /// Returns true if the value is valid for one keyword of the node.
    pub(super) fn holds(&mut self, keyword: &'p Keyword, node: NodeId, value: &Value) -> Result<bool, Exhausted> {
        Ok(match (keyword, value) {
            (Keyword::Never, _) => false,
            (Keyword::Type(types), _) => types.admits(value),
            (Keyword::Const(expected), _) => {
                self.fuel.spend(size(expected) / 4)?;
                equal(expected, value)
            }
            (Keyword::Enum(choices), _) => self.is_chosen(choices, value)?,
            (Keyword::Limit(limit, bound), Value::Number(number)) => match (limit, compare(number, bound)) {
                (Limit::AtLeast, ordering) => ordering != Ordering::Less,
                (Limit::MoreThan, ordering) => ordering == Ordering::Greater,
                (Limit::AtMost, ordering) => ordering != Ordering::Greater,
                (Limit::LessThan, ordering) => ordering == Ordering::Less,
            },
            (Keyword::MultipleOf(of), Value::Number(number)) => is_multiple(number, of),
            (Keyword::Length { least, most }, Value::String(text)) => {
                self.fuel.spend(text.len() as u64 / 64)?;
                (*least..=*most).contains(&text.chars().count())
            }
            (Keyword::Pattern(pattern), Value::String(text)) => self.matches(pattern, text)?,
            (Keyword::ItemCount { least, most }, Value::Array(items)) => (*least..=*most).contains(&items.len()),
            (Keyword::UniqueItems, Value::Array(items)) => self.first_repeated(items)?.is_none(),
            (Keyword::Items { prefix, rest }, Value::Array(items)) => {
                let nodes = prefix.iter().copied().map(Some).chain(std::iter::repeat(*rest));
                self.all(items.iter().zip(nodes).map_while(|(item, node)| Some((node?, item))))?
            }
            (Keyword::Contains { item, least, most }, Value::Array(items)) => {
                let mut found = 0;
                for value in items {
                    found += usize::from(self.check(*item, value)?);
                }
                (*least..=*most).contains(&found)
            }
            (Keyword::MemberCount { least, most }, Value::Object(members)) => (*least..=*most).contains(&members.len()),
            (Keyword::Required(names), Value::Object(members)) => {
                self.fuel.spend(names.len() as u64 / 4)?;
                names.iter().all(|name| members.contains_key(name))
            }
            (Keyword::DependentRequired(rules), Value::Object(members)) => {
                self.fuel.spend(rules.iter().map(|(_, names)| 1 + names.len() as u64).sum::<u64>() / 4)?;
                let mut present = rules.iter().filter(|(name, _)| members.contains_key(name));
                present.all(|(_, names)| names.iter().all(|name| members.contains_key(name)))
            }
            (Keyword::PropertyNames(node), Value::Object(members)) => {
                for name in members.keys() {
                    if !self.check(*node, &Value::from(name.as_str()))? {
                        return Ok(false);
                    }
                }
                true
            }
            (Keyword::Members(rule), Value::Object(members)) => self.are_members_valid(rule, members)?,
            (Keyword::DependentSchemas(rules), Value::Object(members)) => {
                self.fuel.spend(rules.len() as u64 / 4)?;
                self.all(rules.iter().filter(|(name, _)| members.contains_key(name)).map(|(_, node)| (*node, value)))?
            }
            (Keyword::Reference(node), _) => self.check(*node, value)?,
            (Keyword::AllOf(nodes), _) => self.all(nodes.iter().map(|node| (*node, value)))?,
            (Keyword::AnyOf(nodes), _) => self.count_valid(nodes, value, 1)? > 0,
            (Keyword::OneOf(nodes), _) => self.count_valid(nodes, value, 2)? == 1,
            (Keyword::Not(node), _) => !self.check(*node, value)?,
            (Keyword::If { condition, then, otherwise }, _) => {
                match if self.check(*condition, value)? { then } else { otherwise } {
                    Some(node) => self.check(*node, value)?,
                    None => true,
                }
            }
            (Keyword::UnevaluatedItems(rest), Value::Array(items)) => {
                let seen = self.evaluated_items(node, items, value)?;
                self.all(items.iter().zip(seen).filter(|(_, seen)| !seen).map(|(item, _)| (*rest, item)))?
            }
            (Keyword::UnevaluatedMembers(rest), Value::Object(members)) => {
                let seen = self.evaluated_members(node, members, value)?;
                self.all(members.values().zip(seen).filter(|(_, seen)| !seen).map(|(member, _)| (*rest, member)))?
            }
            // Keywords of one type do not apply to values of others.
            _ => true,
        })
    }

    /// Number of nodes that the value is valid for; stops counting at `enough`.
    pub(super) fn count_valid(&mut self, nodes: &[NodeId], value: &Value, enough: usize) -> Result<usize, Exhausted> {
        let mut count = 0;
        for node in nodes {
            count += usize::from(self.check(*node, value)?);
            if count == enough {
                break;
            }
        }
        Ok(count)
    }

    /// Indices of the first duplicate item and of its earlier occurrence.
    pub(super) fn first_repeated(&mut self, items: &[Value]) -> Result<Option<(usize, usize)>, Exhausted> {
        let mut seen: HashMap<u64, Vec<usize>> = HashMap::with_capacity(items.len());
        for (at, item) in items.iter().enumerate() {
            self.fuel.spend(size(item))?;
            let same_hash = seen.entry(hash(item)).or_default();
            for earlier in same_hash.iter() {
                self.fuel.spend(size(item))?;
                if equal(&items[*earlier], item) {
                    return Ok(Some((*earlier, at)));
                }
            }
            same_hash.push(at);
        }
        Ok(None)
    }

    /// The subschemas that a member's value must be valid for.
    pub(super) fn nodes_of_member(&mut self, rule: &Members, name: &str) -> Result<Vec<NodeId>, Exhausted> {
        let mut nodes: Vec<NodeId> = rule.index.get(name).map(|at| rule.named[*at].1).into_iter().collect();
        let mut is_excused = false;
        for (pattern, node) in &rule.patterned {
            if !pattern.is_checked() {
                is_excused = true;
            } else if self.matches(pattern, name)? {
                nodes.push(*node);
            }
        }
        if nodes.is_empty() && !is_excused {
            nodes.extend(rule.rest);
        }
        Ok(nodes)
    }

    pub(super) fn matches(&mut self, pattern: &super::pattern::Pattern, text: &str) -> Result<bool, Exhausted> {
        pattern.matches(text, |units| self.fuel.spend(units), || Exhausted)
    }

    fn is_chosen(&mut self, choices: &Choices, value: &Value) -> Result<bool, Exhausted> {
        if let Value::String(text) = value {
            return Ok(choices.texts.contains(text));
        }
        self.fuel.spend(choices.cost)?;
        Ok(choices.all.iter().any(|choice| equal(choice, value)))
    }

    fn are_members_valid(&mut self, rule: &Members, members: &Map<String, Value>) -> Result<bool, Exhausted> {
        for (name, member) in members {
            self.fuel.spend(1)?;
            if rule.patterned.is_empty() {
                let node = rule.index.get(name).map(|at| rule.named[*at].1).or(rule.rest);
                if let Some(node) = node
                    && !self.check(node, member)?
                {
                    return Ok(false);
                }
                continue;
            }
            for node in self.nodes_of_member(rule, name)? {
                if !self.check(node, member)? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    fn all<'v>(&mut self, pairs: impl Iterator<Item = (NodeId, &'v Value)>) -> Result<bool, Exhausted> {
        for (node, value) in pairs {
            if !self.check(node, value)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
