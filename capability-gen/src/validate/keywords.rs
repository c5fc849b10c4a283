//! Compilation of keywords, and the order in which they are checked.

use super::compile::{Compiler, Pointer, SchemaError};
use super::equal::size;
use super::pattern::Pattern;
use super::program::{Choices, Keyword, Limit, Members, NodeId, TypeSet};
use serde_json::{Map, Number, Value};

/// Maximum number of notes.
const MAX_NOTES: usize = 32;

/// Order of checking: cheap and telling keywords first, those that depend on the results of others last.
pub(super) fn rank(keyword: &Keyword) -> u8 {
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

/// Reader of one subschema's keywords.
struct Reader<'c, 's> {
    compiler: &'c mut Compiler<'s>,
    object: &'s Map<String, Value>,
    base: &'s Value,
    pointer: &'c Pointer,
    keywords: Vec<Keyword>,
}

/// Reads the keywords of one subschema; the compiler resolves its references.
pub(super) fn read<'s>(
    compiler: &mut Compiler<'s>,
    object: &'s Map<String, Value>,
    base: &'s Value,
    pointer: &Pointer,
) -> Result<Vec<Keyword>, SchemaError> {
    let mut reader = Reader { compiler, object, base, pointer, keywords: Vec::new() };
    reader.values()?;
    reader.numbers()?;
    reader.arrays()?;
    reader.objects()?;
    reader.combinations()?;
    Ok(reader.keywords)
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
        // Only to find anchors and errors in them: unreferenced definitions are never checked.
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
        // Saturates: no value reaches such a count.
        Ok(Some(float as usize))
    }

    fn range(&self, least: &'static str, most: &'static str) -> Result<Option<(usize, usize)>, SchemaError> {
        let (least, most) = (self.count(least)?, self.count(most)?);
        let is_given = least.is_some() || most.is_some();
        Ok(is_given.then(|| (least.unwrap_or(0), most.unwrap_or(usize::MAX))))
    }
}
