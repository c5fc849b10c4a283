//! Schema → [`Program`], without recursion: subschemas wait in a list, each is read once, references are
//! resolved when all has been read.

use super::equal::{is_deeper_than, size};
use super::pattern::Pattern;
use super::program::{Choices, Keyword, Limit, Members, Node, NodeId, Program, TypeSet};
use serde_json::{Map, Number, Value};
use std::collections::HashMap;

/// Real ones have a few thousand; each costs memory for as long as the tool is known.
const MAX_SUBSCHEMAS: usize = 50_000;
/// Parts of the whole document, texts and examples included.
const MAX_SIZE: u64 = 4_000_000;
/// What a JSON parser admits.
const MAX_NESTING: usize = 128;
/// As many as a person reads.
const MAX_NOTES: usize = 32;

/// Why a schema cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SchemaError {
    /// A keyword whose value is not what the keyword takes.
    #[error("schema: `{keyword}` at `{pointer}` must be {expected}")]
    Keyword {
        /// The keyword.
        keyword: String,
        /// The subschema that has it, as a JSON pointer; empty for the whole schema.
        pointer: String,
        /// `a number`
        expected: &'static str,
    },
    /// A subschema that is neither an object nor a boolean.
    #[error("schema: what stands at `{pointer}` is not a schema")]
    NotASchema {
        /// Where, as a JSON pointer.
        pointer: String,
    },
    /// A reference to somewhere else, which is never followed.
    #[error("schema: `{reference}` is not in this schema; only references within it are followed")]
    Remote {
        /// As written.
        reference: String,
    },
    /// A reference to something that is not there.
    #[error("schema: `{reference}` points to nothing")]
    Dangling {
        /// As written.
        reference: String,
    },
    /// A `$dynamicRef` whose target depends on the way to it.
    #[error("schema: `$dynamicRef` in a schema of several parts with an `$id` is not supported")]
    Dynamic,
    /// More than is read.
    #[error("schema: {0}")]
    TooLarge(&'static str),
}

pub(super) fn compile(schema: &Value) -> Result<Program, SchemaError> {
    if is_deeper_than(schema, MAX_NESTING) {
        return Err(SchemaError::TooLarge("nested too deeply"));
    }
    if size(schema) > MAX_SIZE {
        return Err(SchemaError::TooLarge("too large"));
    }
    let mut compiler = Compiler { pattern_room: super::pattern::ROOM, ..Compiler::default() };
    compiler.node(schema, schema, &Pointer::default())?;
    loop {
        while let Some(waiting) = compiler.waiting.pop() {
            compiler.read(waiting)?;
        }
        let Some(reference) = compiler.references.pop() else { break };
        compiler.resolve(reference)?;
    }
    if compiler.is_dynamic && compiler.has_parts {
        return Err(SchemaError::Dynamic);
    }
    for node in &mut compiler.program.nodes {
        node.keywords.sort_by_key(rank);
    }
    Ok(compiler.program)
}

#[derive(Default)]
struct Compiler<'s> {
    program: Program,
    /// By address: a subschema that several references name is read once.
    known: HashMap<*const Value, NodeId>,
    waiting: Vec<Waiting<'s>>,
    references: Vec<Unresolved<'s>>,
    /// What an `$id` names.
    resources: HashMap<&'s str, &'s Value>,
    /// By the resource's address and the anchor.
    anchors: HashMap<(*const Value, &'s str), &'s Value>,
    /// Whether there is a `$dynamicRef`; in a schema of one part it is a `$ref`.
    is_dynamic: bool,
    /// Whether a part of the schema has an `$id` of its own.
    has_parts: bool,
    pattern_room: usize,
}

struct Waiting<'s> {
    id: NodeId,
    schema: &'s Value,
    /// What `#` means here: the schema, or the nearest part of it with an `$id`.
    base: &'s Value,
    pointer: Pointer,
}

struct Unresolved<'s> {
    from: NodeId,
    reference: &'s str,
    base: &'s Value,
}

impl<'s> Compiler<'s> {
    /// The node of a subschema, which will be read in its turn.
    fn node(&mut self, schema: &'s Value, base: &'s Value, pointer: &Pointer) -> Result<NodeId, SchemaError> {
        let address: *const Value = schema;
        if let Some(id) = self.known.get(&address) {
            return Ok(*id);
        }
        if !(schema.is_object() || schema.is_boolean()) {
            return Err(SchemaError::NotASchema { pointer: pointer.0.clone() });
        }
        let id = NodeId(self.program.nodes.len());
        if id.0 >= MAX_SUBSCHEMAS {
            return Err(SchemaError::TooLarge("too many subschemas"));
        }
        self.program.nodes.push(Node::default());
        self.known.insert(address, id);
        self.waiting.push(Waiting { id, schema, base, pointer: pointer.clone() });
        Ok(id)
    }

    fn read(&mut self, waiting: Waiting<'s>) -> Result<(), SchemaError> {
        let Waiting { id, schema, mut base, pointer } = waiting;
        let Value::Object(object) = schema else {
            if schema == &Value::Bool(false) {
                self.program.nodes[id.0].keywords.push(Keyword::Never);
            }
            return Ok(());
        };
        if let Some(Value::String(resource)) = object.get("$id") {
            base = schema;
            self.has_parts |= id != super::ROOT;
            self.resources.insert(resource.trim_end_matches('#'), schema);
        }
        for keyword in ["$anchor", "$dynamicAnchor"] {
            if let Some(Value::String(anchor)) = object.get(keyword) {
                self.anchors.insert((base, anchor), schema);
            }
        }
        for keyword in ["$ref", "$dynamicRef"] {
            if let Some(reference) = object.get(keyword) {
                let reference = reference.as_str().ok_or_else(|| pointer.expected(keyword, "a string"))?;
                self.is_dynamic |= keyword == "$dynamicRef";
                self.references.push(Unresolved { from: id, reference, base });
            }
        }
        let mut reader = Reader { compiler: self, object, base, pointer: &pointer, keywords: Vec::new() };
        reader.values()?;
        reader.numbers()?;
        reader.arrays()?;
        reader.objects()?;
        reader.combinations()?;
        let keywords = reader.keywords;
        let node = &mut self.program.nodes[id.0];
        node.keywords = keywords;
        node.default = object.get("default").cloned();
        Ok(())
    }

    fn resolve(&mut self, unresolved: Unresolved<'s>) -> Result<(), SchemaError> {
        let Unresolved { from, reference, base } = unresolved;
        let (resource, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let base = if resource.is_empty() {
            base
        } else {
            self.resources.get(resource).ok_or_else(|| SchemaError::Remote { reference: reference.to_owned() })?
        };
        let dangling = || SchemaError::Dangling { reference: reference.to_owned() };
        let fragment = decode(fragment).ok_or_else(dangling)?;
        let target = if fragment.is_empty() || fragment.starts_with('/') {
            base.pointer(&fragment)
        } else {
            let address: *const Value = base;
            self.anchors.get(&(address, fragment.as_str())).copied()
        };
        let pointer = Pointer(format!("#{fragment}"));
        let to = self.node(target.ok_or_else(dangling)?, base, &pointer)?;
        self.program.nodes[from.0].keywords.push(Keyword::Reference(to));
        Ok(())
    }
}

/// One subschema's keywords.
struct Reader<'c, 's> {
    compiler: &'c mut Compiler<'s>,
    object: &'s Map<String, Value>,
    base: &'s Value,
    pointer: &'c Pointer,
    keywords: Vec<Keyword>,
}

impl<'s> Reader<'_, 's> {
    fn values(&mut self) -> Result<(), SchemaError> {
        if let Some(value) = self.object.get("type") {
            let mut set = TypeSet::default();
            let names = match value {
                Value::Array(names) => names.as_slice(),
                one => std::slice::from_ref(one),
            };
            if !names.iter().all(|name| name.as_str().is_some_and(|name| set.add(name))) {
                return Err(self.pointer.expected("type", "JSON types"));
            }
            self.keywords.push(Keyword::Type(set));
        }
        if let Some(value) = self.object.get("const") {
            self.keywords.push(Keyword::Const(value.clone()));
        }
        if let Some(value) = self.object.get("enum") {
            let all = value.as_array().ok_or_else(|| self.pointer.expected("enum", "an array"))?;
            let texts = all.iter().filter_map(|value| value.as_str().map(str::to_owned)).collect();
            let cost = all.iter().filter(|value| !value.is_string()).map(size).sum::<u64>() / 4;
            self.keywords.push(Keyword::Enum(Choices { all: all.clone(), texts, cost }));
        }
        if let Some(value) = self.object.get("pattern") {
            let source = value.as_str().ok_or_else(|| self.pointer.expected("pattern", "a string"))?;
            let pattern = self.pattern(source);
            if pattern.is_checked() {
                self.keywords.push(Keyword::Pattern(pattern));
            }
        }
        if let Some((least, most)) = self.range("minLength", "maxLength")? {
            self.keywords.push(Keyword::Length { least, most });
        }
        Ok(())
    }

    fn numbers(&mut self) -> Result<(), SchemaError> {
        let limits = [
            ("minimum", Limit::AtLeast),
            ("exclusiveMinimum", Limit::MoreThan),
            ("maximum", Limit::AtMost),
            ("exclusiveMaximum", Limit::LessThan),
        ];
        for (keyword, limit) in limits {
            if let Some(number) = self.number(keyword)? {
                self.keywords.push(Keyword::Limit(limit, number));
            }
        }
        if let Some(number) = self.number("multipleOf")? {
            if number.as_f64().is_none_or(|number| number <= 0.0) {
                return Err(self.pointer.expected("multipleOf", "a positive number"));
            }
            self.keywords.push(Keyword::MultipleOf(number));
        }
        Ok(())
    }

    fn arrays(&mut self) -> Result<(), SchemaError> {
        if let Some((least, most)) = self.range("minItems", "maxItems")? {
            self.keywords.push(Keyword::ItemCount { least, most });
        }
        match self.object.get("uniqueItems") {
            None | Some(Value::Bool(false)) => {}
            Some(Value::Bool(true)) => self.keywords.push(Keyword::UniqueItems),
            Some(_) => return Err(self.pointer.expected("uniqueItems", "a boolean")),
        }
        let prefix = self.schemas("prefixItems")?;
        let rest = self.schema("items")?;
        if !prefix.is_empty() || rest.is_some() {
            self.keywords.push(Keyword::Items { prefix, rest });
        }
        if let Some(item) = self.schema("contains")? {
            let least = self.count("minContains")?.unwrap_or(1);
            let most = self.count("maxContains")?.unwrap_or(usize::MAX);
            self.keywords.push(Keyword::Contains { item, least, most });
        }
        if let Some(node) = self.schema("unevaluatedItems")? {
            self.keywords.push(Keyword::UnevaluatedItems(node));
        }
        Ok(())
    }

    fn objects(&mut self) -> Result<(), SchemaError> {
        if let Some((least, most)) = self.range("minProperties", "maxProperties")? {
            self.keywords.push(Keyword::MemberCount { least, most });
        }
        if let Some(value) = self.object.get("required") {
            self.keywords.push(Keyword::Required(self.names("required", value)?));
        }
        if let Some(value) = self.object.get("dependentRequired") {
            let members = value.as_object().ok_or_else(|| self.pointer.expected("dependentRequired", "an object"))?;
            let rules = members.iter().map(|(name, value)| Ok((name.clone(), self.names("dependentRequired", value)?)));
            let rules = rules.collect::<Result<_, SchemaError>>()?;
            self.keywords.push(Keyword::DependentRequired(rules));
        }
        if let Some(node) = self.schema("propertyNames")? {
            self.keywords.push(Keyword::PropertyNames(node));
        }
        let named = self.named("properties")?;
        let index = named.iter().enumerate().map(|(at, (name, _))| (name.clone(), at)).collect();
        let patterned = self.named("patternProperties")?;
        let patterned: Vec<_> = patterned.into_iter().map(|(source, node)| (self.pattern(&source), node)).collect();
        let rest = self.schema("additionalProperties")?;
        if !named.is_empty() || !patterned.is_empty() || rest.is_some() {
            self.keywords.push(Keyword::Members(Members { named, index, patterned, rest }));
        }
        let dependent = self.named("dependentSchemas")?;
        if !dependent.is_empty() {
            self.keywords.push(Keyword::DependentSchemas(dependent));
        }
        if let Some(node) = self.schema("unevaluatedProperties")? {
            self.keywords.push(Keyword::UnevaluatedMembers(node));
        }
        // Only so that anchors and mistakes in them are seen: what nothing refers to is never checked.
        self.named("$defs")?;
        self.named("definitions")?;
        Ok(())
    }

    fn combinations(&mut self) -> Result<(), SchemaError> {
        type Make = fn(Vec<NodeId>) -> Keyword;
        let lists: [(&'static str, Make); 3] =
            [("allOf", Keyword::AllOf), ("anyOf", Keyword::AnyOf), ("oneOf", Keyword::OneOf)];
        for (keyword, make) in lists {
            if self.object.contains_key(keyword) {
                let nodes = self.schemas(keyword)?;
                self.keywords.push(make(nodes));
            }
        }
        if let Some(node) = self.schema("not")? {
            self.keywords.push(Keyword::Not(node));
        }
        let (condition, then, otherwise) = (self.schema("if")?, self.schema("then")?, self.schema("else")?);
        if let Some(condition) = condition {
            self.keywords.push(Keyword::If { condition, then, otherwise });
        }
        Ok(())
    }

    fn pattern(&mut self, source: &str) -> Pattern {
        let (pattern, reason) = Pattern::new(source, &mut self.compiler.pattern_room);
        let notes = &mut self.compiler.program.notes;
        if let Some(reason) = reason
            && notes.len() < MAX_NOTES
        {
            let source = super::text::quote(&Value::from(source));
            notes.push(format!("the pattern {source} at `{}` is not checked: {reason}", self.pointer.0));
        }
        pattern
    }

    fn schema(&mut self, keyword: &'static str) -> Result<Option<NodeId>, SchemaError> {
        let Some(schema) = self.object.get(keyword) else { return Ok(None) };
        self.compiler.node(schema, self.base, &self.pointer.join(keyword)).map(Some)
    }

    fn schemas(&mut self, keyword: &'static str) -> Result<Vec<NodeId>, SchemaError> {
        let Some(value) = self.object.get(keyword) else { return Ok(Vec::new()) };
        let schemas = value.as_array().ok_or_else(|| self.pointer.expected(keyword, "an array of schemas"))?;
        let pointer = self.pointer.join(keyword);
        schemas.iter().map(|schema| self.compiler.node(schema, self.base, &pointer)).collect()
    }

    fn named(&mut self, keyword: &'static str) -> Result<Vec<(String, NodeId)>, SchemaError> {
        let Some(value) = self.object.get(keyword) else { return Ok(Vec::new()) };
        let schemas = value.as_object().ok_or_else(|| self.pointer.expected(keyword, "an object of schemas"))?;
        let pointer = self.pointer.join(keyword);
        let nodes = schemas.iter().map(|(name, schema)| {
            self.compiler.node(schema, self.base, &pointer.join(name)).map(|node| (name.clone(), node))
        });
        nodes.collect()
    }

    fn names(&self, keyword: &'static str, value: &Value) -> Result<Vec<String>, SchemaError> {
        let names = value.as_array().and_then(|names| {
            names.iter().map(|name| name.as_str().map(str::to_owned)).collect::<Option<Vec<String>>>()
        });
        names.ok_or_else(|| self.pointer.expected(keyword, "an array of names"))
    }

    fn number(&self, keyword: &'static str) -> Result<Option<Number>, SchemaError> {
        match self.object.get(keyword) {
            None => Ok(None),
            Some(Value::Number(number)) => Ok(Some(number.clone())),
            Some(_) => Err(self.pointer.expected(keyword, "a number")),
        }
    }

    fn count(&self, keyword: &'static str) -> Result<Option<usize>, SchemaError> {
        let Some(number) = self.number(keyword)? else { return Ok(None) };
        let float = number.as_f64().unwrap_or(-1.0);
        if float < 0.0 || float.fract() != 0.0 {
            return Err(self.pointer.expected(keyword, "a whole number, not negative"));
        }
        // Saturates, as a count that no value reaches may.
        Ok(Some(float as usize))
    }

    fn range(&self, least: &'static str, most: &'static str) -> Result<Option<(usize, usize)>, SchemaError> {
        let (least, most) = (self.count(least)?, self.count(most)?);
        let is_given = least.is_some() || most.is_some();
        Ok(is_given.then(|| (least.unwrap_or(0), most.unwrap_or(usize::MAX))))
    }
}

/// Where a subschema stands; for messages, so it is cut where it gets long.
#[derive(Clone, Default)]
struct Pointer(String);

impl Pointer {
    fn join(&self, name: &str) -> Pointer {
        if self.0.len() > 160 {
            return if self.0.ends_with('…') { self.clone() } else { Pointer(format!("{}/…", self.0)) };
        }
        Pointer(format!("{}/{}", self.0, super::text::clean(name, 40)))
    }

    fn expected(&self, keyword: &str, expected: &'static str) -> SchemaError {
        SchemaError::Keyword { keyword: keyword.to_owned(), pointer: self.0.clone(), expected }
    }
}

/// The order of checking: what is cheap and tells most first, what looks at other keywords' results last.
fn rank(keyword: &Keyword) -> u8 {
    match keyword {
        Keyword::Never | Keyword::Type(_) => 0,
        Keyword::Const(_) | Keyword::Enum(_) | Keyword::Limit(..) | Keyword::MultipleOf(_) => 1,
        Keyword::Length { .. } | Keyword::ItemCount { .. } | Keyword::MemberCount { .. } => 2,
        Keyword::Required(_) | Keyword::DependentRequired(_) => 2,
        Keyword::Pattern(_) | Keyword::UniqueItems => 3,
        Keyword::Members(_) | Keyword::Items { .. } | Keyword::PropertyNames(_) | Keyword::Contains { .. } => 4,
        Keyword::Reference(_) | Keyword::AllOf(_) | Keyword::DependentSchemas(_) => 5,
        Keyword::If { .. } | Keyword::AnyOf(_) | Keyword::OneOf(_) | Keyword::Not(_) => 6,
        Keyword::UnevaluatedItems(_) | Keyword::UnevaluatedMembers(_) => 7,
    }
}

/// Percent-decodes a fragment.
fn decode(fragment: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first == b'%' {
            let digits = std::str::from_utf8(after.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &after[2..];
        } else {
            bytes.push(*first);
        }
    }
    String::from_utf8(bytes).ok()
}
