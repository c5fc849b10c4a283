//! Conversion of JSON to component values.

use super::VAL_BYTES;
use agent_spaces_types::json_memory::{self, Meter, NoMemory};
use agent_spaces_types::shape::{Case, Field, Name, Presence, Shape};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};
use std::fmt::Write;
use wasmtime::component::Val;

/// Error of a JSON value that does not match its type.
#[derive(Debug, thiserror::Error)]
#[error("{}{message}", if path.is_empty() { String::new() } else { format!("{path}: ") })]
pub struct Mismatch {
    /// Path of the value inside the whole one.
    pub path: String,
    /// Error message.
    pub message: String,
}

impl Mismatch {
    fn new(message: impl Into<String>) -> Mismatch {
        Mismatch { path: String::new(), message: message.into() }
    }

    fn within(mut self, segment: &str) -> Mismatch {
        let separator = if self.path.is_empty() || self.path.starts_with('[') { "" } else { "." };
        self.path = format!("{segment}{separator}{}", self.path);
        self
    }

    fn at(self, index: usize) -> Mismatch {
        let mut segment = String::new();
        let _ = write!(segment, "[{index}]");
        self.within(&segment)
    }
}

impl From<NoMemory> for Mismatch {
    fn from(error: NoMemory) -> Mismatch {
        Mismatch::new(error.to_string())
    }
}

/// Converts `value` to a component value of type `shape`.
pub fn from_json(value: Value, shape: &Shape, meter: &mut Meter<'_>) -> Result<Val, Mismatch> {
    Ok(match (shape, value) {
        (Shape::Bool, Value::Bool(value)) => Val::Bool(value),
        (Shape::U8, value) => Val::U8(integer(value)?),
        (Shape::U16, value) => Val::U16(integer(value)?),
        (Shape::U32, value) => Val::U32(integer(value)?),
        (Shape::U64, value) => Val::U64(integer(value)?),
        (Shape::S8, value) => Val::S8(integer(value)?),
        (Shape::S16, value) => Val::S16(integer(value)?),
        (Shape::S32, value) => Val::S32(integer(value)?),
        (Shape::S64, value) => Val::S64(integer(value)?),
        (Shape::Integer, value) => {
            exact(&value)?;
            Val::S64(safe(integer(value)?)?)
        }
        (Shape::F32, value) => Val::Float32(float(&value)? as f32),
        (Shape::F64, value) => Val::Float64(float(&value)?),
        (Shape::Char, Value::String(text)) => character(&text)?,
        (Shape::String, Value::String(text)) => Val::String(text),
        (Shape::Json, value) => {
            exact(&value)?;
            Val::String(text(&value, meter)?)
        }
        (Shape::Bytes, value) => bytes(value, meter)?,
        (Shape::List(shape), Value::Array(items)) => Val::List(list(items, shape, meter)?),
        (Shape::Tuple(shapes), Value::Array(items)) => Val::Tuple(tuple(items, shapes, meter)?),
        (Shape::Record(fields), Value::Object(object)) => Val::Record(record(object, fields, meter)?),
        (Shape::Option(inner), value) => Val::Option(option(value, inner, meter)?.map(Box::new)),
        (Shape::Enum(names), Value::String(text)) => enumeration(&text, names)?,
        (Shape::Variant(cases), value) if cases.iter().any(|case| case.untagged.is_some()) => {
            untagged(value, cases, meter)?
        }
        (Shape::Variant(cases), Value::Object(object)) => variant(object, cases, meter)?,
        (Shape::Result(ok, err), Value::Object(object)) => result(object, ok.as_deref(), err.as_deref(), meter)?,
        (Shape::Flags(names), Value::Object(object)) => flags(object, names)?,
        (shape, value) => return Err(Mismatch::new(format!("expected {}, got {}", expected(shape), found(&value)))),
    })
}

/// Values smaller than this are serialized without measuring their text first.
const SMALL_BYTES: u64 = 4 << 10;

/// Serializes a value into one block that is counted before it is allocated.
fn text(value: &Value, meter: &mut Meter<'_>) -> Result<String, Mismatch> {
    if json_memory::size(value, SMALL_BYTES) < SMALL_BYTES {
        return Ok(value.to_string());
    }
    struct Length(usize);
    impl Write for Length {
        fn write_str(&mut self, text: &str) -> std::fmt::Result {
            self.0 += text.len();
            Ok(())
        }
    }
    let mut length = Length(0);
    let _ = write!(length, "{value}");
    meter.take_text(length.0)?;
    let mut text = String::with_capacity(length.0);
    let _ = write!(text, "{value}");
    Ok(text)
}

/// Refuses integers that a JavaScript number cannot hold exactly.
pub fn exact(value: &Value) -> Result<(), Mismatch> {
    match value {
        Value::Number(number) => {
            let magnitude = number.as_u64().or_else(|| number.as_i64().map(i64::unsigned_abs));
            match magnitude.filter(|magnitude| *magnitude as f64 as u128 != u128::from(*magnitude)) {
                Some(_) => Err(Mismatch::new(format!(
                    "the integer {number} cannot be represented exactly as a JavaScript number"
                ))),
                None => Ok(()),
            }
        }
        Value::Array(items) => {
            items.iter().enumerate().try_for_each(|(i, item)| exact(item).map_err(|mismatch| mismatch.at(i)))
        }
        Value::Object(members) => {
            members.iter().try_for_each(|(name, member)| exact(member).map_err(|mismatch| mismatch.within(name)))
        }
        _ => Ok(()),
    }
}

fn integer<T: TryFrom<i128>>(value: Value) -> Result<T, Mismatch> {
    let number = match &value {
        Value::Number(number) => number
            .as_i64()
            .map(i128::from)
            .or_else(|| number.as_u64().map(i128::from))
            // JSON does not tell 3 from 3.0.
            .or_else(|| {
                number.as_f64().filter(|float| float.fract() == 0.0 && float.abs() < 9e15).map(|float| float as i128)
            }),
        _ => None,
    };
    let number = number.ok_or_else(|| Mismatch::new(format!("expected an integer, got {}", found(&value))))?;
    T::try_from(number).map_err(|_| Mismatch::new(format!("the integer {number} is out of range")))
}

/// Refuses integers beyond `Number.MAX_SAFE_INTEGER`.
fn safe(number: i64) -> Result<i64, Mismatch> {
    /// JavaScript's `Number.MAX_SAFE_INTEGER`.
    const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;
    match number.unsigned_abs() > MAX_SAFE_INTEGER {
        true => {
            Err(Mismatch::new(format!("the integer {number} cannot be represented exactly as a JavaScript number")))
        }
        false => Ok(number),
    }
}

fn enumeration(text: &str, names: &[Name]) -> Result<Val, Mismatch> {
    match names.iter().find(|name| name.json == text) {
        Some(name) => Ok(Val::Enum(name.wit.clone())),
        None => Err(Mismatch::new(format!("expected {}", one_of(names)))),
    }
}

fn float(value: &Value) -> Result<f64, Mismatch> {
    exact(value)?;
    value.as_f64().ok_or_else(|| Mismatch::new(format!("expected a number, got {}", found(value))))
}

fn character(text: &str) -> Result<Val, Mismatch> {
    let mut characters = text.chars();
    match (characters.next(), characters.next()) {
        (Some(character), None) => Ok(Val::Char(character)),
        _ => Err(Mismatch::new("expected a string of one character")),
    }
}

/// Converts base64 text or an array of bytes.
fn bytes(value: Value, meter: &mut Meter<'_>) -> Result<Val, Mismatch> {
    // Each byte is a value of its own in a component's list.
    let count = match &value {
        Value::String(text) => text.len() / 4 * 3,
        Value::Array(items) => items.len(),
        _ => 0,
    };
    meter.take_list(count, VAL_BYTES + 1)?;
    let bytes: Vec<u8> = match value {
        Value::String(text) => {
            STANDARD.decode(text).map_err(|error| Mismatch::new(format!("expected base64: {error}")))?
        }
        Value::Array(items) => items
            .into_iter()
            .enumerate()
            .map(|(i, item)| integer(item).map_err(|mismatch| mismatch.at(i)))
            .collect::<Result<_, _>>()?,
        other => return Err(Mismatch::new(format!("expected base64 text, got {}", found(&other)))),
    };
    Ok(Val::List(bytes.into_iter().map(Val::U8).collect()))
}

fn list(items: Vec<Value>, shape: &Shape, meter: &mut Meter<'_>) -> Result<Vec<Val>, Mismatch> {
    meter.take_list(items.len(), VAL_BYTES)?;
    let mut list = Vec::with_capacity(items.len());
    for (i, item) in items.into_iter().enumerate() {
        list.push(from_json(item, shape, meter).map_err(|mismatch| mismatch.at(i))?);
    }
    Ok(list)
}

fn tuple(items: Vec<Value>, shapes: &[Shape], meter: &mut Meter<'_>) -> Result<Vec<Val>, Mismatch> {
    if items.len() != shapes.len() {
        return Err(Mismatch::new(format!("expected {} items, got {}", shapes.len(), items.len())));
    }
    meter.take_list(items.len(), VAL_BYTES)?;
    let items = items.into_iter().zip(shapes).enumerate();
    items.map(|(i, (item, shape))| from_json(item, shape, meter).map_err(|mismatch| mismatch.at(i))).collect()
}

fn record(
    mut object: Map<String, Value>,
    fields: &[Field],
    meter: &mut Meter<'_>,
) -> Result<Vec<(String, Val)>, Mismatch> {
    meter.take_list(fields.len(), size_of::<(String, Val)>() as u64)?;
    let mut members = Vec::with_capacity(fields.len());
    for field in fields {
        let member = match field.presence {
            Presence::Extras => extras(std::mem::take(&mut object), meter)?,
            _ => member(object.remove(&field.name.json), field, meter)
                .map_err(|mismatch| mismatch.within(&field.name.json))?,
        };
        meter.take_text(field.name.wit.len())?;
        members.push((field.name.wit.clone(), member));
    }
    match object.keys().next() {
        Some(unknown) => Err(Mismatch::new(format!("unknown member `{unknown}`"))),
        None => Ok(members),
    }
}

fn member(value: Option<Value>, field: &Field, meter: &mut Meter<'_>) -> Result<Val, Mismatch> {
    match (value, &field.shape, field.presence) {
        (Some(value), Shape::Option(inner), Presence::Optional) => Ok(Val::Option(Some(boxed(value, inner, meter)?))),
        (Some(value), shape, _) => from_json(value, shape, meter),
        (None, Shape::Option(_), Presence::Plain | Presence::Optional) => Ok(Val::Option(None)),
        (None, ..) => Err(Mismatch::new("is required but missing")),
    }
}

/// Converts the members that have no field of their own.
fn extras(object: Map<String, Value>, meter: &mut Meter<'_>) -> Result<Val, Mismatch> {
    if object.is_empty() {
        return Ok(Val::Option(None));
    }
    let object = Value::Object(object);
    exact(&object)?;
    Ok(Val::Option(Some(Box::new(Val::String(text(&object, meter)?)))))
}

fn option(value: Value, inner: &Shape, meter: &mut Meter<'_>) -> Result<Option<Val>, Mismatch> {
    meter.take_list(1, VAL_BYTES)?;
    if !inner.is_option() {
        return match (value, inner) {
            (Value::Null, Shape::Json) => Ok(Some(Val::String("null".into()))),
            (Value::Null, _) => Ok(None),
            (value, inner) => from_json(value, inner, meter).map(Some),
        };
    }
    let Value::Object(mut object) = value else {
        return Err(Mismatch::new("expected {\"tag\":\"some\",\"val\":…} or {\"tag\":\"none\"}"));
    };
    match tag(&mut object)?.as_str() {
        "none" => Ok(None),
        _ => payload(&mut object, Some(inner), meter),
    }
}

fn variant(mut object: Map<String, Value>, cases: &[Case], meter: &mut Meter<'_>) -> Result<Val, Mismatch> {
    let tag = tag(&mut object)?;
    let Some(case) = cases.iter().find(|case| case.name == tag) else {
        return Err(Mismatch::new(format!("unknown case `{tag}`")).within("tag"));
    };
    let payload = payload(&mut object, case.shape.as_ref(), meter)?;
    Ok(Val::Variant(tag, payload.map(Box::new)))
}

/// Converts a value of an untagged union to the case of its kind.
fn untagged(value: Value, cases: &[Case], meter: &mut Meter<'_>) -> Result<Val, Mismatch> {
    let case = cases.iter().find(|case| case.untagged.as_ref().is_some_and(|untagged| untagged.takes(&value)));
    let Some(Case { name, shape: Some(shape), .. }) = case else {
        return Err(Mismatch::new(format!("{} is not expected here", found(&value))));
    };
    meter.take_text(name.len())?;
    Ok(Val::Variant(name.clone(), Some(boxed(value, shape, meter)?)))
}

/// Converts a value into a box.
fn boxed(value: Value, shape: &Shape, meter: &mut Meter<'_>) -> Result<Box<Val>, Mismatch> {
    meter.take_list(1, VAL_BYTES)?;
    from_json(value, shape, meter).map(Box::new)
}

fn result(
    mut object: Map<String, Value>,
    ok: Option<&Shape>,
    err: Option<&Shape>,
    meter: &mut Meter<'_>,
) -> Result<Val, Mismatch> {
    Ok(Val::Result(match tag(&mut object)?.as_str() {
        "ok" => Ok(payload(&mut object, ok, meter)?.map(Box::new)),
        "err" => Err(payload(&mut object, err, meter)?.map(Box::new)),
        other => return Err(Mismatch::new(format!("expected `ok` or `err`, got `{other}`")).within("tag")),
    }))
}

fn flags(mut object: Map<String, Value>, names: &[Name]) -> Result<Val, Mismatch> {
    let mut set = Vec::new();
    for name in names {
        match object.remove(&name.json) {
            Some(Value::Bool(true)) => set.push(name.wit.clone()),
            Some(Value::Bool(false)) | None => {}
            Some(other) => {
                return Err(Mismatch::new(format!("expected a boolean, got {}", found(&other))).within(&name.json));
            }
        }
    }
    match object.keys().next() {
        Some(unknown) => Err(Mismatch::new(format!("unknown flag `{unknown}`"))),
        None => Ok(Val::Flags(set)),
    }
}

fn tag(object: &mut Map<String, Value>) -> Result<String, Mismatch> {
    match object.remove("tag") {
        Some(Value::String(tag)) => Ok(tag),
        _ => Err(Mismatch::new("expected an object {\"tag\":…,\"val\":…}")),
    }
}

fn payload(
    object: &mut Map<String, Value>,
    shape: Option<&Shape>,
    meter: &mut Meter<'_>,
) -> Result<Option<Val>, Mismatch> {
    let Some(shape) = shape else { return Ok(None) };
    meter.take_list(1, VAL_BYTES)?;
    let value = object.remove("val").unwrap_or(Value::Null);
    from_json(value, shape, meter).map(Some).map_err(|mismatch| mismatch.within("val"))
}

fn expected(shape: &Shape) -> String {
    match shape {
        Shape::Bool => "a boolean".into(),
        Shape::Char | Shape::String => "a string".into(),
        Shape::List(_) | Shape::Tuple(_) => "an array".into(),
        Shape::Enum(names) => one_of(names),
        _ => "an object".into(),
    }
}

/// Lists the names of an enum, as many as fit a message.
fn one_of(names: &[Name]) -> String {
    const MAX_LISTED: usize = 12;
    let listed: Vec<&str> = names.iter().take(MAX_LISTED).map(|name| name.json.as_str()).collect();
    let more = if names.len() > MAX_LISTED { ", …" } else { "" };
    format!("one of {}{more}", listed.join(", "))
}

fn found(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
