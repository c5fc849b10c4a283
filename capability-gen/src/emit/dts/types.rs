//! Printer of TypeScript types.

use super::super::text::{push_property, push_quoted};
use super::{cycles, docs};
use crate::model::{Docs, Field, Presence, Record, Rest, Type, TypeId, Types};
use serde_json::Value;
use std::collections::HashSet;

/// Maximum nesting of types, names not followed; deeper types are `unknown`. Far beyond hand-written types, and safe
/// for any parser's stack.
const MAX_DEPTH: usize = 48;
/// Maximum number of members of an object printed on one line, if none is documented.
const MAX_BRIEF_FIELDS: usize = 3;
/// Names used by the declarations; a module's type with such a name gets a `_`.
const TAKEN: [&str; 5] = ["Promise", "Record", "Uint8Array", "CapabilityPromise", "McpContent"];

/// Printer of the types of one module. Named types that it prints are added to `references`.
pub(super) struct Printer<'a> {
    pub(super) types: &'a Types,
    circular: HashSet<(TypeId, TypeId)>,
}

/// Context of a printed type.
#[derive(Clone, Copy)]
struct At {
    indent: usize,
    depth: usize,
    /// True in an alias, where `Record<string, …>` of a name could be circular.
    is_alias: bool,
}

impl At {
    fn inside(self) -> At {
        At { depth: self.depth + 1, ..self }
    }

    fn indented(self) -> At {
        At { indent: self.indent + 1, ..self.inside() }
    }
}

impl<'a> Printer<'a> {
    pub(super) fn new(types: &'a Types) -> Self {
        Self { types, circular: cycles::circular(types) }
    }

    /// Prints `export interface Trip { … }`, or a `type` if it is not a record.
    pub(super) fn definition(&self, out: &mut String, id: TypeId, references: &mut Vec<TypeId>) {
        let definition = self.types.get(id);
        docs::push(out, 1, &definition.docs);
        let mut at = At { indent: 1, depth: 0, is_alias: false };
        match &definition.ty {
            Type::Record(record) if !record.fields.is_empty() => {
                out.push_str(&format!("  export interface {} ", self.name(id)));
                self.members(out, record, at, references);
                out.push('\n');
            }
            ty => {
                out.push_str(&format!("  export type {} = ", self.name(id)));
                at.is_alias = true;
                let members = if let Type::Union(members) = ty { members.as_slice() } else { std::slice::from_ref(ty) };
                // A direct self-reference in an alias adds nothing; an indirect one becomes `unknown`.
                let is_itself = |member: &&Type| matches!(member, Type::Named(to) if *to == id);
                let or_any = |member: &'a Type| match member {
                    Type::Named(to) if self.circular.contains(&(id, *to)) => &Type::Any,
                    other => other,
                };
                self.union(out, members.iter().filter(|member| !is_itself(member)).map(or_any), at, references);
                out.push_str(";\n");
            }
        }
    }

    /// A type in a function's signature.
    pub(super) fn ty(&self, out: &mut String, ty: &Type, indent: usize, references: &mut Vec<TypeId>) {
        self.write(out, ty, At { indent, depth: 0, is_alias: false }, references);
    }

    fn name(&self, id: TypeId) -> String {
        let name = &self.types.get(id).name;
        if TAKEN.contains(&name.as_str()) { format!("{name}_") } else { name.clone() }
    }

    /// Prints a type; returns the number of its top-level alternatives.
    fn write(&self, out: &mut String, ty: &Type, at: At, references: &mut Vec<TypeId>) -> usize {
        if at.depth > MAX_DEPTH {
            out.push_str("unknown");
            return 1;
        }
        match ty {
            Type::Any => out.push_str("unknown"),
            Type::Never => out.push_str("never"),
            Type::Null => out.push_str("null"),
            Type::Boolean => out.push_str("boolean"),
            Type::Integer | Type::Number => out.push_str("number"),
            Type::String => out.push_str("string"),
            Type::Literals(_) => return self.union(out, std::iter::once(ty), at, references),
            Type::Union(members) => return self.union(out, members.iter(), at, references),
            Type::Named(id) => {
                references.push(*id);
                out.push_str(&self.name(*id));
            }
            Type::List(item) => {
                self.grouped(out, item, at.inside(), references);
                out.push_str("[]");
            }
            Type::Tuple { items, required, rest } => {
                self.tuple(out, items, *required, rest.as_deref(), at.inside(), references);
            }
            Type::Map(value) => self.map(out, value, at.inside(), references),
            Type::Record(record) => match &record.rest {
                Rest::Closed if record.fields.is_empty() => out.push_str("Record<string, never>"),
                Rest::Undeclared if record.fields.is_empty() => out.push_str("Record<string, unknown>"),
                Rest::Declared(value) if record.fields.is_empty() => self.map(out, value, at.inside(), references),
                _ if is_brief(record) && record.fields.iter().all(is_undocumented) => {
                    self.brief(out, record, at, references);
                }
                _ => self.members(out, record, at, references),
            },
        }
        1
    }

    /// Prints a type in parentheses if `|` would bind wrongly.
    fn grouped(&self, out: &mut String, ty: &Type, at: At, references: &mut Vec<TypeId>) {
        let start = out.len();
        if self.write(out, ty, at, references) > 1 {
            out.insert(start, '(');
            out.push(')');
        }
    }

    /// Prints alternatives without duplicates.
    fn union<'t>(
        &self,
        out: &mut String,
        members: impl Iterator<Item = &'t Type>,
        at: At,
        references: &mut Vec<TypeId>,
    ) -> usize {
        let mut seen = HashSet::new();
        let mut is_empty = true;
        let mut add = |out: &mut String, text: String| {
            if !seen.contains(&text) {
                if !seen.is_empty() {
                    out.push_str(" | ");
                }
                out.push_str(&text);
                seen.insert(text);
            }
        };
        for member in members {
            is_empty = false;
            match member {
                Type::Literals(values) => values.iter().for_each(|value| add(out, literal(value))),
                other => {
                    let mut text = String::new();
                    self.write(&mut text, other, at.inside(), references);
                    add(out, text);
                }
            }
        }
        if seen.is_empty() {
            // Only self-references were left, or there are no alternatives.
            out.push_str(if is_empty { "unknown" } else { "never" });
        }
        seen.len()
    }

    fn tuple(
        &self,
        out: &mut String,
        items: &[Type],
        required: usize,
        rest: Option<&Type>,
        at: At,
        references: &mut Vec<TypeId>,
    ) {
        out.push('[');
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                out.push_str(", ");
            }
            self.grouped(out, item, at, references);
            if index >= required {
                out.push('?');
            }
        }
        if let Some(rest) = rest {
            out.push_str(if items.is_empty() { "..." } else { ", ..." });
            self.grouped(out, rest, at, references);
            out.push_str("[]");
        }
        out.push(']');
    }

    fn map(&self, out: &mut String, value: &Type, at: At, references: &mut Vec<TypeId>) {
        let before = references.len();
        let start = out.len();
        self.write(out, value, at, references);
        let is_named = references.len() > before;
        if at.is_alias && is_named {
            out.insert_str(start, "{ [key: string]: ");
            out.push_str(" }");
        } else {
            out.insert_str(start, "Record<string, ");
            out.push('>');
        }
    }

    /// `{ channel: string; limit?: number }`
    fn brief(&self, out: &mut String, record: &Record, at: At, references: &mut Vec<TypeId>) {
        out.push('{');
        for (index, field) in record.fields.iter().enumerate() {
            out.push_str(if index > 0 { "; " } else { " " });
            self.field(out, field, at, references);
        }
        out.push_str(" }");
    }

    /// Prints `{`, one member per line, `}`.
    fn members(&self, out: &mut String, record: &Record, at: At, references: &mut Vec<TypeId>) {
        let inside = at.indented();
        let margin = "  ".repeat(inside.indent);
        out.push_str("{\n");
        for field in &record.fields {
            docs::push(out, inside.indent, &field.docs);
            out.push_str(&margin);
            self.field(out, field, inside, references);
            out.push_str(";\n");
        }
        if let Rest::Declared(rest) = &record.rest {
            out.push_str(&format!("{margin}[key: string]: {};\n", index_type(record, rest)));
        }
        out.push_str(&"  ".repeat(at.indent));
        out.push('}');
    }

    fn field(&self, out: &mut String, field: &Field, at: At, references: &mut Vec<TypeId>) {
        push_property(out, &field.name);
        out.push_str(if field.presence == Presence::Optional { "?: " } else { ": " });
        self.write(out, &field.ty, at, references);
        if field.takes_bytes() {
            out.push_str(" | Uint8Array");
        }
    }
}

/// Returns true if an object is small and simple enough to need no name.
pub(super) fn is_brief(record: &Record) -> bool {
    let is_plain = |field: &Field| matches!(field.ty, Type::Boolean | Type::Integer | Type::Number | Type::String);
    !matches!(record.rest, Rest::Declared(_))
        && (1..=MAX_BRIEF_FIELDS).contains(&record.fields.len())
        && record.fields.iter().all(is_plain)
}

fn is_undocumented(field: &Field) -> bool {
    field.docs == Docs::default()
}

/// Union of all member types, which TypeScript requires of an index signature beside named members.
fn index_type(record: &Record, rest: &Type) -> String {
    let mut parts = Vec::new();
    for ty in std::iter::once(rest).chain(record.fields.iter().map(|field| &field.ty)) {
        match keyword(ty) {
            Some(keyword) if parts.contains(&keyword) => {}
            Some(keyword) => parts.push(keyword),
            None => return "unknown".to_owned(),
        }
    }
    if record.fields.iter().any(|field| field.presence == Presence::Optional) {
        parts.push("undefined");
    }
    parts.join(" | ")
}

fn keyword(ty: &Type) -> Option<&'static str> {
    match ty {
        Type::Null => Some("null"),
        Type::Boolean => Some("boolean"),
        Type::Integer | Type::Number => Some("number"),
        Type::String => Some("string"),
        Type::Literals(values) if values.iter().all(Value::is_string) => Some("string"),
        _ => None,
    }
}

fn literal(value: &Value) -> String {
    match value {
        Value::String(text) => {
            let mut out = String::with_capacity(text.len() + 2);
            push_quoted(&mut out, text);
            out
        }
        Value::Number(number) => number.to_string(),
        Value::Bool(value) => value.to_string(),
        Value::Null => "null".to_owned(),
        Value::Array(_) | Value::Object(_) => "unknown".to_owned(),
    }
}
