//! Mapping of the types of one interface to WIT.

use super::fallback::{Fallback, Reason};
use super::literals::CASES_TO_A_MEMBER;
use super::plan::{Definition, FunctionPlan, Interface, Kind, Member, WitType};
use crate::model::{Function, Record, Rest, Type, TypeId, Types};
use crate::names::{Scope, kebab};
use std::collections::{HashMap, HashSet};

/// Maximum nesting of types, names and options included. Components allow 100, including the function, its `result` and
/// the interface.
const MAX_DEPTH: usize = 64;

/// Maximum number of records, enums and variants of an interface: several times the largest known API.
const MAX_DEFINITIONS: usize = 20_000;

/// Maximum number of types in one function's parameters and result, with all names expanded. Shared types make this
/// grow exponentially, and the cost of walking a signature with it.
const FUNCTION_WEIGHT: usize = 20_000;

/// Maximum size that one function may add to its interface, where a type counts again in each enclosing named type: a
/// huge function leaves room for others.
const FUNCTION_SIZE: usize = 100_000;

/// Maximum size of the whole interface; components allow a million.
const INTERFACE_SIZE: usize = 500_000;

/// Minimum cost of a member: `option<json>`.
const LEAST: usize = 2;

/// Maximum length of a tuple.
const MAX_TUPLE: usize = 16;

/// Maximum length of a name in a fallback's path.
const MAX_SEGMENT: usize = 64;

/// The interface of a capability's functions.
pub(super) fn interface(name: String, functions: &[Function], types: &Types) -> Interface {
    let mut mapper = Mapper::new(types);
    let names = mapper.scope.add_all(functions.iter().map(|function| function.wit_name.as_str()));
    // A function keeps its name; a shared type with the same name is renamed.
    let json_name = mapper.scope.add("json");
    let error_name = mapper.scope.add("capability-error");
    let reachable = reachable(functions, types);
    let type_names = reachable.iter().map(|id| types.0[id.0].name.as_str());
    mapper.names = reachable.iter().copied().zip(mapper.scope.add_all(type_names)).collect();
    let functions: Vec<FunctionPlan> =
        functions.iter().zip(names).map(|(function, name)| mapper.function(function, name)).collect();
    Interface {
        name,
        json_name,
        error_name,
        functions,
        definitions: mapper.definitions,
        fallbacks: mapper.fallbacks,
        exact: mapper.exact,
    }
}

/// Mapped type and its cost.
#[derive(Clone, Debug)]
pub(super) struct Mapped {
    pub(super) ty: WitType,
    /// Number of types with all names expanded.
    pub(super) weight: usize,
    /// Depth.
    pub(super) height: usize,
    /// True if it contains no `json`.
    pub(super) is_exact: bool,
    /// Reason if it is itself `json`.
    reason: Option<Reason>,
}

/// Name of a record, enum or variant defined at this position.
pub(super) struct Hint<'a> {
    pub(super) name: String,
    /// True if the name is already reserved for this type; otherwise it is only preferred.
    is_owned: bool,
    pub(super) description: &'a str,
}

impl Hint<'_> {
    pub(super) fn wish(parent: &str, own: &str) -> Hint<'static> {
        Hint { name: kebab(&format!("{parent}-{own}")), is_owned: false, description: "" }
    }
}

enum State {
    BeingRead,
    Read(Mapped),
}

pub(super) struct Mapper<'a> {
    types: &'a Types,
    scope: Scope,
    names: HashMap<TypeId, String>,
    states: HashMap<TypeId, State>,
    definitions: Vec<Definition>,
    fallbacks: Vec<Fallback>,
    exact: usize,
    /// The current function: its index, name, path and remaining size.
    place: usize,
    function: String,
    path: Vec<String>,
    weight_left: usize,
    size_left: usize,
    /// Size left for later functions of the interface.
    interface_left: usize,
    /// Number of definitions around the current position.
    around: usize,
}

impl<'a> Mapper<'a> {
    fn new(types: &'a Types) -> Self {
        Mapper {
            types,
            scope: Scope::new(),
            names: HashMap::new(),
            states: HashMap::new(),
            definitions: Vec::new(),
            fallbacks: Vec::new(),
            exact: 0,
            place: 0,
            function: String::new(),
            path: Vec::new(),
            weight_left: 0,
            size_left: 0,
            interface_left: INTERFACE_SIZE,
            around: 0,
        }
    }

    fn function(&mut self, function: &'a Function, name: String) -> FunctionPlan {
        let size = FUNCTION_SIZE.min(self.interface_left);
        (self.weight_left, self.size_left) = (FUNCTION_WEIGHT, size);
        self.function.clone_from(&name);
        let takes_nothing = matches!(self.resolve(&function.params),
            Some(Type::Record(Record { fields, rest: Rest::Closed })) if fields.is_empty());
        let params = if takes_nothing {
            None
        } else {
            Some(self.at("params".to_owned(), &function.params, Hint::wish(&name, "params"), 1))
        };
        let result = if !function.has_result_schema && matches!(function.result, Type::Any) {
            self.within("result".to_owned(), |mapper| mapper.json(Reason::NoSchema))
        } else {
            self.at("result".to_owned(), &function.result, Hint::wish(&name, "result"), 1)
        };
        self.interface_left -= size - self.size_left;
        self.place += 1;
        FunctionPlan {
            name,
            is_params_exact: params.as_ref().is_none_or(|params| params.is_exact),
            is_result_exact: result.is_exact,
            params: params.map(|params| params.ty),
            result: result.ty,
        }
    }

    /// Maps a type at a nested position.
    pub(super) fn at(&mut self, segment: String, ty: &'a Type, hint: Hint<'a>, depth: usize) -> Mapped {
        self.within(segment, |mapper| mapper.map(ty, hint, depth))
    }

    /// Calls `map` at a nested position.
    pub(super) fn within(&mut self, segment: String, map: impl FnOnce(&mut Self) -> Mapped) -> Mapped {
        self.path.push(segment);
        let mapped = map(self);
        self.path.pop();
        if mapped.ty != WitType::Json {
            self.exact += 1;
        }
        mapped
    }

    /// Maps a type; `depth` is the number of enclosing types.
    pub(super) fn map(&mut self, ty: &'a Type, hint: Hint<'a>, depth: usize) -> Mapped {
        if depth >= MAX_DEPTH {
            return self.json(Reason::TooDeep);
        }
        if !self.has_left(1) {
            return self.json(Reason::TooMany);
        }
        match ty {
            Type::Any => self.json(Reason::Any),
            Type::Never => self.json(Reason::Never),
            Type::Null => self.json(Reason::Null),
            Type::Map(_) => self.json(Reason::Map),
            Type::Boolean => self.scalar(WitType::Bool),
            Type::Integer => self.scalar(WitType::S64),
            Type::Number => self.scalar(WitType::F64),
            Type::String => self.scalar(WitType::String),
            Type::Literals(values) => self.literals(values, hint),
            Type::List(item) => self.list(item, hint, depth),
            Type::Tuple { items, required, rest } => self.tuple(items, *required, rest.as_deref(), hint, depth),
            Type::Record(record) => self.record(record, hint, depth),
            Type::Union(members) => self.union(members, hint, depth),
            Type::Named(id) => self.named(*id, depth),
        }
    }

    fn named(&mut self, id: TypeId, depth: usize) -> Mapped {
        match self.states.get(&id) {
            Some(State::BeingRead) => return self.json(Reason::Recursive),
            Some(State::Read(mapped)) => {
                if let Some(reason) = mapped.reason {
                    return self.json(reason);
                }
                if depth + mapped.height > MAX_DEPTH {
                    return self.json(Reason::TooDeep);
                }
                if !self.has_left(mapped.weight) {
                    return self.json(Reason::TooMany);
                }
                let mapped = mapped.clone();
                self.spend(mapped.weight);
                return mapped;
            }
            None => {}
        }
        let (Some(definition), Some(name)) = (self.types.0.get(id.0), self.names.get(&id)) else {
            return self.json(Reason::Any);
        };
        let hint = Hint { name: name.clone(), is_owned: true, description: &definition.docs.description };
        self.states.insert(id, State::BeingRead);
        // Names of names do not occur, but must not nest endlessly either.
        let depth = depth + usize::from(matches!(definition.ty, Type::Named(_)));
        let mapped = self.map(&definition.ty, hint, depth);
        self.states.insert(id, State::Read(mapped.clone()));
        mapped
    }

    fn list(&mut self, item: &'a Type, hint: Hint<'a>, depth: usize) -> Mapped {
        let item = self.at("[]".to_owned(), item, Hint::wish(&hint.name, "item"), depth + 1);
        self.wrapped(item, |ty| WitType::List(Box::new(ty)))
    }

    fn tuple(
        &mut self,
        items: &'a [Type],
        required: usize,
        rest: Option<&'a Type>,
        hint: Hint<'a>,
        depth: usize,
    ) -> Mapped {
        let mut all = items.iter().chain(rest);
        let first = all.next();
        match first {
            Some(first) if rest.is_some() || required < items.len() || items.len() > MAX_TUPLE => {
                if all.all(|other| other == first) { self.list(first, hint, depth) } else { self.json(Reason::Tuple) }
            }
            Some(_) => {
                let (mut types, mut weight, mut height, mut is_exact) = (Vec::new(), 1, 0, true);
                for (index, item) in items.iter().enumerate() {
                    let hint = Hint::wish(&hint.name, &format!("item{index}"));
                    let item = self.at(format!("[{index}]"), item, hint, depth + 1);
                    weight += item.weight;
                    height = item.height.max(height);
                    is_exact &= item.is_exact;
                    types.push(item.ty);
                }
                self.spend(1);
                Mapped { ty: WitType::Tuple(types), weight, height: height + 1, is_exact, reason: None }
            }
            None => self.json(Reason::Tuple),
        }
    }

    /// Resolves a named model type; `None` if it is undefined or an alias of another name.
    pub(super) fn resolve(&self, ty: &'a Type) -> Option<&'a Type> {
        match ty {
            Type::Named(id) => match &self.types.0.get(id.0)?.ty {
                Type::Named(_) => None,
                other => Some(other),
            },
            other => Some(other),
        }
    }

    /// The definition of a named type, for the union it may be.
    pub(super) fn definition(&self, id: TypeId) -> Option<&'a Type> {
        self.types.0.get(id.0).map(|definition| &definition.ty)
    }

    pub(super) fn json(&mut self, reason: Reason) -> Mapped {
        self.spend(1);
        self.fallbacks.push(Fallback { function: self.function.clone(), path: self.path.concat(), reason });
        Mapped { ty: WitType::Json, weight: 1, height: 1, is_exact: false, reason: Some(reason) }
    }

    pub(super) fn scalar(&mut self, ty: WitType) -> Mapped {
        self.spend(1);
        Mapped { ty, weight: 1, height: 1, is_exact: true, reason: None }
    }

    pub(super) fn option(&mut self, inner: Mapped) -> Mapped {
        self.wrapped(inner, |ty| WitType::Option(Box::new(ty)))
    }

    fn wrapped(&mut self, inner: Mapped, wrap: impl FnOnce(WitType) -> WitType) -> Mapped {
        self.spend(1);
        Mapped {
            ty: wrap(inner.ty),
            weight: inner.weight + 1,
            height: inner.height + 1,
            is_exact: inner.is_exact,
            reason: None,
        }
    }

    fn has_left(&self, weight: usize) -> bool {
        weight <= self.weight_left && weight * (1 + self.around) <= self.size_left
    }

    fn spend(&mut self, weight: usize) {
        self.weight_left = self.weight_left.saturating_sub(weight);
        self.size_left = self.size_left.saturating_sub(weight * (1 + self.around));
    }

    /// Returns true if a definition with this number of members is within the limits.
    pub(super) fn has_room(&self, members: usize) -> bool {
        self.definitions.len() < MAX_DEFINITIONS && self.has_left(LEAST * members + 1)
    }

    /// Adds a definition without members, so that it comes before those inside it. The minimum cost of its members is
    /// charged at once, so that the first member cannot use up what the last one needs.
    pub(super) fn define(&mut self, hint: &Hint<'a>, kind: Kind, members: usize) -> usize {
        let name = if hint.is_owned { hint.name.clone() } else { self.scope.add(&hint.name) };
        let description = hint.description.to_owned();
        self.definitions.push(Definition { name, kind, description, function: self.place, members: Vec::new() });
        self.around += 1;
        self.spend(LEAST * members);
        self.definitions.len() - 1
    }

    /// Sets the members of a definition, and returns it as a type.
    pub(super) fn defined(&mut self, index: usize, members: Vec<Member>, inside: &[Mapped]) -> Mapped {
        self.spend(1);
        self.around -= 1;
        let definition = &mut self.definitions[index];
        let without_type = members.len().saturating_sub(inside.len());
        let own = 1 + match definition.kind {
            Kind::Enum => LEAST * (without_type / CASES_TO_A_MEMBER),
            _ => LEAST * without_type,
        };
        definition.members = members;
        Mapped {
            ty: WitType::Defined(definition.name.clone()),
            weight: own + inside.iter().map(|mapped| mapped.weight).sum::<usize>(),
            height: 1 + inside.iter().map(|mapped| mapped.height).max().unwrap_or(0),
            is_exact: inside.iter().all(|mapped| mapped.is_exact),
            reason: None,
        }
    }

    pub(super) fn definition_name(&self, index: usize) -> String {
        self.definitions[index].name.clone()
    }
}

/// A member's name in a path.
pub(super) fn segment(name: &str) -> String {
    let mut text: String = ".".to_owned();
    text.extend(name.chars().take(MAX_SEGMENT));
    text
}

/// The named types used by functions, in the order of their definition.
fn reachable(functions: &[Function], types: &Types) -> Vec<TypeId> {
    let mut waiting: Vec<&Type> = functions.iter().flat_map(|function| [&function.params, &function.result]).collect();
    let mut seen = HashSet::new();
    while let Some(ty) = waiting.pop() {
        match ty {
            Type::Named(id) => {
                if let Some(definition) = types.0.get(id.0)
                    && seen.insert(*id)
                {
                    waiting.push(&definition.ty);
                }
            }
            Type::List(item) => waiting.push(item),
            Type::Tuple { items, rest, .. } => waiting.extend(items.iter().chain(rest.as_deref())),
            Type::Record(record) => waiting.extend(record.fields.iter().map(|field| &field.ty)),
            Type::Union(members) => waiting.extend(members),
            _ => {}
        }
    }
    let mut reachable: Vec<TypeId> = seen.into_iter().collect();
    reachable.sort_unstable();
    reachable
}
