//! Members of interfaces and object types, and intersections of object types.

use super::{FIX, Scope, Types, object_schema, schema};
use crate::sources::define_tool::fault::Fault;
use crate::sources::define_tool::value::key;
use oxc_ast::ast::{TSMappedType, TSMappedTypeModifierOperator, TSSignature, TSType, TSTypeOperatorOperator};
use oxc_span::GetSpan as _;
use serde_json::{Map, Value, json};
use std::collections::HashSet;

impl<'a> Types<'a, '_, '_> {
    /// The schema of an object type with these members.
    pub(super) fn object(
        &mut self,
        members: &'a [TSSignature<'a>],
        scope: &Scope<'a>,
        depth: u32,
    ) -> Result<Value, Fault> {
        let mut properties = Map::new();
        let mut required = Vec::new();
        let mut others = Vec::new();
        for member in members {
            let at = member.span().start;
            match member {
                TSSignature::TSPropertySignature(it) => {
                    let Ok(name) = key(&it.key, it.computed) else {
                        self.remark(
                            at,
                            "the name of a member is computed, so it is left out; write it as a name".into(),
                        );
                        continue;
                    };
                    let ty = it.type_annotation.as_ref().map(|annotation| &annotation.type_annotation);
                    let (mut schema, may_be_absent) = match ty {
                        Some(ty) => self.member(ty, scope, depth)?,
                        None => (json!({}), false),
                    };
                    self.reader.charge(at, schema::long(&name))?;
                    self.describe(&mut schema, at)?;
                    if !(it.optional || may_be_absent) {
                        required.push(Value::String(name.clone()));
                    }
                    if properties.contains_key(&name) {
                        return Err(Fault::new(
                            at,
                            format!("the member `{name}` is declared twice"),
                            "remove one of them",
                        ));
                    }
                    properties.insert(name, schema);
                }
                TSSignature::TSIndexSignature(it) => {
                    others.push(self.schema(&it.type_annotation.type_annotation, scope, depth)?);
                }
                TSSignature::TSMethodSignature(it) => {
                    let name = key(&it.key, it.computed).unwrap_or_default();
                    self.reader.charge(at, 1 + schema::long(&name))?;
                    self.remark(at, format!("JSON has no functions, so `{name}` is any value, or absent; remove it"));
                    properties.insert(name, json!({}));
                }
                TSSignature::TSCallSignatureDeclaration(_) | TSSignature::TSConstructSignatureDeclaration(_) => {
                    return Err(Fault::unsupported(at, "JSON has no functions", FIX));
                }
            }
        }
        let mut schema = object_schema(properties, required);
        if !others.is_empty() {
            schema.insert("additionalProperties".to_owned(), schema::union(others));
        }
        Ok(Value::Object(schema))
    }

    /// The schema of a member's type, and whether it may be `undefined`, which is absent in JSON.
    fn member(&mut self, ty: &'a TSType<'a>, scope: &Scope<'a>, depth: u32) -> Result<(Value, bool), Fault> {
        let is_absent = |ty: &TSType<'_>| matches!(ty, TSType::TSUndefinedKeyword(_) | TSType::TSVoidKeyword(_));
        match ty {
            TSType::TSUnionType(it) if it.types.iter().any(is_absent) => {
                let mut alternatives = Vec::with_capacity(it.types.len());
                for ty in it.types.iter().filter(|ty| !is_absent(ty)) {
                    alternatives.push(self.schema(ty, scope, depth)?);
                }
                Ok((schema::union(alternatives), true))
            }
            // JSON omits members that are functions or symbols.
            ty => Ok((self.schema(ty, scope, depth)?, is_absent(ty) || is_left_out(ty))),
        }
    }

    /// Intersection: one object if all parts are plain objects.
    pub(super) fn intersection(&mut self, parts: Vec<Value>, at: u32, depth: u32) -> Result<Value, Fault> {
        let mut resolved = Vec::with_capacity(parts.len());
        for part in &parts {
            resolved.push(self.resolve(part, at, depth)?);
        }
        // Branded types, `string & { readonly brand: 'id' }`: the object exists only for the type checker.
        if let Some(index) = resolved.iter().position(|part| part.as_ref().is_some_and(schema::is_primitive)) {
            return Ok(parts.into_iter().nth(index).unwrap_or_default());
        }
        let is_mergeable = |part: &Option<Value>| {
            part.as_ref()
                .is_some_and(|part| schema::is_plain_object(part) && part.get("additionalProperties").is_none())
        };
        if !resolved.iter().all(is_mergeable) {
            let parts: Vec<Value> = parts.into_iter().filter(|part| *part != json!({})).collect();
            return Ok(if parts.is_empty() { json!({}) } else { json!({ "allOf": parts }) });
        }
        let mut properties: Map<String, Value> = Map::new();
        let mut required: Vec<Value> = Vec::new();
        for part in resolved.into_iter().flatten() {
            for (name, schema) in schema::properties(&part) {
                let both = match properties.get(&name) {
                    Some(known) if *known != schema => json!({ "allOf": [known, schema] }),
                    _ => schema,
                };
                properties.insert(name, both);
            }
            let names = schema::required(&part).into_iter().map(Value::String);
            required.extend(names);
        }
        let mut seen = HashSet::new();
        required.retain(|name| seen.insert(name.to_string()));
        Ok(Value::Object(object_schema(properties, required)))
    }

    /// `{ [K in 'a' | 'b']: T }`
    pub(super) fn mapped(&mut self, it: &'a TSMappedType<'a>, scope: &Scope<'a>, depth: u32) -> Result<Value, Fault> {
        let at = it.span.start;
        if let Some(name) = &it.name_type {
            let at = name.span().start;
            self.remark(
                at,
                "names of this mapped type are not supported, so this is any object; write them out".into(),
            );
            return Ok(json!({ "type": "object" }));
        }
        let keys = self.schema(&it.constraint, scope, depth)?;
        // Without a modifier, `[K in keyof T]` keeps the optional members of `T`.
        let kept = match (&it.constraint, it.optional) {
            (TSType::TSTypeOperatorType(of), None) if of.operator == TSTypeOperatorOperator::Keyof => {
                let of = self.schema(&of.type_annotation, scope, depth)?;
                self.resolve(&of, at, depth)?.map(|of| schema::required(&of).into_iter().collect::<HashSet<_>>())
            }
            _ => None,
        };
        let bound: usize = scope.values().map(|bound| schema::measure(bound).0).sum();
        self.reader.charge(at, bound)?;
        let mut inner = scope.clone();
        let mut value = |types: &mut Self, key: Value| {
            types.reader.charge(at, schema::measure(&key).0)?;
            inner.insert(it.key.name.as_str(), key);
            it.type_annotation.as_ref().map_or(Ok(json!({})), |ty| types.schema(ty, &inner, depth))
        };
        let Some(names) = self.literals(&keys, at, depth)? else {
            return Ok(json!({ "type": "object", "additionalProperties": value(self, json!({ "type": "string" }))? }));
        };
        let mut properties = Map::new();
        for name in names {
            let schema = value(self, schema::constant(json!(name)))?;
            properties.insert(name, schema);
        }
        let is_optional =
            matches!(it.optional, Some(TSMappedTypeModifierOperator::True | TSMappedTypeModifierOperator::Plus));
        let is_required = |name: &&String| !is_optional && kept.as_ref().is_none_or(|kept| kept.contains(*name));
        let required = properties.keys().filter(is_required).map(|name| json!(name)).collect();
        Ok(Value::Object(object_schema(properties, required)))
    }
}

/// Returns true if JSON has no value of the type.
fn is_left_out(ty: &TSType<'_>) -> bool {
    match ty {
        TSType::TSParenthesizedType(it) => is_left_out(&it.type_annotation),
        ty => matches!(ty, TSType::TSFunctionType(_) | TSType::TSConstructorType(_) | TSType::TSSymbolKeyword(_)),
    }
}
