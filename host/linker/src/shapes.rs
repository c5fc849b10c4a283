//! Shapes of WIT types: their mapping to JSON.

use crate::marks::{Marks, field_mark, untagged_mark};
use agent_spaces_types::names::{alike, camel_case};
use agent_spaces_types::shape::{Case, Field, FunctionShape, Name, Presence, Shape};
use wit_parser::{Function, FunctionKind, InterfaceId, Resolve, Type, TypeDef, TypeDefKind, TypeId, TypeOwner};

/// Lookup of types, with the JSON marks of one interface.
pub struct Context<'a> {
    /// WIT that holds the types.
    pub resolve: &'a Resolve,
    /// The interface of a compiled capability and the marks of its types.
    pub marks: Option<(InterfaceId, &'a Marks)>,
}

impl Context<'_> {
    /// The mark of a field or case.
    fn mark(&self, definition: &TypeDef, member: &str) -> Option<&str> {
        let (interface, marks) = self.marks?;
        if definition.owner != TypeOwner::Interface(interface) {
            return None;
        }
        marks.get(definition.name.as_deref()?)?.get(member).map(String::as_str)
    }
}

/// Returns the shape of a function.
///
/// # Errors
/// The first type that is not supported.
pub fn function(resolve: &Context<'_>, function: &Function) -> Result<FunctionShape, String> {
    let is_async = match function.kind {
        FunctionKind::Freestanding => false,
        FunctionKind::AsyncFreestanding => true,
        _ => return Err("methods of resources are not supported".into()),
    };
    let parameters = function
        .params
        .iter()
        .map(|parameter| field(resolve, &parameter.name, &parameter.ty))
        .collect::<Result<_, _>>()?;
    let result = function.result.as_ref().map(|ty| shape(resolve, ty)).transpose()?;
    Ok(FunctionShape { name: function.name.clone(), is_async, parameters, result })
}

fn field(resolve: &Context<'_>, wit: &str, ty: &Type) -> Result<Field, String> {
    Ok(Field { name: name(wit), shape: shape(resolve, ty)?, presence: Presence::Plain })
}

/// A field of a record, named by its mark if it has one.
fn member(resolve: &Context<'_>, record: &TypeDef, wit: &str, ty: &Type) -> Result<Field, String> {
    let mut field = field(resolve, wit, ty)?;
    if let Some(mark) = resolve.mark(record, wit) {
        (field.presence, field.name.json) = field_mark(mark)?;
    }
    Ok(field)
}

fn name(wit: &str) -> Name {
    Name { wit: wit.to_owned(), json: camel_case(wit) }
}

fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Result<(), String> {
    match alike(names) {
        Some((first, second)) => {
            Err(format!("{first} and {second} have the same name in scripts: `{}`", camel_case(first)))
        }
        None => Ok(()),
    }
}

fn shape(resolve: &Context<'_>, ty: &Type) -> Result<Shape, String> {
    Ok(match ty {
        Type::Bool => Shape::Bool,
        Type::U8 => Shape::U8,
        Type::U16 => Shape::U16,
        Type::U32 => Shape::U32,
        Type::U64 => Shape::U64,
        Type::S8 => Shape::S8,
        Type::S16 => Shape::S16,
        Type::S32 => Shape::S32,
        Type::S64 if resolve.marks.is_some() => Shape::Integer,
        Type::S64 => Shape::S64,
        Type::F32 => Shape::F32,
        Type::F64 => Shape::F64,
        Type::Char => Shape::Char,
        Type::String => Shape::String,
        Type::ErrorContext => return Err("error-context is not supported".into()),
        Type::Id(id) => defined(resolve, *id)?,
    })
}

fn defined(resolve: &Context<'_>, id: TypeId) -> Result<Shape, String> {
    let definition = &resolve.resolve.types[id];
    Ok(match &definition.kind {
        TypeDefKind::Type(Type::String) if definition.name.as_deref() == Some("json") => Shape::Json,
        TypeDefKind::Type(ty) => shape(resolve, ty)?,
        TypeDefKind::List(Type::U8) => Shape::Bytes,
        TypeDefKind::List(ty) => match shape(resolve, ty)? {
            Shape::U8 => Shape::Bytes,
            item => Shape::List(Box::new(item)),
        },
        TypeDefKind::Option(ty) => Shape::Option(Box::new(shape(resolve, ty)?)),
        TypeDefKind::Tuple(tuple) => {
            Shape::Tuple(tuple.types.iter().map(|ty| shape(resolve, ty)).collect::<Result<_, _>>()?)
        }
        TypeDefKind::Record(record) => {
            distinct(record.fields.iter().map(|field| field.name.as_str()))?;
            let fields = record.fields.iter().map(|field| member(resolve, definition, &field.name, &field.ty));
            Shape::Record(fields.collect::<Result<_, _>>()?)
        }
        TypeDefKind::Enum(cases) => {
            let cases = cases.cases.iter().map(|case| {
                let text = resolve.mark(definition, &case.name).and_then(|mark| mark.strip_prefix('='));
                Name { wit: case.name.clone(), json: text.unwrap_or(&case.name).to_owned() }
            });
            Shape::Enum(cases.collect())
        }
        TypeDefKind::Variant(variant) => {
            let cases = variant.cases.iter().map(|case| {
                let shape = case.ty.as_ref().map(|ty| shape(resolve, ty)).transpose()?;
                let untagged = resolve.mark(definition, &case.name).map(untagged_mark).transpose()?;
                Ok(Case { name: case.name.clone(), shape, untagged })
            });
            Shape::Variant(cases.collect::<Result<_, String>>()?)
        }
        TypeDefKind::Result(result) => {
            let payload = |ty: &Option<Type>| ty.as_ref().map(|ty| shape(resolve, ty).map(Box::new)).transpose();
            Shape::Result(payload(&result.ok)?, payload(&result.err)?)
        }
        TypeDefKind::Flags(flags) if flags.flags.len() > 32 => {
            return Err("more than 32 flags are not supported".into());
        }
        TypeDefKind::Flags(flags) if distinct(flags.flags.iter().map(|flag| flag.name.as_str())).is_err() => {
            return Err("two flags have the same name in scripts".into());
        }
        TypeDefKind::Flags(flags) => Shape::Flags(flags.flags.iter().map(|flag| name(&flag.name)).collect()),
        other => return Err(format!("{} is not supported", other.as_str())),
    })
}
