//! Comparison of a component function's type with the type that a capability declares.

use agent_spaces_types::shape::{FunctionShape, Shape};
use wasmtime::component::types::{ComponentFunc, Type};

/// Returns true if a function has the parameter and result types of this shape. Parameter names are ignored.
pub(super) fn matches_shape(shape: &FunctionShape, function: &ComponentFunc) -> bool {
    let parameters = function.params().map(|(_, ty)| ty);
    all_match(shape.parameters.iter().map(|parameter| &parameter.shape), parameters, matches_type)
        && all_match(shape.result.iter(), function.results(), matches_type)
}

/// Returns true if two lists have the same length and match element by element.
fn all_match<A, B>(
    first: impl ExactSizeIterator<Item = A>,
    second: impl ExactSizeIterator<Item = B>,
    is_match: fn(A, B) -> bool,
) -> bool {
    first.len() == second.len() && first.zip(second).all(|(first, second)| is_match(first, second))
}

fn matches_type(shape: &Shape, ty: Type) -> bool {
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
        (Shape::List(item), Type::List(list)) => matches_type(item, list.ty()),
        (Shape::Option(some), Type::Option(option)) => matches_type(some, option.ty()),
        (Shape::Tuple(items), Type::Tuple(tuple)) => all_match(items.iter(), tuple.types(), matches_type),
        (Shape::Record(fields), Type::Record(record)) => all_match(fields.iter(), record.fields(), |field, other| {
            field.name.wit == other.name && matches_type(&field.shape, other.ty)
        }),
        (Shape::Enum(names), Type::Enum(cases)) => {
            all_match(names.iter(), cases.names(), |name, other| name.wit == other)
        }
        (Shape::Flags(names), Type::Flags(flags)) => {
            all_match(names.iter(), flags.names(), |name, other| name.wit == other)
        }
        (Shape::Variant(cases), Type::Variant(variant)) => all_match(cases.iter(), variant.cases(), |case, other| {
            case.name == other.name && matches_optional(case.shape.as_ref(), other.ty)
        }),
        (Shape::Result(ok, err), Type::Result(result)) => {
            matches_optional(ok.as_deref(), result.ok()) && matches_optional(err.as_deref(), result.err())
        }
        _ => false,
    }
}

fn matches_optional(shape: Option<&Shape>, ty: Option<Type>) -> bool {
    match (shape, ty) {
        (None, None) => true,
        (Some(shape), Some(ty)) => matches_type(shape, ty),
        _ => false,
    }
}
