//! Evaluated members and items, for `unevaluatedProperties` and `unevaluatedItems`. Computed only when one of these is
//! checked, so that other schemas pay nothing.

use super::check::Checker;
use super::fuel::Exhausted;
use super::program::{Keyword, NodeId};
use serde_json::{Map, Value};

impl Checker<'_> {
    /// For each member, whether it was evaluated.
    pub(super) fn evaluated_members(
        &mut self,
        node: NodeId,
        members: &Map<String, Value>,
        value: &Value,
    ) -> Result<Vec<bool>, Exhausted> {
        let mut seen = vec![false; members.len()];
        self.mark_members(node, node, members, value, &mut seen)?;
        Ok(seen)
    }

    /// For each item, whether it was evaluated.
    pub(super) fn evaluated_items(
        &mut self,
        node: NodeId,
        items: &[Value],
        value: &Value,
    ) -> Result<Vec<bool>, Exhausted> {
        let mut seen = vec![false; items.len()];
        self.mark_items(node, node, items, value, &mut seen)?;
        Ok(seen)
    }

    fn mark_members(
        &mut self,
        asking: NodeId,
        node: NodeId,
        members: &Map<String, Value>,
        value: &Value,
        seen: &mut [bool],
    ) -> Result<(), Exhausted> {
        self.fuel.enter()?;
        let program = self.program;
        for keyword in &program.nodes[node.0].keywords {
            match keyword {
                Keyword::Members(rule) => {
                    for (name, seen) in members.keys().zip(seen.iter_mut()) {
                        self.fuel.spend(1)?;
                        let is_excused = rule.patterned.iter().any(|(pattern, _)| !pattern.is_checked());
                        *seen |= is_excused || !self.nodes_of_member(rule, name)?.is_empty();
                    }
                }
                Keyword::UnevaluatedMembers(_) if node != asking => seen.fill(true),
                other => {
                    for inner in self.applied(other, value)? {
                        self.mark_members(asking, inner, members, value, seen)?;
                    }
                }
            }
        }
        self.fuel.leave();
        Ok(())
    }

    fn mark_items(
        &mut self,
        asking: NodeId,
        node: NodeId,
        items: &[Value],
        value: &Value,
        seen: &mut [bool],
    ) -> Result<(), Exhausted> {
        self.fuel.enter()?;
        let program = self.program;
        for keyword in &program.nodes[node.0].keywords {
            match keyword {
                Keyword::Items { rest: Some(_), .. } => seen.fill(true),
                Keyword::Items { prefix, rest: None } => {
                    seen.iter_mut().take(prefix.len()).for_each(|seen| *seen = true)
                }
                Keyword::Contains { item, .. } => {
                    for (value, seen) in items.iter().zip(seen.iter_mut()) {
                        *seen |= self.check(*item, value)?;
                    }
                }
                Keyword::UnevaluatedItems(_) if node != asking => seen.fill(true),
                other => {
                    for inner in self.applied(other, value)? {
                        self.mark_items(asking, inner, items, value, seen)?;
                    }
                }
            }
        }
        self.fuel.leave();
        Ok(())
    }

    /// The subschemas of a keyword that apply to the same value and are valid.
    fn applied(&mut self, keyword: &Keyword, value: &Value) -> Result<Vec<NodeId>, Exhausted> {
        let candidates = match keyword {
            Keyword::Reference(node) => vec![*node],
            Keyword::AllOf(nodes) | Keyword::AnyOf(nodes) | Keyword::OneOf(nodes) => nodes.clone(),
            Keyword::DependentSchemas(rules) => {
                rules.iter().filter(|(name, _)| value.get(name).is_some()).map(|(_, node)| *node).collect()
            }
            Keyword::If { condition, then, otherwise } => {
                let holds = self.check(*condition, value)?;
                let branch = if holds { then } else { otherwise };
                holds.then_some(*condition).into_iter().chain(*branch).collect()
            }
            _ => Vec::new(),
        };
        let mut applied = Vec::new();
        for node in candidates {
            if self.check(node, value)? {
                applied.push(node);
            }
        }
        Ok(applied)
    }
}
