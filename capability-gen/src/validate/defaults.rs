//! Default values of absent members.
//!
//! A default is filled in through `properties`, `items`, `prefixItems`, references and `allOf`, never through an
//! alternative. The default's own absent members are filled in once, when the schema is compiled, so that filling in is
//! idempotent. A default is ignored if it violates its schema (`null` for a string), contains itself, or is too large.
//! An absent parent stays absent unless it has a default itself. If filling in would make a valid value invalid, or
//! costs too much, the value is left unchanged.

use super::check::Checker;
use super::equal::{is_deeper_than, size};
use super::fuel::{Exhausted, Fuel};
use super::program::{Keyword, NodeId, Program};
use super::{MAX_NESTING, ROOT, Validator};
use serde_json::Value;
use std::collections::HashMap;

/// Maximum size of one default, including nested defaults.
const MAX_DEFAULT: u64 = 4096;
/// Maximum total size of defaults filled into one value.
const MAX_FILLED: u64 = 100_000;
/// Maximum nesting of defaults.
const MAX_DEPTH: usize = 64;
/// Fuel for checking or completing one default.
const FUEL_PER_DEFAULT: u64 = 100_000;
/// Maximum number of rounds: a default from one part of an `allOf` may enable defaults of another.
const MAX_ROUNDS: usize = 8;

/// Fills in absent members that have a default. Compiles the schema first: for more than one value use
/// [`Validator::apply_defaults`]. An invalid schema has no defaults.
pub fn apply_defaults(schema: &Value, value: &mut Value) {
    if let Ok(validator) = Validator::new(schema) {
        validator.apply_defaults(value);
    }
}

pub(super) fn apply(program: &Program, value: &mut Value) {
    let has_defaults = program.nodes.iter().any(|node| node.default.is_some());
    if !has_defaults || is_deeper_than(value, MAX_NESTING) {
        return;
    }
    let before = value.clone();
    let is_valid = |value: &Value| Checker { program, fuel: Fuel::for_value(value) }.check(ROOT, value) == Ok(true);
    let mut filler = Filler { defaults: &mut Settled(program), program, fuel: Fuel::for_value(value), filled: 0 };
    let is_complete = (0..MAX_ROUNDS).any(|_| {
        let filled = filler.filled;
        filler.fill(ROOT, value) == Ok(()) && filler.filled == filled
    });
    let is_changed = filler.filled > 0;
    if !is_complete || is_changed && !is_valid(value) && is_valid(&before) {
        *value = before;
    }
}

/// Completes every default with nested defaults, and drops unusable ones.
pub(super) fn settle(program: &mut Program) {
    let with_default: Vec<NodeId> =
        program.nodes.iter().enumerate().filter(|(_, node)| node.default.is_some()).map(|(at, _)| NodeId(at)).collect();
    let mut settling = Settling { program, states: HashMap::new(), depth: 0, fuel: Fuel::for_schema() };
    for node in &with_default {
        settling.default_of(*node);
    }
    let mut states = settling.states;
    for node in with_default {
        program.nodes[node.0].default = match states.remove(&node) {
            Some(State::Settled(default)) => default,
            _ => None,
        };
    }
}

/// Source of defaults.
trait Defaults {
    fn default_of(&mut self, node: NodeId) -> Option<Value>;
}

struct Settled<'p>(&'p Program);

impl Defaults for Settled<'_> {
    fn default_of(&mut self, node: NodeId) -> Option<Value> {
        self.0.nodes[node.0].default.clone()
    }
}

struct Settling<'p> {
    program: &'p Program,
    states: HashMap<NodeId, State>,
    depth: usize,
    /// Fuel for all defaults; when it is exhausted, the rest is ignored.
    fuel: Fuel,
}

enum State {
    /// Being completed; `is_met` is set if it was reached again meanwhile.
    Open {
        is_met: bool,
    },
    Settled(Option<Value>),
}

impl Defaults for Settling<'_> {
    fn default_of(&mut self, node: NodeId) -> Option<Value> {
        match self.states.get_mut(&node) {
            Some(State::Settled(default)) => return default.clone(),
            Some(State::Open { is_met }) => {
                *is_met = true;
                return None;
            }
            None => {}
        }
        let default = self.program.nodes[node.0].default.as_ref()?;
        let is_too_deep = self.depth >= MAX_DEPTH || is_deeper_than(default, MAX_NESTING / 2);
        if is_too_deep || size(default) > MAX_DEFAULT || !self.is_valid(node, default) {
            self.states.insert(node, State::Settled(None));
            return None;
        }
        self.states.insert(node, State::Open { is_met: false });
        self.depth += 1;
        let mut whole = default.clone();
        let program = self.program;
        let fuel = self.fuel.lend(FUEL_PER_DEFAULT);
        let mut filler = Filler { defaults: &mut *self, program, fuel, filled: 0 };
        let outcome = filler.fill(node, &mut whole);
        let back = filler.fuel;
        self.fuel.settle(FUEL_PER_DEFAULT, &back);
        self.depth -= 1;
        // A default that contains itself is dropped permanently, so those that skipped it stay correct.
        let is_met = matches!(self.states.get(&node), Some(State::Open { is_met: true }));
        let is_usable = outcome.is_ok() && !is_met && size(&whole) <= MAX_DEFAULT && self.is_valid(node, &whole);
        let settled = is_usable.then_some(whole);
        self.states.insert(node, State::Settled(settled.clone()));
        settled
    }
}

impl Settling<'_> {
    fn is_valid(&mut self, node: NodeId, value: &Value) -> bool {
        let mut checker = Checker { program: self.program, fuel: self.fuel.lend(FUEL_PER_DEFAULT) };
        let outcome = checker.check(node, value);
        let back = checker.fuel;
        self.fuel.settle(FUEL_PER_DEFAULT, &back);
        outcome == Ok(true)
    }
}

struct Filler<'f, D> {
    defaults: &'f mut D,
    program: &'f Program,
    fuel: Fuel,
    filled: u64,
}

impl<D: Defaults> Filler<'_, D> {
    fn fill(&mut self, node: NodeId, value: &mut Value) -> Result<(), Exhausted> {
        self.fuel.enter()?;
        let program = self.program;
        for keyword in &program.nodes[node.0].keywords {
            match (keyword, &mut *value) {
                (Keyword::Reference(node), _) => self.fill(*node, value)?,
                (Keyword::AllOf(nodes), _) => {
                    for node in nodes {
                        self.fill(*node, value)?;
                    }
                }
                (Keyword::Items { prefix, rest }, Value::Array(items)) => {
                    for (at, item) in items.iter_mut().enumerate() {
                        let Some(node) = prefix.get(at).copied().or(*rest) else { break };
                        self.fill(node, item)?;
                    }
                }
                (Keyword::Members(rule), Value::Object(members)) => {
                    for (name, node) in &rule.named {
                        self.fuel.spend(1)?;
                        if let Some(member) = members.get_mut(name) {
                            self.fill(*node, member)?;
                        } else if let Some(default) = self.default_through(*node)? {
                            self.filled += size(&default);
                            if self.filled > MAX_FILLED {
                                return Err(Exhausted);
                            }
                            members.insert(name.clone(), default);
                        }
                    }
                }
                _ => {}
            }
        }
        self.fuel.leave();
        Ok(())
    }

    /// The default of a subschema, or of the one that it refers to.
    fn default_through(&mut self, node: NodeId) -> Result<Option<Value>, Exhausted> {
        let mut node = node;
        loop {
            self.fuel.spend(1)?;
            if let Some(default) = self.defaults.default_of(node) {
                return Ok(Some(default));
            }
            match self.program.nodes[node.0].keywords.as_slice() {
                [Keyword::Reference(target)] => node = *target,
                _ => return Ok(None),
            }
        }
    }
}
