//! Conversion of component values to JSON.

use agent_spaces_types::json_memory::{self, ITEM_BYTES, Meter, NoMemory, ReadError, RepeatedKeys};
use agent_spaces_types::shape::{Field, Presence, Shape};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Number, Value};
use wasmtime::component::Val;

/// Error of a component value that has no JSON form.
#[derive(Debug, thiserror::Error)]
pub enum NotJson {
    /// The value violates its type, or contains NaN or an infinity.
    #[error("{0}")]
    Broken(&'static str),
    /// The memory budget is exhausted.
    #[error(transparent)]
    Memory(#[from] NoMemory),
}

/// Converts `value` of type `shape` to JSON.
pub fn to_json(value: &Val, shape: &Shape, meter: &mut Meter<'_>) -> Result<Value, NotJson> {
    Ok(match (value, shape) {
        (Val::Bool(value), Shape::Bool) => (*value).into(),
        (Val::U8(value), Shape::U8) => (*value).into(),
        (Val::U16(value), Shape::U16) => (*value).into(),
        (Val::U32(value), Shape::U32) => (*value).into(),
        (Val::U64(value), Shape::U64) => (*value).into(),
        (Val::S8(value), Shape::S8) => (*value).into(),
        (Val::S16(value), Shape::S16) => (*value).into(),
        (Val::S32(value), Shape::S32) => (*value).into(),
        (Val::S64(value), Shape::S64 | Shape::Integer) => (*value).into(),
        (Val::Float32(value), Shape::F32) => float((*value).into())?,
        (Val::Float64(value), Shape::F64) => float(*value)?,
        (Val::Char(value), Shape::Char) => value.to_string().into(),
        (Val::String(value), Shape::String) => {
            meter.take_text(value.len())?;
            value.as_str().into()
        }
        (Val::String(value), Shape::Json) => {
            json_memory::from_str(value, RepeatedKeys::LastCounts, meter).map_err(|error| match error {
                ReadError::Json(_) => NotJson::Broken("the text of a `json` is not JSON"),
                ReadError::Memory(error) => error.into(),
            })?
        }
        (Val::List(items), Shape::Bytes) => {
            meter.take_text(3 * items.len())?;
            let bytes: Vec<u8> = items.iter().map(|item| if let Val::U8(byte) = item { *byte } else { 0 }).collect();
            STANDARD.encode(bytes).into()
        }
        (Val::List(items), Shape::List(shape)) => {
            meter.take_list(items.len(), ITEM_BYTES)?;
            let mut list = Vec::with_capacity(items.len());
            for item in items {
                list.push(to_json(item, shape, meter)?);
            }
            Value::Array(list)
        }
        (Val::Tuple(items), Shape::Tuple(shapes)) => {
            meter.take_list(items.len(), ITEM_BYTES)?;
            let items = items.iter().zip(shapes).map(|(item, shape)| to_json(item, shape, meter));
            Value::Array(items.collect::<Result<_, _>>()?)
        }
        (Val::Record(members), Shape::Record(fields)) => {
            meter.take_object(members.len())?;
            let mut object = Map::new();
            for ((_, value), field) in members.iter().zip(fields) {
                meter.take_text(field.name.json.len())?;
                member(&mut object, value, field, meter)?;
            }
            Value::Object(object)
        }
        (Val::Option(value), Shape::Option(inner)) if inner.is_option() => match value {
            Some(value) => tagged("some", Some(to_json(value, inner, meter)?), meter)?,
            None => tagged("none", None, meter)?,
        },
        (Val::Option(None), Shape::Option(_)) => Value::Null,
        (Val::Option(Some(value)), Shape::Option(inner)) => to_json(value, inner, meter)?,
        (Val::Enum(case), Shape::Enum(names)) => {
            let name = names.iter().find(|name| name.wit == *case);
            let name = name.ok_or(NotJson::Broken("the value is not of its declared type"))?;
            meter.take_text(name.json.len())?;
            name.json.as_str().into()
        }
        (Val::Variant(name, payload), Shape::Variant(cases)) => {
            let case = cases.iter().find(|case| case.name == *name);
            let payload = optional(payload.as_deref(), case.and_then(|case| case.shape.as_ref()), meter)?;
            match payload {
                Some(payload) if case.is_some_and(|case| case.untagged.is_some()) => payload,
                payload => tagged(name, payload, meter)?,
            }
        }
        (Val::Result(Ok(payload)), Shape::Result(ok, _)) => {
            let payload = optional(payload.as_deref(), ok.as_deref(), meter)?;
            tagged("ok", payload, meter)?
        }
        (Val::Result(Err(payload)), Shape::Result(_, err)) => {
            let payload = optional(payload.as_deref(), err.as_deref(), meter)?;
            tagged("err", payload, meter)?
        }
        (Val::Flags(set), Shape::Flags(names)) => {
            meter.take_object(names.len())?;
            names.iter().try_for_each(|name| meter.take_text(name.json.len()))?;
            let members = names.iter().map(|name| (name.json.clone(), Value::Bool(set.contains(&name.wit))));
            Value::Object(members.collect())
        }
        _ => return Err(NotJson::Broken("the value is not of its declared type")),
    })
}

/// Adds the member of a field to an object.
fn member(object: &mut Map<String, Value>, value: &Val, field: &Field, meter: &mut Meter<'_>) -> Result<(), NotJson> {
    let is_nested = || matches!(&field.shape, Shape::Option(inner) if inner.is_option());
    let member = match (field.presence, value, &field.shape) {
        (Presence::Optional | Presence::Extras, Val::Option(None), _) => return Ok(()),
        (Presence::Plain, Val::Option(None), _) if !is_nested() => return Ok(()),
        (Presence::Optional, Val::Option(Some(value)), Shape::Option(inner)) => to_json(value, inner, meter)?,
        (Presence::Extras, Val::Option(Some(value)), Shape::Option(inner)) => {
            let Value::Object(extras) = to_json(value, inner, meter)? else {
                return Err(NotJson::Broken("the members beside the declared ones are not an object"));
            };
            // A declared member cannot be passed twice.
            for (name, extra) in extras {
                object.entry(name).or_insert(extra);
            }
            return Ok(());
        }
        (_, value, shape) => to_json(value, shape, meter)?,
    };
    object.insert(field.name.json.clone(), member);
    Ok(())
}

fn float(value: f64) -> Result<Value, NotJson> {
    // Whole numbers become integers, as in JavaScript.
    if value.fract() == 0.0 && value.abs() < 1e15 && !(value == 0.0 && value.is_sign_negative()) {
        return Ok((value as i64).into());
    }
    Number::from_f64(value).map(Value::Number).ok_or(NotJson::Broken("JSON cannot carry NaN or an infinity"))
}

fn optional(payload: Option<&Val>, shape: Option<&Shape>, meter: &mut Meter<'_>) -> Result<Option<Value>, NotJson> {
    match (payload, shape) {
        (Some(payload), Some(shape)) => to_json(payload, shape, meter).map(Some),
        _ => Ok(None),
    }
}

fn tagged(tag: &str, payload: Option<Value>, meter: &mut Meter<'_>) -> Result<Value, NoMemory> {
    meter.take_object(2)?;
    let mut object = Map::new();
    object.insert("tag".into(), tag.into());
    if let Some(payload) = payload {
        object.insert("val".into(), payload);
    }
    Ok(Value::Object(object))
}
