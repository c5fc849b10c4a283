//! Schemas of interfaces, type aliases and enums.

use super::{Scope, Types, schema};
use crate::sources::define_tool::fault::Fault;
use crate::sources::define_tool::file::TypeKind;
use crate::sources::define_tool::names::Declared;
use crate::sources::define_tool::value::key;
use oxc_ast::ast::{TSEnumDeclaration, TSInterfaceDeclaration, TSSignature};
use serde_json::Value;
use std::collections::HashSet;

impl<'a> Types<'a, '_, '_> {
    /// The schema of a declared type.
    pub(super) fn body(&mut self, declared: &Declared<'a>, scope: &Scope<'a>, depth: u32) -> Result<Value, Fault> {
        let Declared { name, declarations, .. } = declared;
        let mut parts = Vec::new();
        for declaration in declarations.iter() {
            let mut schema = match declaration.kind {
                TypeKind::Interface(it) => self.interface(name, it, scope, depth)?,
                TypeKind::Alias(it) => self.schema(&it.type_annotation, scope, depth)?,
                TypeKind::Enum(it) => match self.enumeration(it) {
                    Err(fault) if fault.is_unsupported => self.any_value(&fault),
                    schema => schema?,
                },
            };
            self.describe(&mut schema, declaration.start)?;
            parts.push(schema);
        }
        match <[Value; 1]>::try_from(parts) {
            Ok([schema]) => Ok(schema),
            Err(parts) => {
                let at = declarations.first().map_or(0, |declaration| declaration.start);
                let mut whole = self.intersection(parts, at, depth)?;
                for declaration in declarations.iter() {
                    self.describe(&mut whole, declaration.start)?;
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
        let own_names = own_names(&interface.body.body);
        let mut parts = Vec::new();
        for heritage in &interface.extends {
            let at = heritage.span.start;
            let base = match self.reference(&heritage.type_name, heritage.type_arguments.as_deref(), scope, depth) {
                Err(fault) if fault.is_unsupported => {
                    let what = format!("{}, so the members that `{name}` inherits are left out", fault.message);
                    self.remark(fault.at, format!("{what}; write them out"));
                    continue;
                }
                base => base?,
            };
            let Some(mut base) = self.resolve(&base, at, depth)? else {
                return Err(Fault::new(
                    at,
                    format!("the interface `{name}` extends itself"),
                    "extend a type that does not depend on this one",
                ));
            };
            // A base of any value declares no members.
            if base.get("type").is_none() && base.get("allOf").is_none() && base.get("anyOf").is_none() {
                continue;
            }
            if let Value::Object(base) = &mut base {
                ["title", "description", "deprecated"].iter().for_each(|key| drop(base.shift_remove(*key)));
                // Redeclared members override inherited ones.
                if let Some(Value::Object(properties)) = base.get_mut("properties") {
                    properties.retain(|name, _| !own_names.contains(name));
                }
                if let Some(Value::Array(required)) = base.get_mut("required") {
                    required.retain(|name| name.as_str().is_none_or(|name| !own_names.contains(name)));
                }
            }
            parts.push(base);
        }
        // Index signatures of one side do not apply to the members of the other side, so they are merged here.
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
        let values = self.reader.enum_members(declaration)?.into_iter().map(|(_, value)| schema::constant(value));
        Ok(schema::union(values.collect()))
    }
}

fn own_names(members: &[TSSignature<'_>]) -> HashSet<String> {
    let names = members.iter().filter_map(|member| match member {
        TSSignature::TSPropertySignature(it) => key(&it.key, it.computed).ok(),
        _ => None,
    });
    names.collect()
}
