//! TypeScript types → JSON Schema.
//!
//! ```text
//! mod         one type by its syntax
//! object      members of interfaces and object types
//! named       references: parameters, declared types, the language's
//! query       `typeof`, `import('./types').T`
//! template    `` `id-${string}` ``
//! definitions `$defs`: one for each named type, built when first needed
//! declaration interfaces, aliases and enums
//! utility     `Partial`, `Pick`, `Record` and the like, `keyof`, `T[K]`
//! tuple       tuples
//! schema      unions, intersections and object schemas as values
//! docs        JSDoc comments
//! ```
//!
//! Every named type becomes a `$def` with that name as its `title`, so that the name survives. Types without a JSON
//! representation (functions, symbols, bigints), types that need a type checker (conditional types) and types of
//! unsupported modules become any value at that position alone, with a remark. Mistakes (an unknown name) are refused.

mod declaration;
mod definitions;
pub(super) mod docs;
mod named;
mod object;
mod query;
pub(super) mod schema;
mod template;
mod tuple;
mod utility;

use super::fault::Fault;
use super::value::{Reader, number};
use definitions::Definitions;
use oxc_ast::ast::{TSLiteral, TSType, TSTypeOperatorOperator, UnaryOperator};
use oxc_span::GetSpan as _;
use serde_json::{Map, Value, json};
use std::collections::{BTreeSet, HashMap};

/// Maximum depth of types, including those needed to build others. Hand-written types stay below 10.
const MAX_TYPE_DEPTH: u32 = 64;

/// Fix for a type without a JSON Schema.
const FIX: &str = "write out the type of the JSON value, or give a JSON Schema instead";

/// Schemas of a generic type's parameters.
type Scope<'a> = HashMap<&'a str, Value>;

/// Remark and its offset.
pub(super) type Remark = (u32, String);

/// The JSON Schema of a type, with `$defs` for the named types it needs.
pub(super) fn schema_of<'a>(
    reader: &Reader<'a, '_>,
    ty: &'a TSType<'a>,
    remarks: &mut BTreeSet<Remark>,
) -> Result<Value, Fault> {
    let mut types = Types { reader, definitions: Definitions::default(), remarks };
    let mut schema = types.schema(ty, &Scope::new(), 0)?;
    let definitions = types.finish()?;
    if !definitions.is_empty()
        && let Value::Object(schema) = &mut schema
    {
        schema.insert("$defs".to_owned(), Value::Object(definitions));
    }
    Ok(schema)
}

struct Types<'a, 'r, 'f> {
    reader: &'r Reader<'a, 'f>,
    definitions: Definitions<'a>,
    remarks: &'r mut BTreeSet<Remark>,
}

impl<'a> Types<'a, '_, '_> {
    /// The schema of a type; any value, with a remark, if the type is unsupported.
    fn schema(&mut self, ty: &'a TSType<'a>, scope: &Scope<'a>, depth: u32) -> Result<Value, Fault> {
        match self.understood(ty, scope, depth) {
            Err(fault) if fault.is_unsupported => Ok(self.any_value(&fault)),
            other => other,
        }
    }

    fn understood(&mut self, ty: &'a TSType<'a>, scope: &Scope<'a>, depth: u32) -> Result<Value, Fault> {
        let at = ty.span().start;
        check_depth(at, depth)?;
        self.reader.charge(at, 1)?;
        let depth = depth + 1;
        Ok(match ty {
            // A missing result arrives as `undefined` or `null`, so the schema does not constrain it.
            TSType::TSAnyKeyword(_)
            | TSType::TSUnknownKeyword(_)
            | TSType::TSUndefinedKeyword(_)
            | TSType::TSVoidKeyword(_) => json!({}),
            TSType::TSStringKeyword(_) => json!({ "type": "string" }),
            TSType::TSNumberKeyword(_) => json!({ "type": "number" }),
            TSType::TSBooleanKeyword(_) => json!({ "type": "boolean" }),
            TSType::TSNullKeyword(_) => json!({ "type": "null" }),
            TSType::TSObjectKeyword(_) => json!({ "type": "object" }),
            TSType::TSNeverKeyword(_) => json!({ "not": {} }),
            TSType::TSLiteralType(it) => {
                let schema = literal(&it.literal, at)?;
                self.reader.charge(at, schema::measure(&schema).0)?;
                schema
            }
            TSType::TSTemplateLiteralType(it) => self.template(it, scope, depth)?,
            TSType::TSArrayType(it) => schema::list(self.schema(&it.element_type, scope, depth)?),
            TSType::TSTupleType(it) => self.tuple(it, scope, depth)?,
            TSType::TSTypeLiteral(it) => self.object(&it.members, scope, depth)?,
            TSType::TSParenthesizedType(it) => self.schema(&it.type_annotation, scope, depth)?,
            TSType::TSNamedTupleMember(it) => match it.element_type.as_ts_type() {
                Some(ty) => self.schema(ty, scope, depth)?,
                None => return Err(unsupported(ty)),
            },
            TSType::TSTypeOperatorType(it) => {
                let inner = self.schema(&it.type_annotation, scope, depth)?;
                match it.operator {
                    TSTypeOperatorOperator::Readonly => inner,
                    TSTypeOperatorOperator::Keyof => self.key_of(&inner, at, depth)?,
                    TSTypeOperatorOperator::Unique => return Err(unsupported(ty)),
                }
            }
            TSType::TSTypeReference(it) => self.reference(&it.type_name, it.type_arguments.as_deref(), scope, depth)?,
            TSType::TSUnionType(it) => {
                let mut alternatives = Vec::with_capacity(it.types.len());
                for ty in &it.types {
                    // In a union, `undefined` becomes `null`.
                    let is_absent = matches!(ty, TSType::TSUndefinedKeyword(_) | TSType::TSVoidKeyword(_));
                    let schema = if is_absent { json!({ "type": "null" }) } else { self.schema(ty, scope, depth)? };
                    alternatives.push(schema);
                }
                schema::union(alternatives)
            }
            TSType::TSIntersectionType(it) => {
                let mut parts = Vec::with_capacity(it.types.len());
                for ty in &it.types {
                    parts.push(self.schema(ty, scope, depth)?);
                }
                self.intersection(parts, at, depth)?
            }
            TSType::TSTypeQuery(it) => self.query(&it.expr_name, at)?,
            TSType::TSImportType(it) => self.import_type(it, scope, depth)?,
            TSType::TSIndexedAccessType(it) => {
                let object = self.schema(&it.object_type, scope, depth)?;
                let index = self.schema(&it.index_type, scope, depth)?;
                self.indexed(&object, &index, at, depth)?
            }
            TSType::TSMappedType(it) => self.mapped(it, scope, depth)?,
            _ => return Err(unsupported(ty)),
        })
    }

    /// Adds the JSDoc comment of the node that starts here to its schema.
    fn describe(&self, schema: &mut Value, start: u32) -> Result<(), Fault> {
        let comment = self.reader.comment(start);
        self.reader.charge(start, comment.map_or(0, schema::long))?;
        docs::describe(schema, comment);
        Ok(())
    }

    fn remark(&mut self, at: u32, message: String) {
        self.remarks.insert((at, message));
    }

    /// Any value, with a remark that gives the reason.
    fn any_value(&mut self, fault: &Fault) -> Value {
        self.remark(fault.at, format!("{}, so this is any value; {}", fault.message, fault.fix));
        json!({})
    }
}

fn check_depth(at: u32, depth: u32) -> Result<(), Fault> {
    if depth <= MAX_TYPE_DEPTH {
        return Ok(());
    }
    Err(Fault::new(
        at,
        format!("a type is nested more than {MAX_TYPE_DEPTH} levels deep"),
        "give its parts names, or make it flatter",
    ))
}

fn literal(literal: &TSLiteral<'_>, at: u32) -> Result<Value, Fault> {
    let value = match literal {
        TSLiteral::BooleanLiteral(it) => Value::Bool(it.value),
        TSLiteral::NumericLiteral(it) => number(it.value, at)?,
        TSLiteral::StringLiteral(it) if !it.lone_surrogates => Value::String(it.value.to_string()),
        TSLiteral::TemplateLiteral(it) if it.expressions.is_empty() => {
            let cooked = it.quasis.first().and_then(|text| text.value.cooked.as_ref());
            Value::String(cooked.map(ToString::to_string).unwrap_or_default())
        }
        TSLiteral::TemplateLiteral(_) => return Ok(json!({ "type": "string" })),
        TSLiteral::UnaryExpression(it) if it.operator == UnaryOperator::UnaryNegation => match &it.argument {
            oxc_ast::ast::Expression::NumericLiteral(it) => number(-it.value, at)?,
            _ => return Err(Fault::unsupported(at, "this literal has no JSON representation", FIX)),
        },
        _ => return Err(Fault::unsupported(at, "this literal has no JSON representation", FIX)),
    };
    Ok(schema::constant(value))
}

fn unsupported(ty: &TSType<'_>) -> Fault {
    let at = ty.span().start;
    let what = match ty {
        TSType::TSBigIntKeyword(_) => {
            return Fault::unsupported(at, "JSON has no bigint", "write `number` or `string`");
        }
        TSType::TSSymbolKeyword(_) => "JSON has no symbol",
        TSType::TSFunctionType(_) | TSType::TSConstructorType(_) => "JSON has no functions",
        TSType::TSConditionalType(_) | TSType::TSInferType(_) => "conditional types are not supported",
        TSType::TSThisType(_) => "`this` is not supported",
        _ => "this type is not supported",
    };
    Fault::unsupported(at, what, FIX)
}

/// Schema of an object with these members.
fn object_schema(properties: Map<String, Value>, required: Vec<Value>) -> Map<String, Value> {
    let mut schema = Map::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), Value::Object(properties));
    // Even if empty: the author wrote `?` on each, and a schema without the list would say less.
    schema.insert("required".to_owned(), Value::Array(required));
    schema
}
