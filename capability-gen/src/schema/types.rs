//! Normal form → types. Definitions are queued, so that a long chain of them needs no deep stack.

use super::docs::docs;
use super::document::ROOT;
use super::identity::Identities;
use super::keywords;
use super::limits::{MAX_DEPTH, MAX_WORK};
use super::members::member_names;
use super::merge::merge;
use super::naming::{Names, type_title};
use super::normal::{Normal, types_of};
use super::notes::{Notes, Path};
use super::type_names::is_of;
use super::unions::{intersection, literals, union};
use crate::model::{Direction, Record, Type, TypeId};
use crate::names::pascal;
use serde_json::{Map, Value};

/// Reads the type of a root schema. Parameters and results are named after their function.
pub(super) fn read(
    normal: &Normal,
    direction: Direction,
    function: &str,
    names: &mut Names,
    notes: &mut Notes<'_>,
) -> Type {
    let identities = Identities::of(normal);
    let waiting = Vec::new();
    let mut reader =
        Reader { normal, direction, names, notes, identities, waiting, root: None, left: MAX_WORK, is_cut: false };
    let ty = match direction {
        Direction::Params => reader.params(function),
        Direction::Result => reader.result(function),
    };
    reader.work_off();
    ty
}

/// Declared definition whose type is not built yet.
struct Waiting {
    id: TypeId,
    key: String,
    schema: Value,
}

/// Builder of the types of one schema.
pub(super) struct Reader<'a, 'n> {
    pub(super) normal: &'a Normal,
    pub(super) direction: Direction,
    names: &'a mut Names,
    notes: &'a mut Notes<'n>,
    identities: Identities,
    waiting: Vec<Waiting>,
    root: Option<TypeId>,
    left: usize,
    is_cut: bool,
}

impl Reader<'_, '_> {
    fn params(&mut self, function: &str) -> Type {
        let Value::Object(map) = &self.normal.root else { return Type::Never };
        if !keywords::constrains_beyond(map, &["type", "properties", "required"]) && member_names(map).is_empty() {
            return Type::Record(Record::default());
        }
        if map.get("additionalProperties") == Some(&Value::Bool(false)) && member_names(map).is_empty() {
            return Type::Record(Record::default());
        }
        let id = self.names.declare(&format!("{function}_params"));
        self.root = Some(id);
        let ty = self.composed(map, &Path::Root, 0);
        self.names.define(id, docs(&self.normal.root, self.normal, true), ty);
        Type::Named(id)
    }

    fn result(&mut self, function: &str) -> Type {
        let root = &self.normal.root;
        let name = root.get("title").and_then(Value::as_str).and_then(type_title);
        // Frameworks use the function's name as title of its result.
        let own = pascal(function).to_lowercase();
        let name = name.filter(|title| !pascal(title).to_lowercase().starts_with(&own)).map(str::to_owned);
        if self.identities.is_recursive(ROOT) {
            let id = self.names.declare(&name.unwrap_or_else(|| format!("{function}_result")));
            self.root = Some(id);
            let ty = self.root_type();
            self.names.define(id, docs(root, self.normal, true), ty);
            return Type::Named(id);
        }
        match self.root_type() {
            Type::Record(record) => match name {
                Some(title) => self.shared_root(&title, Type::Record(record)),
                None => self.named(&format!("{function}_result"), Type::Record(record)),
            },
            Type::List(item) if matches!(*item, Type::Record(_)) => {
                Type::List(Box::new(self.named(&format!("{function}_result_item"), *item)))
            }
            Type::Union(branches) if branches.iter().filter(|it| matches!(it, Type::Record(_))).count() == 1 => {
                let branches = branches.into_iter().map(|branch| match branch {
                    Type::Record(_) => self.named(&format!("{function}_result"), branch),
                    other => other,
                });
                Type::Union(branches.collect())
            }
            other => other,
        }
    }

    fn root_type(&mut self) -> Type {
        match &self.normal.root {
            Value::Object(map) => self.composed(map, &Path::Root, 0),
            _ => Type::Never,
        }
    }

    fn named(&mut self, name: &str, ty: Type) -> Type {
        let id = self.names.declare(name);
        self.names.define(id, docs(&self.normal.root, self.normal, true), ty);
        Type::Named(id)
    }

    fn shared_root(&mut self, title: &str, ty: Type) -> Type {
        let identity = self.identities.inline(&self.normal.root);
        let (id, is_new) = self.names.shared(Some(self.direction), title, identity);
        if is_new {
            self.names.define(id, docs(&self.normal.root, self.normal, true), ty);
        }
        Type::Named(id)
    }

    fn work_off(&mut self) {
        while let Some(Waiting { id, key, schema }) = self.waiting.pop() {
            let folder = Path::Key(&Path::Root, "$defs");
            let ty = match &schema {
                Value::Object(map) => self.composed(map, &Path::Key(&folder, &key), 0),
                _ => Type::Never,
            };
            self.names.define(id, docs(&schema, self.normal, true), ty);
        }
    }

    /// The type of a subschema: a named type if it has a name.
    pub(super) fn ty(&mut self, schema: &Value, path: &Path<'_>, depth: usize) -> Type {
        let Value::Object(map) = schema else { return Type::Never };
        let title = map.get("title").and_then(Value::as_str).and_then(type_title);
        match title.filter(|_| is_plain_object(map)) {
            Some(title) => {
                let is_nullable = types_of(map).contains(&"null");
                let mut object = map.clone();
                object.insert("type".to_owned(), "object".into());
                let object = Value::Object(object);
                let identity = self.identities.inline(&object);
                let (id, is_new) = self.names.shared(Some(self.direction), title, identity);
                if is_new {
                    self.waiting.push(Waiting { id, key: title.to_owned(), schema: object });
                }
                union(if is_nullable { vec![Type::Named(id), Type::Null] } else { vec![Type::Named(id)] })
            }
            None => self.composed(map, path, depth),
        }
    }

    fn composed(&mut self, map: &Map<String, Value>, path: &Path<'_>, depth: usize) -> Type {
        if self.left == 0 {
            if !self.is_cut {
                self.notes.add(path, "read as any value from here on: the schema expands into too many types");
            }
            self.is_cut = true;
            return Type::Any;
        }
        self.left -= 1;
        if depth > MAX_DEPTH {
            self.notes.add(path, format!("nested more than {MAX_DEPTH} schemas deep: read as any value"));
            return Type::Any;
        }
        if let Some(key) = map.get("$ref").and_then(Value::as_str) {
            let own = without(map, "$ref");
            let target = self.reference(key, path, depth);
            return if keywords::constrains_beyond(&own, &[]) {
                let own = self.composed(&own, path, depth + 1);
                self.both(target, own, path)
            } else {
                target
            };
        }
        if let Some(Value::Array(parts)) = map.get("allOf") {
            let mut ty = self.composed(&without(map, "allOf"), path, depth + 1);
            for part in parts {
                let part = self.ty(part, path, depth + 1);
                ty = self.both(ty, part, path);
            }
            return ty;
        }
        for keyword in ["oneOf", "anyOf"] {
            if let Some(Value::Array(branches)) = map.get(keyword) {
                return self.choice(map, keyword, branches, path, depth);
            }
        }
        if let Some(value) = map.get("const") {
            return literals(std::slice::from_ref(value), &types_of(map));
        }
        if let Some(Value::Array(values)) = map.get("enum") {
            return literals(values, &types_of(map));
        }
        let types = types_of(map);
        if types.is_empty() {
            return Type::Any;
        }
        let types = types.into_iter().map(|name| match name {
            "string" => Type::String,
            "integer" => Type::Integer,
            "number" => Type::Number,
            "boolean" => Type::Boolean,
            "null" => Type::Null,
            "array" => self.array(map, path, depth),
            "object" => self.object(map, path, depth),
            _ => Type::Any,
        });
        let types = types.collect();
        union(types)
    }

    /// The type of a reference: its target's name, or the target itself if it is small.
    fn reference(&mut self, key: &str, path: &Path<'_>, depth: usize) -> Type {
        if key == ROOT
            && let Some(id) = self.root
        {
            return Type::Named(id);
        }
        let Some(schema) = self.normal.get(key) else { return Type::Any };
        let resolved = self.normal.resolve(schema);
        let Value::Object(map) = resolved else { return Type::Never };
        let values = map.get("enum").and_then(Value::as_array).map_or(0, Vec::len);
        let is_alias = !std::ptr::eq(schema, resolved);
        if is_alias && let Some(next) = schema.get("$ref").and_then(Value::as_str) {
            // `resolve` has already followed a chain of aliases.
            let last = self.last_key(next);
            return self.reference(&last, path, depth + 1);
        }
        let is_structure = keywords::children(map).next().is_some() || map.contains_key("$ref");
        if !is_structure && values < 2 {
            return self.composed(map, path, depth + 1);
        }
        let title = map.get("title").and_then(Value::as_str).and_then(type_title);
        let is_made_up = key.starts_with("__") || key == "part" || key == "definition" || key == ROOT;
        let name = title.filter(|_| is_made_up).unwrap_or(if key == ROOT { "Root" } else { key });
        // A repeated name already has a number: `Trip.2`.
        let name = name.split('.').next().unwrap_or(name).to_owned();
        let direction = (is_structure).then_some(self.direction);
        let identity = self.identities.get(key).unwrap_or_else(|| self.identities.inline(resolved));
        let (id, is_new) = self.names.shared(direction, &name, identity);
        if is_new {
            self.waiting.push(Waiting { id, key: key.to_owned(), schema: resolved.clone() });
        }
        Type::Named(id)
    }

    fn last_key(&self, key: &str) -> String {
        let mut last = key;
        for _ in 0..=self.normal.definitions.len() {
            let Some(map) = self.normal.get(last).and_then(Value::as_object) else { break };
            let Some(next) = map.get("$ref").and_then(Value::as_str) else { break };
            if keywords::constrains_beyond(map, &["$ref"]) {
                break;
            }
            last = next;
        }
        last.to_owned()
    }

    fn both(&mut self, one: Type, other: Type, path: &Path<'_>) -> Type {
        intersection(one, other).unwrap_or_else(|| {
            self.notes
                .add(path, "its type is any value: no single type expresses all of its parts (they are still checked)");
            Type::Any
        })
    }

    /// Type of `anyOf` and `oneOf`, with their sibling keywords merged into each branch.
    fn choice(
        &mut self,
        map: &Map<String, Value>,
        keyword: &str,
        branches: &[Value],
        path: &Path<'_>,
        depth: usize,
    ) -> Type {
        let base = without(map, keyword);
        let types: Vec<String> = types_of(&base).into_iter().map(str::to_owned).collect();
        if keywords::constrains_beyond(&base, &["type"]) && branches.iter().all(is_constraint) {
            return self.composed(&base, path, depth + 1);
        }
        let step = Path::Key(path, keyword);
        let mut out = Vec::new();
        for (index, branch) in branches.iter().enumerate() {
            let at = Path::Index(&step, index);
            let Value::Object(resolved) = self.normal.resolve(branch) else { continue };
            let is_within = |name: &&str| types.is_empty() || types.iter().any(|own| is_of(name, own));
            let meets = |name: &&str| types.iter().any(|own| is_of(name, own) || is_of(own, name));
            let own_types = types_of(resolved);
            let is_compatible = !own_types.is_empty() && own_types.iter().all(is_within);
            let has_base = keywords::constrains_beyond(&base, &["type"]);
            if !has_base && (types.is_empty() || is_compatible) {
                out.push(self.ty(branch, &at, depth + 1));
                continue;
            }
            if !own_types.is_empty() && !types.is_empty() && !own_types.iter().any(meets) {
                continue;
            }
            // The branch's documentation is more specific than the base's.
            let own = without(&without(&base, "title"), "description");
            out.push(match merge(resolved, &own) {
                Some(mut merged) => {
                    merged.shift_remove("title");
                    self.left = self.left.saturating_sub(merged.len());
                    self.composed(&flattened_members(merged), &at, depth + 1)
                }
                None => {
                    let own = self.composed(&own, path, depth + 1);
                    let branch = self.composed(resolved, &at, depth + 1);
                    self.both(own, branch, &at)
                }
            });
        }
        union(out)
    }
}

/// Returns true for an object with members and without composition, which a title can name.
fn is_plain_object(map: &Map<String, Value>) -> bool {
    let types = types_of(map);
    types.contains(&"object")
        && types.iter().all(|name| ["object", "null"].contains(name))
        && map.get("properties").and_then(Value::as_object).is_some_and(|members| !members.is_empty())
        && !["$ref", "allOf", "anyOf", "oneOf", "enum", "const"].iter().any(|keyword| map.contains_key(*keyword))
}

/// Returns true for a branch that only constrains its siblings: `{"required": ["a"]}`.
fn is_constraint(branch: &Value) -> bool {
    const SHAPES: &[&str] = &[
        "$ref",
        "properties",
        "additionalProperties",
        "patternProperties",
        "items",
        "prefixItems",
        "enum",
        "const",
        "anyOf",
        "oneOf",
        "allOf",
    ];
    match branch {
        Value::Object(map) => {
            !SHAPES.iter().any(|keyword| map.contains_key(*keyword))
                && types_of(map).iter().all(|name| *name == "object")
        }
        _ => false,
    }
}

/// Merges members declared by both a base and a branch, if that is simple.
fn flattened_members(mut map: Map<String, Value>) -> Map<String, Value> {
    if let Some(Value::Object(members)) = map.get_mut("properties") {
        for member in members.values_mut() {
            let merged = match member.get("allOf").and_then(Value::as_array).map(Vec::as_slice) {
                Some([Value::Object(one), Value::Object(other)]) => merge(one, other),
                _ => None,
            };
            if let Some(merged) = merged {
                *member = Value::Object(merged);
            }
        }
    }
    map
}

fn without(map: &Map<String, Value>, keyword: &str) -> Map<String, Value> {
    let mut map = map.clone();
    map.shift_remove(keyword);
    map
}
