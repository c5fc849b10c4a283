//! Parameters of statements with their types.
//!
//! Types are sent along, so that a statement that is not prepared needs no round trip of its own.

use tokio_postgres::types::{ToSql, Type};

/// Parameter of a statement.
#[derive(Clone, Debug)]
pub(crate) enum Value<'a> {
    Text(&'a str),
    Number(i64),
    OptionalNumber(Option<i64>),
    Bytes(&'a [u8]),
    OptionalBytes(Option<&'a [u8]>),
    Flag(bool),
    Texts(Vec<&'a str>),
    Numbers(Vec<i64>),
    OptionalNumbers(Vec<Option<i64>>),
    AllBytes(Vec<&'a [u8]>),
    AllOptionalBytes(Vec<Option<&'a [u8]>>),
}

impl Value<'_> {
    /// Returns the parameter as the driver takes it.
    pub(crate) fn typed(&self) -> (&(dyn ToSql + Sync), Type) {
        match self {
            Value::Text(text) => (text, Type::TEXT),
            Value::Number(number) => (number, Type::INT8),
            Value::OptionalNumber(number) => (number, Type::INT8),
            Value::Bytes(bytes) => (bytes, Type::BYTEA),
            Value::OptionalBytes(bytes) => (bytes, Type::BYTEA),
            Value::Flag(flag) => (flag, Type::BOOL),
            Value::Texts(texts) => (texts, Type::TEXT_ARRAY),
            Value::Numbers(numbers) => (numbers, Type::INT8_ARRAY),
            Value::OptionalNumbers(numbers) => (numbers, Type::INT8_ARRAY),
            Value::AllBytes(bytes) => (bytes, Type::BYTEA_ARRAY),
            Value::AllOptionalBytes(bytes) => (bytes, Type::BYTEA_ARRAY),
        }
    }
}
