//! Whether a component's function has the type that a capability says.

use crate::values::{FunctionShape, Shape};
use wasmtime::component::types::{ComponentFunc, Type};

/// Whether a function takes and gives what this shape does. Names of parameters do not count.
pub(super) fn fits(shape: &FunctionShape, function: &ComponentFunc) -> bool {
    let parameters = function.params().map(|(_, ty)| ty);
    all(shape.parameters.iter().map(|parameter| &parameter.shape), parameters, is)
        && all(shape.result.iter(), function.results(), is)
}

/// Whether two lists are of one length and fit one by one.
fn all<A, B>(
    first: impl ExactSizeIterator<Item = A>,
    second: impl ExactSizeIterator<Item = B>,
    fit: fn(A, B) -> bool,
) -> bool {
    first.len() == second.len() && first.zip(second).all(|(first, second)| fit(first, second))
}

fn is(shape: &Shape, ty: Type) -> bool {
    match (shape, &ty) {
        (Shape::Bool, Type::Bool)
        | (Shape::U8, Type::U8)
        | (Shape::U16, Type::U16)
        | (Shape::U32, Type::U32)
        | (Shape::U64, Type::U64)
        | (Shape::S8, Type::S8)
        | (Shape::S16, Type::S16)
        | (Shape::S32, Type::S32)
        | (Shape::S64 | Shape::Integer, Type::S64)
        | (Shape::F32, Type::Float32)
        | (Shape::F64, Type::Float64)
        | (Shape::Char, Type::Char)
        | (Shape::String | Shape::Json, Type::String) => true,
        (Shape::Bytes, Type::List(list)) => list.ty() == Type::U8,
        (Shape::List(item), Type::List(list)) => is(item, list.ty()),
        (Shape::Option(some), Type::Option(option)) => is(some, option.ty()),
        (Shape::Tuple(items), Type::Tuple(tuple)) => all(items.iter(), tuple.types(), is),
        (Shape::Record(fields), Type::Record(record)) => all(fields.iter(), record.fields(), |field, other| {
            field.name.wit == other.name && is(&field.shape, other.ty)
        }),
        (Shape::Enum(names), Type::Enum(cases)) => all(names.iter(), cases.names(), |name, other| name.wit == other),
        (Shape::Flags(names), Type::Flags(flags)) => all(names.iter(), flags.names(), |name, other| name.wit == other),
        (Shape::Variant(cases), Type::Variant(variant)) => all(cases.iter(), variant.cases(), |case, other| {
            case.name == other.name && maybe(case.shape.as_ref(), other.ty)
        }),
        (Shape::Result(ok, err), Type::Result(result)) => {
            maybe(ok.as_deref(), result.ok()) && maybe(err.as_deref(), result.err())
        }
        _ => false,
    }
}

fn maybe(shape: Option<&Shape>, ty: Option<Type>) -> bool {
    match (shape, ty) {
        (None, None) => true,
        (Some(shape), Some(ty)) => is(shape, ty),
        _ => false,
    }
}
