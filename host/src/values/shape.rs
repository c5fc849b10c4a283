//! How a WIT type and JSON become each other.

use serde::{Deserialize, Serialize};

/// A type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Shape {
    Bool,
    U8,
    U16,
    U32,
    U64,
    S8,
    S16,
    S32,
    S64,
    /// `s64` of a schema's integer: a JSON number that JavaScript holds exactly.
    Integer,
    F32,
    F64,
    Char,
    String,
    /// JSON text that stands for its value.
    Json,
    /// `list<u8>`.
    Bytes,
    List(Box<Shape>),
    Option(Box<Shape>),
    Tuple(Vec<Shape>),
    Record(Vec<Field>),
    Enum(Vec<Name>),
    Variant(Vec<Case>),
    Result(Option<Box<Shape>>, Option<Box<Shape>>),
    Flags(Vec<Name>),
}

/// A member of a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Field {
    pub(crate) name: Name,
    pub(crate) shape: Shape,
    pub(crate) presence: Presence,
}

/// How a field stands for an object's member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Presence {
    /// WIT's own: a `none` is left out.
    Plain,
    /// Always there: a `none` is null.
    Required,
    /// Absent when `none`; an `option` inside says null.
    Optional,
    /// All members without a field of their own, as one JSON object.
    Extras,
}

/// A case of a variant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) shape: Option<Shape>,
    /// The values that are of this case without a tag to say so.
    pub(crate) untagged: Option<Untagged>,
}

/// Values that can be told from those of the other cases.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Untagged {
    pub(crate) kind: JsonKind,
    /// A member and the strings it may be, where several cases are objects.
    pub(crate) discriminator: Option<(String, Vec<String>)>,
}

/// The kinds of JSON values that a union tells apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum JsonKind {
    Boolean,
    Number,
    String,
    Array,
    Object,
}

/// A name in both spellings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Name {
    pub(crate) wit: String,
    pub(crate) json: String,
}

/// A function of an interface.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FunctionShape {
    pub(crate) name: String,
    pub(crate) is_async: bool,
    pub(crate) parameters: Vec<Field>,
    pub(crate) result: Option<Shape>,
}

impl FunctionShape {
    /// Whether the one parameter's members are the call's parameters.
    pub(crate) fn takes_record(&self) -> bool {
        matches!(self.parameters.as_slice(), [Field { shape: Shape::Record(_), .. }])
    }
}

impl Shape {
    /// Whether a `none` of this option would look like its inner type's.
    pub(crate) fn is_option(&self) -> bool {
        matches!(self, Shape::Option(_))
    }
}

#[cfg(feature = "compiler")]
pub(crate) mod read {
    //! Shapes of WIT types.

    use super::{Case, Field, FunctionShape, Name, Presence, Shape};
    use crate::values::marks::{Marks, field_mark, untagged_mark};
    use crate::values::{alike, camel_case};
    use wit_parser::{Function, FunctionKind, InterfaceId, Resolve, Type, TypeDef, TypeDefKind, TypeId, TypeOwner};

    /// Where types are looked up, and how the names of one interface's types stand for JSON.
    pub(crate) struct Context<'a> {
        pub(crate) resolve: &'a Resolve,
        pub(crate) marks: Option<(InterfaceId, &'a Marks)>,
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

    /// The shape of a function, or which of its types cannot cross.
    pub(crate) fn function(resolve: &Context<'_>, function: &Function) -> Result<FunctionShape, String> {
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

    /// A field of a record, by its mark where it has one.
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
                Err(format!("{first} and {second} have one name for scripts: `{}`", camel_case(first)))
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
                return Err("two flags have one name for scripts".into());
            }
            TypeDefKind::Flags(flags) => Shape::Flags(flags.flags.iter().map(|flag| name(&flag.name)).collect()),
            other => return Err(format!("{} is not supported", other.as_str())),
        })
    }
}
