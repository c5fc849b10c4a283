//! References to types: a generic type's parameters, the file's own types, the language's.

use super::{FIX, Scope, Types, schema};
use crate::sources::define_tool::fault::Fault;
use crate::sources::define_tool::file::{TypeDeclaration, TypeKind};
use oxc_ast::ast::{TSType, TSTypeName, TSTypeParameterDeclaration, TSTypeParameterInstantiation};
use oxc_span::GetSpan as _;
use serde_json::{Value, json};

/// How deep the schema of a type argument may be. A generic type that wraps its own argument (`Next<[T]>` inside of
/// `Next<T>`) would go on for ever.
const MAX_ARGUMENT_DEPTH: u32 = 24;

impl<'a> Types<'a, '_, '_> {
    pub(super) fn reference(
        &mut self,
        name: &'a TSTypeName<'a>,
        arguments: Option<&'a TSTypeParameterInstantiation<'a>>,
        scope: &Scope<'a>,
        depth: u32,
    ) -> Result<Value, Fault> {
        let at = name.span().start;
        let identifier = match name {
            TSTypeName::IdentifierReference(it) => it.name.as_str(),
            TSTypeName::QualifiedName(it) => match &it.left {
                TSTypeName::IdentifierReference(left) => {
                    return self.enum_member(left.name.as_str(), it.right.name.as_str(), at);
                }
                _ => return Err(Fault::new(at, "types in namespaces are not followed", FIX)),
            },
            TSTypeName::ThisExpression(_) => return Err(Fault::new(at, "`this` is not worked out here", FIX)),
        };
        if let Some(bound) = scope.get(identifier) {
            self.reader.charge(at, schema::measure(bound).0)?;
            return Ok(bound.clone());
        }
        let arguments = arguments.map_or(&[][..], |arguments| &arguments.params);
        match self.reader.file.type_named(identifier) {
            Some((name, declarations)) => {
                let declaration = declarations.first().copied();
                self.declared(name, declaration, arguments, at, scope, depth)
            }
            None => self.builtin(identifier, arguments, at, scope, depth),
        }
    }

    fn declared(
        &mut self,
        name: &'a str,
        declaration: Option<TypeDeclaration<'a>>,
        arguments: &'a [TSType<'a>],
        at: u32,
        scope: &Scope<'a>,
        depth: u32,
    ) -> Result<Value, Fault> {
        let parameters: Option<&'a TSTypeParameterDeclaration<'a>> = match declaration.map(|it| it.kind) {
            Some(TypeKind::Interface(it)) => it.type_parameters.as_deref(),
            Some(TypeKind::Alias(it)) => it.type_parameters.as_deref(),
            Some(TypeKind::Enum(_)) | None => None,
        };
        let mut inner = Scope::new();
        let mut bound = Vec::new();
        for (index, parameter) in parameters.iter().flat_map(|parameters| &parameters.params).enumerate() {
            let schema = match (arguments.get(index), &parameter.default) {
                (Some(argument), _) => self.schema(argument, scope, depth)?,
                (None, Some(default)) => self.schema(default, &inner, depth)?,
                (None, None) => json!({}),
            };
            let (size, deep) = schema::measure(&schema);
            if deep > MAX_ARGUMENT_DEPTH {
                return Ok(self.endless(name, at));
            }
            self.reader.charge(at, size)?;
            inner.insert(parameter.name.name.as_str(), schema.clone());
            bound.push(schema);
        }
        Ok(match self.reserve(name, at, inner, &bound) {
            Some(reference) => reference,
            None => self.endless(name, at),
        })
    }

    fn endless(&mut self, name: &str, at: u32) -> Value {
        self.remark(at, format!("the type `{name}` goes on without an end, and is taken for any value here"));
        json!({})
    }

    fn builtin(
        &mut self,
        name: &str,
        arguments: &'a [TSType<'a>],
        at: u32,
        scope: &Scope<'a>,
        depth: u32,
    ) -> Result<Value, Fault> {
        let mut schemas = Vec::with_capacity(arguments.len());
        for argument in arguments {
            schemas.push(self.schema(argument, scope, depth)?);
        }
        let mut schemas = schemas.into_iter();
        let mut next = || schemas.next().unwrap_or_else(|| json!({}));
        Ok(match name {
            "Array" | "ReadonlyArray" | "Iterable" => schema::list(next()),
            "Promise" | "PromiseLike" | "Awaited" | "Readonly" => next(),
            "Date" => json!({ "type": "string", "format": "date-time" }),
            "URL" => json!({ "type": "string", "format": "uri" }),
            "String" => json!({ "type": "string" }),
            "Number" => json!({ "type": "number" }),
            "Boolean" => json!({ "type": "boolean" }),
            "Object" => json!({ "type": "object" }),
            "Record" => {
                let (keys, values) = (next(), next());
                self.record(&keys, values, at, depth)?
            }
            "Partial" => self.partial(&next(), name, at, depth)?,
            "Required" => self.all_required(&next(), name, at, depth)?,
            "Pick" | "Omit" => {
                let (object, keys) = (next(), next());
                self.pick(&object, &keys, name, at, depth)?
            }
            "Exclude" | "Extract" => {
                let (from, what) = (next(), next());
                self.exclude(&from, &what, name == "Extract", at, depth)?
            }
            "NonNullable" => {
                let from = next();
                self.exclude(&from, &json!({ "type": "null" }), false, at, depth)?
            }
            _ => return Err(self.unknown(name, at)),
        })
    }

    fn enum_member(&mut self, name: &str, member: &str, at: u32) -> Result<Value, Fault> {
        let declarations = self.reader.file.type_named(name).map(|(_, declarations)| declarations.to_vec());
        let Some(TypeKind::Enum(it)) = declarations.and_then(|list| list.first().map(|it| it.kind)) else {
            return Err(Fault::new(at, format!("`{name}` is not an enum of this file"), FIX));
        };
        match self.enum_members(it)?.into_iter().find(|(known, _)| known == member) {
            Some((_, value)) => Ok(schema::constant(value)),
            None => Err(Fault::new(at, format!("the enum `{name}` has no member `{member}`"), "name one that it has")),
        }
    }

    fn unknown(&self, name: &str, at: u32) -> Fault {
        let message = match self.reader.file.import_of(name) {
            Some(module) => format!("the type `{name}` is imported from '{module}', and other files are not read"),
            None => format!("the type `{name}` is not declared in this file"),
        };
        Fault::new(at, message, format!("declare `{name}` in this file, or give a JSON Schema instead"))
    }
}
