//! `Type` → Rust types, with a generated struct or enum for each unnamed one.

use super::cycles::Cycles;
use super::text::{Distinct, docs, literal, pascal, raw, snake, type_scope};
use crate::model::{Docs, Field, Module, Presence, Record, Rest, Type, TypeId, Types};
use serde_json::Value;
use std::fmt::Write;

/// Maximum depth; deeper types are `Value`.
const MAX_DEPTH: usize = 64;
/// Longest tuple that implements `PartialEq` and `Debug`.
const MAX_TUPLE: usize = 12;

/// Writer of the types of one file.
pub(super) struct Writer<'m> {
    module: &'m Module,
    cycles: Cycles,
    scope: Distinct,
    /// The Rust names of the named types.
    names: Vec<String>,
    pub(super) items: String,
    pub(super) uses_present: bool,
    pub(super) uses_never: bool,
}

/// Position of a type: the name prefix of its unnamed types, and the named type that contains it by value.
#[derive(Clone)]
struct Site {
    name: String,
    owner: Option<usize>,
    depth: usize,
}

impl Site {
    fn inside(&self, part: &str) -> Site {
        // A name contains its path as long as it stays readable.
        let name = if self.name.len() < 80 { format!("{}{}", self.name, pascal(part)) } else { self.name.clone() };
        Site { name, owner: self.owner, depth: self.depth + 1 }
    }

    /// Position behind a pointer, where no box is needed.
    fn behind(&self, part: &str) -> Site {
        Site { owner: None, ..self.inside(part) }
    }
}

impl<'m> Writer<'m> {
    pub(super) fn new(module: &'m Module) -> Writer<'m> {
        let mut scope = type_scope();
        let names = module.types.0.iter().map(|definition| scope.add(&pascal(&definition.name))).collect();
        Writer {
            module,
            cycles: Cycles::new(&module.types),
            scope,
            names,
            items: String::new(),
            uses_present: false,
            uses_never: false,
        }
    }

    /// Writes all named types.
    pub(super) fn definitions(&mut self) {
        for (TypeId(at), definition) in self.module.types.iter() {
            let name = self.names[at].clone();
            let site = Site { name: name.clone(), owner: Some(at), depth: 0 };
            let about = paragraphs(&definition.docs);
            match &definition.ty {
                Type::Record(record) => self.record(&name, &about, record, &site),
                Type::Literals(values) if is_texts(values) => self.choices(&name, &about, values),
                Type::Union(variants) if self.variants(variants).is_some_and(|rest| rest.len() == variants.len()) => {
                    self.union(&name, &about, variants, &site);
                }
                // A record or an enum inside takes another name than the type itself.
                other => {
                    let inner = self.ty(other, &site.inside("Inner"));
                    self.items.push_str(&docs("", "///", &about));
                    if self.cycles.is_recursive(at) {
                        self.items.push_str(
                            "#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]\n#[serde(transparent)]\n",
                        );
                        let _ = writeln!(self.items, "pub struct {name}(pub {inner});\n");
                    } else {
                        let _ = writeln!(self.items, "pub type {name} = {inner};\n");
                    }
                }
            }
        }
    }

    pub(super) fn types(&self) -> &'m Types {
        &self.module.types
    }

    /// The type of a function's parameters or result; `name` is the prefix of unnamed types in it.
    pub(super) fn of_function(&mut self, ty: &Type, name: &str) -> String {
        self.ty(ty, &Site { name: name.to_owned(), owner: None, depth: 0 })
    }

    fn ty(&mut self, ty: &Type, site: &Site) -> String {
        if site.depth > MAX_DEPTH {
            return "Value".to_owned();
        }
        match ty {
            Type::Any => "Value".to_owned(),
            Type::Never => {
                self.uses_never = true;
                "Never".to_owned()
            }
            Type::Null => "()".to_owned(),
            Type::Boolean => "bool".to_owned(),
            Type::Integer => "i64".to_owned(),
            Type::Number => "f64".to_owned(),
            Type::String => "String".to_owned(),
            Type::Literals(values) if is_texts(values) => {
                let name = self.scope.add(&site.name);
                self.choices(&name, &[], values);
                name
            }
            Type::Literals(values) => scalar(values).to_owned(),
            Type::List(inner) => format!("Vec<{}>", self.ty(inner, &site.behind("Item"))),
            Type::Map(inner) => self.map(inner, site),
            Type::Tuple { items, required, rest } => {
                if rest.is_some() || *required != items.len() || items.is_empty() || items.len() > MAX_TUPLE {
                    return "Vec<Value>".to_owned();
                }
                let types: Vec<String> = items
                    .iter()
                    .enumerate()
                    .map(|(at, item)| self.ty(item, &site.inside(&format!("part-{at}"))))
                    .collect();
                if let [one] = types.as_slice() { format!("({one},)") } else { format!("({})", types.join(", ")) }
            }
            Type::Record(record) => {
                let name = self.scope.add(&site.name);
                self.record(&name, &[], record, &Site { name: name.clone(), ..site.clone() });
                name
            }
            Type::Named(id) => match self.names.get(id.0) {
                Some(name) if site.owner.is_some_and(|owner| self.cycles.needs_box(owner, id.0)) => {
                    format!("Box<{name}>")
                }
                Some(name) => name.clone(),
                None => "Value".to_owned(),
            },
            Type::Union(variants) => {
                let is_nullable = variants.contains(&Type::Null);
                let rest: Vec<Type> = variants.iter().filter(|variant| **variant != Type::Null).cloned().collect();
                let inner = match rest.as_slice() {
                    [] => return "()".to_owned(),
                    [one] => self.ty(one, site),
                    many => match self.variants(many) {
                        Some(_) => {
                            let name = self.scope.add(&site.name);
                            self.union(&name, &[], many, &Site { name: name.clone(), ..site.clone() });
                            name
                        }
                        None => self.common(many).to_owned(),
                    },
                };
                if is_nullable && inner != "Value" { format!("Option<{inner}>") } else { inner }
            }
        }
    }

    fn map(&mut self, inner: &Type, site: &Site) -> String {
        format!("BTreeMap<String, {}>", self.ty(inner, &site.behind("Value")))
    }

    fn record(&mut self, name: &str, about: &[String], record: &Record, site: &Site) {
        let mut scope = Distinct::default();
        let is_closed = record.rest == Rest::Closed;
        if !is_closed {
            scope.add("extras");
        }
        let mut body = String::new();
        for field in &record.fields {
            let field_name = scope.add(&snake(&field.name));
            self.field(&mut body, &field_name, field, site);
        }
        if !is_closed {
            let rest = match &record.rest {
                Rest::Declared(inner) if **inner != Type::Any => self.map(inner, &site.inside("extras")),
                _ => "serde_json::Map<String, Value>".to_owned(),
            };
            let _ = write!(body, "    /// All other members.\n    #[serde(flatten)]\n    pub extras: {rest},\n");
        }
        let has_default = record.fields.iter().all(|field| field.presence != Presence::Required);
        self.items.push_str(&docs("", "///", about));
        let default = if has_default { ", Default" } else { "" };
        let _ = writeln!(self.items, "#[derive(Clone, Debug, PartialEq, Serialize, Deserialize{default})]");
        if is_closed {
            self.items.push_str("#[serde(deny_unknown_fields)]\n");
        }
        let _ = if body.is_empty() {
            writeln!(self.items, "pub struct {name} {{}}\n")
        } else {
            writeln!(self.items, "pub struct {name} {{\n{body}}}\n")
        };
    }

    fn field(&mut self, body: &mut String, name: &str, field: &Field, site: &Site) {
        body.push_str(&docs("    ", "///", &paragraphs(&field.docs)));
        let mut attributes = Vec::new();
        if field.name != name {
            attributes.push(format!("rename = {}", literal(&field.name)));
        }
        let mut ty = self.ty(&field.ty, &site.inside(&field.name));
        if field.presence == Presence::Required {
            // Otherwise serde reads an absent member as null.
            if self.takes_null(&field.ty) {
                self.uses_present = true;
                attributes.push("deserialize_with = \"required\"".to_owned());
            }
        } else {
            attributes.push("default".to_owned());
            attributes.push("skip_serializing_if = \"Option::is_none\"".to_owned());
            if self.takes_null(&field.ty) {
                self.uses_present = true;
                attributes.push("deserialize_with = \"present\"".to_owned());
            }
            ty = format!("Option<{ty}>");
        }
        if !attributes.is_empty() {
            let _ = writeln!(body, "    #[serde({})]", attributes.join(", "));
        }
        let _ = writeln!(body, "    pub {}: {ty},", raw(name));
    }

    fn choices(&mut self, name: &str, about: &[String], values: &[Value]) {
        self.items.push_str(&docs("", "///", about));
        self.items
            .push_str("#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]\n");
        let _ = writeln!(self.items, "pub enum {name} {{");
        let mut scope = Distinct::default();
        for text in values.iter().filter_map(Value::as_str) {
            let variant = scope.add(&pascal(text));
            if variant != text {
                let _ = writeln!(self.items, "    #[serde(rename = {})]", literal(text));
            }
            let _ = writeln!(self.items, "    {variant},");
        }
        self.items.push_str("}\n\n");
    }

    fn union(&mut self, name: &str, about: &[String], variants: &[Type], site: &Site) {
        let mut scope = Distinct::default();
        let mut body = String::new();
        for variant in variants {
            let label = match variant {
                Type::Named(TypeId(at)) => self.names.get(*at).cloned().unwrap_or_else(|| "Other".to_owned()),
                other => label(other).to_owned(),
            };
            let label = scope.add(&label);
            let ty = self.ty(variant, &site.inside(&label));
            let _ = writeln!(body, "    {label}({ty}),");
        }
        self.items.push_str(&docs("", "///", about));
        self.items.push_str("#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]\n#[serde(untagged)]\n");
        let _ = writeln!(self.items, "pub enum {name} {{\n{body}}}\n");
    }

    /// The variants of a union, if they do not overlap.
    fn variants<'v>(&self, variants: &'v [Type]) -> Option<Vec<&'v Type>> {
        let mut kinds: Vec<&str> = Vec::new();
        let mut objects: Vec<&Type> = Vec::new();
        for variant in variants {
            let resolved = self.module.types.resolve(variant);
            match label(resolved) {
                "Object" => objects.push(resolved),
                "Other" => return None,
                kind if kinds.contains(&kind) => return None,
                kind => kinds.push(kind),
            }
        }
        (objects.len() < 2 || are_tagged(&objects)).then(|| variants.iter().collect())
    }

    /// A type for all values of overlapping variants.
    fn common(&self, variants: &[Type]) -> &'static str {
        let mut kinds = variants.iter().map(|variant| label(self.module.types.resolve(variant)));
        let first = kinds.next().unwrap_or("Other");
        match first {
            "Text" | "Number" | "Boolean" if kinds.all(|kind| kind == first) => match first {
                "Text" => "String",
                "Number" => "f64",
                _ => "bool",
            },
            _ => "Value",
        }
    }

    /// Returns true if `null` is one of a type's values.
    fn takes_null(&self, ty: &Type) -> bool {
        match self.module.types.resolve(ty) {
            Type::Any | Type::Null => true,
            Type::Union(variants) => variants.iter().any(|variant| {
                matches!(self.module.types.resolve(variant), Type::Any | Type::Null)
                    || matches!(self.module.types.resolve(variant), Type::Union(inner) if inner.contains(&Type::Null))
            }),
            _ => false,
        }
    }
}

/// Kind of JSON value of a type; values of different kinds are distinguishable.
fn label(ty: &Type) -> &'static str {
    match ty {
        Type::Boolean => "Boolean",
        Type::Integer | Type::Number => "Number",
        Type::String => "Text",
        Type::Literals(values) => match scalar(values) {
            "bool" => "Boolean",
            "i64" | "f64" => "Number",
            "String" => "Text",
            _ => "Other",
        },
        Type::List(_) | Type::Tuple { .. } => "List",
        Type::Record(_) | Type::Map(_) => "Object",
        _ => "Other",
    }
}

fn is_texts(values: &[Value]) -> bool {
    !values.is_empty() && values.iter().all(Value::is_string)
}

/// The type of all these values.
fn scalar(values: &[Value]) -> &'static str {
    match values {
        [] => "Value",
        _ if values.iter().all(Value::is_string) => "String",
        _ if values.iter().all(Value::is_boolean) => "bool",
        _ if values.iter().all(Value::is_i64) => "i64",
        _ if values.iter().all(Value::is_number) => "f64",
        _ => "Value",
    }
}

/// Returns true if the records are distinguished by a required member with unique texts.
fn are_tagged(objects: &[&Type]) -> bool {
    let tags = |name: &str| -> Option<Vec<&str>> {
        let mut all = Vec::new();
        for object in objects {
            let Type::Record(record) = object else { return None };
            let field = record.fields.iter().find(|field| field.name == name)?;
            match &field.ty {
                Type::Literals(values) if field.presence == Presence::Required && is_texts(values) => {
                    all.extend(values.iter().filter_map(Value::as_str));
                }
                _ => return None,
            }
        }
        Some(all)
    };
    let Some(Type::Record(first)) = objects.first() else { return false };
    first.fields.iter().any(|field| {
        tags(&field.name).is_some_and(|mut tags| {
            let count = tags.len();
            tags.sort_unstable();
            tags.dedup();
            tags.len() == count
        })
    })
}

fn paragraphs(about: &Docs) -> Vec<String> {
    let mut paragraphs = vec![about.description.clone()];
    let limits: Vec<&str> = about.limits.iter().map(String::as_str).collect();
    if !limits.is_empty() {
        paragraphs.push(limits.join("; "));
    }
    if let Some(default) = &about.default {
        paragraphs.push(format!("Default: {default}"));
    }
    if about.is_deprecated {
        paragraphs.push("Deprecated.".to_owned());
    }
    paragraphs.retain(|paragraph| !paragraph.trim().is_empty());
    paragraphs
}
