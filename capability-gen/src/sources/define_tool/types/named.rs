//! References to types: type parameters, declared types, built-in types.

use super::{FIX, Scope, Types, schema};
use crate::sources::define_tool::fault::Fault;
use crate::sources::define_tool::file::TypeKind;
use crate::sources::define_tool::names::{Declared, Named, Wanted};
use oxc_ast::ast::{TSType, TSTypeName, TSTypeParameterDeclaration, TSTypeParameterInstantiation};
use oxc_span::GetSpan as _;
use serde_json::{Value, json};

/// Maximum depth of a type argument's schema. A generic type that wraps its own argument (`Next<[T]>` inside `Next<T>`)
/// would expand forever.
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
        let Some(path) = path_of(name) else { return Err(Fault::unsupported(at, "`this` is not supported", FIX)) };
        if let [identifier] = path.as_slice()
            && let Some(bound) = scope.get(identifier)
        {
            self.reader.charge(at, schema::measure(bound).0)?;
            return Ok(bound.clone());
        }
        let named = self.reader.named(at, &path, Wanted::Type)?;
        self.found(named, &path, arguments.map_or(&[], |arguments| &arguments.params), at, scope, depth)
    }

    /// The schema of a resolved name.
    pub(super) fn found(
        &mut self,
        named: Named<'a>,
        path: &[&str],
        arguments: &'a [TSType<'a>],
        at: u32,
        scope: &Scope<'a>,
        depth: u32,
    ) -> Result<Value, Fault> {
        let shown = path.join(".");
        match (named, path) {
            (Named::Type(declared), _) => self.declared(declared, arguments, at, scope, depth),
            (Named::Literal(value, _), _) => Ok(schema::constant(value)),
            (Named::Unsupported(why), _) => {
                Err(Fault::unsupported(at, format!("the type `{shown}` is imported, and {why}"), FIX))
            }
            (Named::Other(what), _) => Err(Fault::unsupported(
                at,
                format!("`{shown}` is {what}, which is not supported"),
                "write an interface or a type instead",
            )),
            (Named::Unknown, [name]) => self.builtin(name, arguments, at, scope, depth),
            (Named::Unknown, _) => Err(self.reader.unknown(at, path, "type", &[])),
            (Named::Constant(_) | Named::Function | Named::Namespace(_), _) => {
                Err(Fault::new(at, format!("`{shown}` is a value, not a type"), format!("write `typeof {shown}`")))
            }
        }
    }

    fn declared(
        &mut self,
        declared: Declared<'a>,
        arguments: &'a [TSType<'a>],
        at: u32,
        scope: &Scope<'a>,
        depth: u32,
    ) -> Result<Value, Fault> {
        let name = declared.name;
        let parameters: Option<&'a TSTypeParameterDeclaration<'a>> =
            match declared.declarations.first().map(|it| it.kind) {
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
                (None, None) => {
                    let missing = parameter.name.name.as_str();
                    let fault = Fault::unsupported(
                        at,
                        format!("the generic type `{name}` is used without its `{missing}`"),
                        format!("write `{name}<…>`, or give `{missing}` a default"),
                    );
                    self.any_value(&fault)
                }
            };
            let (size, deep) = schema::measure(&schema);
            if deep > MAX_ARGUMENT_DEPTH {
                return Ok(self.endless(name, at));
            }
            self.reader.charge(at, size)?;
            inner.insert(parameter.name.name.as_str(), schema.clone());
            bound.push(schema);
        }
        Ok(match self.reserve(declared, at, inner, &bound) {
            Some(reference) => reference,
            None => self.endless(name, at),
        })
    }

    fn endless(&mut self, name: &str, at: u32) -> Value {
        self.remark(at, format!("the type `{name}` expands without end, so it is any value here"));
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
            "Date" => {
                let text = "a `Date` is text in JSON, such as '2025-01-15T10:30:00.000Z'; write `string` to say so";
                self.remark(at, text.to_owned());
                json!({ "type": "string", "format": "date-time" })
            }
            "URL" => json!({ "type": "string", "format": "uri" }),
            "Uppercase" | "Lowercase" | "Capitalize" | "Uncapitalize" => json!({ "type": "string" }),
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
            "NoInfer" => next(),
            _ => return Err(self.not_builtin(name, at)),
        })
    }

    /// Error for an undeclared name that is not a supported built-in type.
    fn not_builtin(&self, name: &str, at: u32) -> Fault {
        let unsupported = |what: &str, fix: &str| Fault::unsupported(at, format!("`{name}` {what}"), fix);
        match name {
            "Map" | "ReadonlyMap" | "WeakMap" => unsupported("has no JSON representation", "write `Record<string, …>`"),
            "Set" | "ReadonlySet" | "WeakSet" => unsupported("has no JSON representation", "write an array"),
            "BigInt" => unsupported("has no JSON representation", "write `number` or `string`"),
            "ArrayBuffer" | "Uint8Array" | "Buffer" | "Blob" => {
                unsupported("has no JSON representation", "write `string` and give it as Base64")
            }
            name if UNSUPPORTED.contains(&name) => unsupported("is not supported", FIX),
            name => match self.reader.named(at, &[name], Wanted::Value) {
                Ok(Named::Constant(_) | Named::Function) => {
                    Fault::new(at, format!("`{name}` is a value, not a type"), format!("write `typeof {name}`"))
                }
                _ => self.reader.unknown(at, &[name], "type", &KNOWN),
            },
        }
    }
}

/// Built-in types that have no JSON meaning, or that need a type checker.
const UNSUPPORTED: [&str; 25] = [
    "AsyncGenerator",
    "AsyncIterable",
    "AsyncIterator",
    "ConstructorParameters",
    "Error",
    "Float32Array",
    "Float64Array",
    "Function",
    "Generator",
    "Headers",
    "InstanceType",
    "Int32Array",
    "Iterator",
    "IterableIterator",
    "OmitThisParameter",
    "Parameters",
    "PropertyKey",
    "ReadableStream",
    "RegExp",
    "Request",
    "Response",
    "ReturnType",
    "Symbol",
    "ThisParameterType",
    "ThisType",
];

/// Built-in types suggested for a misspelt name.
const KNOWN: [&str; 14] = [
    "Array",
    "Awaited",
    "Date",
    "Exclude",
    "Extract",
    "NonNullable",
    "Omit",
    "Partial",
    "Pick",
    "Promise",
    "Readonly",
    "ReadonlyArray",
    "Record",
    "Required",
];

/// The names of `a.b.c`; `None` for `this`.
pub(super) fn path_of<'a>(name: &'a TSTypeName<'a>) -> Option<Vec<&'a str>> {
    match name {
        TSTypeName::IdentifierReference(it) => Some(vec![it.name.as_str()]),
        TSTypeName::QualifiedName(it) => {
            let mut path = path_of(&it.left)?;
            path.push(it.right.name.as_str());
            Some(path)
        }
        TSTypeName::ThisExpression(_) => None,
    }
}
