//! Interfaces, type aliases and enums as the file declares them.

use super::{Scope, Types, docs, schema};
use crate::sources::define_tool::fault::Fault;
use crate::sources::define_tool::file::{TypeDeclaration, TypeKind};
use crate::sources::define_tool::value::key;
use oxc_ast::ast::{TSEnumDeclaration, TSEnumMemberName, TSInterfaceDeclaration, TSSignature};
use serde_json::Value;

impl<'a> Types<'a, '_, '_> {
    /// The schema of what a type is declared as.
    pub(super) fn body(
        &mut self,
        name: &'a str,
        declarations: &[TypeDeclaration<'a>],
        scope: &Scope<'a>,
        depth: u32,
    ) -> Result<Value, Fault> {
        let mut parts = Vec::new();
        for declaration in declarations {
            let mut schema = match declaration.kind {
                TypeKind::Interface(it) => self.interface(name, it, scope, depth)?,
                TypeKind::Alias(it) => self.schema(&it.type_annotation, scope, depth)?,
                TypeKind::Enum(it) => self.enumeration(it)?,
            };
            docs::describe(&mut schema, self.reader.file.comment(declaration.start));
            parts.push(schema);
        }
        match <[Value; 1]>::try_from(parts) {
            Ok([schema]) => Ok(schema),
            Err(parts) => {
                let at = declarations.first().map_or(0, |declaration| declaration.start);
                let mut whole = self.intersection(parts, at, depth)?;
                for declaration in declarations {
                    docs::describe(&mut whole, self.reader.file.comment(declaration.start));
                }
                Ok(whole)
            }
        }
    }

    fn interface(
        &mut self,
        name: &str,
        interface: &'a TSInterfaceDeclaration<'a>,
        scope: &Scope<'a>,
        depth: u32,
    ) -> Result<Value, Fault> {
        let own = self.object(&interface.body.body, scope, depth)?;
        if interface.extends.is_empty() {
            return Ok(own);
        }
        let mut parts = Vec::new();
        for heritage in &interface.extends {
            let at = heritage.span.start;
            let base = self.reference(&heritage.type_name, heritage.type_arguments.as_deref(), scope, depth)?;
            let Some(mut base) = self.resolve(&base, at, depth)? else {
                return Err(Fault::new(
                    at,
                    format!("the interface `{name}` extends itself"),
                    "remove the circle: extend a type that does not need this one",
                ));
            };
            if let Value::Object(base) = &mut base {
                ["title", "description", "deprecated"].iter().for_each(|key| drop(base.shift_remove(*key)));
                // What the interface declares anew takes the place of what it inherits.
                for member in own_names(&interface.body.body) {
                    if let Some(Value::Object(properties)) = base.get_mut("properties") {
                        properties.shift_remove(&member);
                    }
                    if let Some(Value::Array(required)) = base.get_mut("required") {
                        required.retain(|name| name.as_str() != Some(&member));
                    }
                }
            }
            parts.push(base);
        }
        // Index signatures of one side do not hold for the members of the other side, so they are put together here.
        let mut others = Vec::new();
        parts.push(own);
        for part in parts.iter_mut().filter_map(Value::as_object_mut) {
            others.extend(part.shift_remove("additionalProperties"));
        }
        let mut schema = self.intersection(parts, interface.span.start, depth)?;
        if let (Value::Object(schema), false) = (&mut schema, others.is_empty()) {
            schema.insert("additionalProperties".to_owned(), schema::union(others));
        }
        Ok(schema)
    }

    fn enumeration(&mut self, declaration: &'a TSEnumDeclaration<'a>) -> Result<Value, Fault> {
        let values = self.enum_members(declaration)?.into_iter().map(|(_, value)| schema::constant(value));
        Ok(schema::union(values.collect()))
    }

    /// The names and values of an enum's members.
    pub(super) fn enum_members(&mut self, it: &'a TSEnumDeclaration<'a>) -> Result<Vec<(String, Value)>, Fault> {
        let mut members = Vec::with_capacity(it.body.members.len());
        let mut next = Some(0);
        for member in &it.body.members {
            let at = member.span.start;
            self.reader.charge(at, 1)?;
            let name = match &member.id {
                TSEnumMemberName::Identifier(it) => it.name.to_string(),
                TSEnumMemberName::String(it) | TSEnumMemberName::ComputedString(it) => it.value.to_string(),
                TSEnumMemberName::ComputedTemplateString(_) => {
                    return Err(Fault::new(at, "the name of an enum's member is computed", "write it as a name"));
                }
            };
            let value = match (&member.initializer, next) {
                (Some(value), _) => self.reader.value(value)?,
                (None, Some(next)) => Value::from(next),
                (None, None) => {
                    return Err(Fault::new(at, format!("the enum's member `{name}` has no value"), "give it one"));
                }
            };
            if !(value.is_string() || value.is_number()) {
                return Err(Fault::new(at, "an enum's values are strings and numbers", "write one of these"));
            }
            next = value.as_i64().and_then(|value| value.checked_add(1));
            members.push((name, value));
        }
        Ok(members)
    }
}

fn own_names(members: &[TSSignature<'_>]) -> Vec<String> {
    let names = members.iter().filter_map(|member| match member {
        TSSignature::TSPropertySignature(it) => key(&it.key, it.computed).ok(),
        _ => None,
    });
    names.collect()
}
