//! Mapping between WIT types and JSON.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// WIT type with its JSON mapping.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Shape {
    /// `bool`.
    Bool,
    /// `u8`.
    U8,
    /// `u16`.
    U16,
    /// `u32`.
    U32,
    /// `u64`.
    U64,
    /// `s8`.
    S8,
    /// `s16`.
    S16,
    /// `s32`.
    S32,
    /// `s64`.
    S64,
    /// `s64` of a schema's integer: a JSON number that JavaScript holds exactly.
    Integer,
    /// `f32`.
    F32,
    /// `f64`.
    F64,
    /// `char`.
    Char,
    /// `string`.
    String,
    /// `json`, an alias of `string`: JSON text that is mapped to its value.
    Json,
    /// `list<u8>`.
    Bytes,
    /// `list<T>`.
    List(Box<Shape>),
    /// `option<T>`.
    Option(Box<Shape>),
    /// `tuple<…>`.
    Tuple(Vec<Shape>),
    /// `record`.
    Record(Vec<Field>),
    /// `enum`.
    Enum(Vec<Name>),
    /// `variant`.
    Variant(Vec<Case>),
    /// `result<T, E>`.
    Result(Option<Box<Shape>>, Option<Box<Shape>>),
    /// `flags`.
    Flags(Vec<Name>),
}

/// Field of a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Field {
    /// Its names in WIT and JSON.
    pub name: Name,
    /// Its type.
    pub shape: Shape,
    /// Mapping of absent and null.
    pub presence: Presence,
}

/// Mapping of a field's `none` to an absent or null member of the JSON object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Presence {
    /// Default of WIT: `none` is absent.
    Plain,
    /// Always present: `none` is null.
    Required,
    /// `none` is absent; an inner `option` expresses null.
    Optional,
    /// All members without a field of their own, as one JSON object.
    Extras,
}

/// Case of a variant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Case {
    /// Its WIT name.
    pub name: String,
    /// Type of its payload.
    pub shape: Option<Shape>,
    /// Values that belong to this case of an untagged union; `None` if the union is tagged.
    pub untagged: Option<Untagged>,
}

/// Condition that identifies the values of one case of an untagged union.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Untagged {
    /// Kind of JSON value.
    pub kind: JsonKind,
    /// Discriminator member and its possible values, if several cases are objects.
    pub discriminator: Option<(String, Vec<String>)>,
}

/// Kinds of JSON values that an untagged union can distinguish.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum JsonKind {
    /// `true` or `false`.
    Boolean,
    /// A number.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

/// Name in WIT and in JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Name {
    /// WIT name.
    pub wit: String,
    /// JSON name.
    pub json: String,
}

/// Signature of a function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FunctionShape {
    /// WIT name.
    pub name: String,
    /// True for an `async func`.
    pub is_async: bool,
    /// Parameters in declared order.
    pub parameters: Vec<Field>,
    /// Result type, if it has one.
    pub result: Option<Shape>,
}

impl FunctionShape {
    /// Returns true if it has a single record parameter, whose fields are the call's parameters.
    pub fn takes_record(&self) -> bool {
        matches!(self.parameters.as_slice(), [Field { shape: Shape::Record(_), .. }])
    }
}

impl Shape {
    /// Returns true for an `option`. One directly inside another needs tags, or their `none` would both be null.
    pub fn is_option(&self) -> bool {
        matches!(self, Shape::Option(_))
    }
}

impl Untagged {
    /// Returns true if a value belongs to this case.
    pub fn takes(&self, value: &Value) -> bool {
        let kind = match value {
            Value::Null => return false,
            Value::Bool(_) => JsonKind::Boolean,
            Value::Number(_) => JsonKind::Number,
            Value::String(_) => JsonKind::String,
            Value::Array(_) => JsonKind::Array,
            Value::Object(_) => JsonKind::Object,
        };
        let is_named = || match &self.discriminator {
            Some((key, texts)) => {
                value.get(key).and_then(Value::as_str).is_some_and(|text| texts.iter().any(|known| known == text))
            }
            None => true,
        };
        kind == self.kind && is_named()
    }
}
