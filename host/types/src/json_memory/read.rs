//! JSON parser that charges a [`Meter`] for the memory of its [`Value`].

use super::{Allowance, Meter, NoMemory, object_bytes};
use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use std::fmt;

/// Treatment of duplicate keys in one object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RepeatedKeys {
    /// The last one wins, as in `JSON.parse`.
    LastCounts,
    /// The text is refused.
    Refused,
}

/// Parse error.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It is not JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// Its value would take more memory than the account allows.
    #[error(transparent)]
    Memory(#[from] NoMemory),
}

/// Parses text.
pub fn from_str(text: &str, keys: RepeatedKeys, meter: &mut Meter<'_>) -> Result<Value, ReadError> {
    read(serde_json::Deserializer::from_str(text), keys, meter)
}

/// Parses text that may not be UTF-8.
pub fn from_slice(text: &[u8], keys: RepeatedKeys, meter: &mut Meter<'_>) -> Result<Value, ReadError> {
    read(serde_json::Deserializer::from_slice(text), keys, meter)
}

fn read<'de, R: serde_json::de::Read<'de>>(
    mut text: serde_json::Deserializer<R>,
    keys: RepeatedKeys,
    meter: &mut Meter<'_>,
) -> Result<Value, ReadError> {
    let value = Reader { keys, meter: &mut *meter }.deserialize(&mut text).and_then(|value| {
        text.end()?;
        Ok(value)
    });
    match value {
        // Visitors can return only the deserializer's own error type.
        Err(_) if meter.is_refused => Err(NoMemory.into()),
        Err(error) => Err(error.into()),
        Ok(value) => {
            meter.settle()?;
            Ok(value)
        }
    }
}

/// JSON value without duplicate keys, one of which would be lost. For text whose size is already bounded.
pub struct UniqueKeys(pub Value);

impl<'de> Deserialize<'de> for UniqueKeys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<UniqueKeys, D::Error> {
        let mut unlimited = Allowance(u64::MAX);
        let reader = Reader { keys: RepeatedKeys::Refused, meter: &mut Meter::new(&mut unlimited) };
        reader.deserialize(deserializer).map(UniqueKeys)
    }
}

struct Reader<'r, 'a> {
    keys: RepeatedKeys,
    meter: &'r mut Meter<'a>,
}

impl Reader<'_, '_> {
    fn text<E: Error>(self, text: &str) -> Result<String, E> {
        self.meter.take_text(text.len()).map_err(E::custom)?;
        Ok(text.to_owned())
    }
}

impl<'de> DeserializeSeed<'de> for Reader<'_, '_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Reader<'_, '_> {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        self.text(value).map(Value::String)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let Reader { keys, meter } = self;
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(Reader { keys, meter: &mut *meter })? {
            meter.make_room(&mut list).map_err(A::Error::custom)?;
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let Reader { keys, meter } = self;
        let mut object = Map::new();
        while let Some(key) = members.next_key_seed(Key(&mut *meter))? {
            if keys == RepeatedKeys::Refused && object.contains_key(&key) {
                return Err(A::Error::custom(format_args!("duplicate key {key:?} in an object")));
            }
            let value = members.next_value_seed(Reader { keys, meter: &mut *meter })?;
            let more = object_bytes(object.len() + 1) - object_bytes(object.len());
            meter.take(more).map_err(A::Error::custom)?;
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}

struct Key<'r, 'a>(&'r mut Meter<'a>);

impl<'de> DeserializeSeed<'de> for Key<'_, '_> {
    type Value = String;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<String, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Key<'_, '_> {
    type Value = String;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a key")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<String, E> {
        self.0.take_text(text.len()).map_err(E::custom)?;
        Ok(text.to_owned())
    }
}
