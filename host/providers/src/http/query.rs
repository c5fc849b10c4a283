//! Query and form parameters.

use super::fill;
use crate::error::ProviderError;
use capability_gen::implementation::{HttpMember, HttpStyle};
use capability_gen::template::given;
use serde_json::{Map, Value};

/// Most pairs that parameters can expand to: a list gives many.
const MAX_PAIRS: usize = 10_000;

/// Encoded pair. Not `Debug`: it may be a credential.
#[derive(Clone)]
pub(super) struct Pair {
    pub(super) name: String,
    encoded: String,
}

impl Pair {
    pub(super) fn new(name: &str, value: &str) -> Pair {
        Pair { name: name.to_owned(), encoded: fill::encoded(value) }
    }
}

/// Joins pairs into a query or form.
pub(super) fn text(pairs: impl Iterator<Item = Pair>) -> String {
    let pairs: Vec<String> = pairs.map(|pair| format!("{}={}", fill::encoded(&pair.name), pair.encoded)).collect();
    pairs.join("&")
}

/// Fills in parameters up to a size limit; absent ones are omitted.
pub(super) fn pairs(members: &[HttpMember], params: &Value, most: usize) -> Result<Vec<Pair>, ProviderError> {
    let mut pairs: Vec<Pair> = Vec::new();
    let mut bytes = 0_usize;
    for member in members {
        let (name, counted) = (member.name.as_str(), pairs.len());
        match member.value.only_parameter().and_then(|parameter| given(params, parameter)) {
            Some(value) => pairs.extend(of_value(name, value, member.style)?),
            None => pairs.extend(fill::text(&member.value, params, most)?.map(|text| Pair::new(name, &text))),
        }
        bytes = pairs.iter().skip(counted).map(|pair| pair.encoded.len()).fold(bytes, usize::saturating_add);
        if pairs.len() > MAX_PAIRS || bytes > most {
            return Err(ProviderError::invalid(format!("{name} is too long to be sent")));
        }
    }
    Ok(pairs)
}

fn of_value(name: &str, value: &Value, style: HttpStyle) -> Result<Vec<Pair>, ProviderError> {
    Ok(match (value, style) {
        (value, HttpStyle::Json) => vec![Pair::new(name, &value.to_string())],
        (Value::Array(items), HttpStyle::Repeat | HttpStyle::Members) => repeated(name, items)?,
        (Value::Array(items), HttpStyle::Brackets) => repeated(&format!("{name}[]"), items)?,
        (Value::Array(items), HttpStyle::Comma) => vec![joined(name, items, ",")?],
        (Value::Array(items), HttpStyle::Space) => vec![joined(name, items, "%20")?],
        (Value::Array(items), HttpStyle::Pipe) => vec![joined(name, items, "%7C")?],
        (Value::Object(members), HttpStyle::Members) => each(members, str::to_owned)?,
        (Value::Object(members), HttpStyle::Brackets) => each(members, |key| format!("{name}[{key}]"))?,
        (Value::Object(members), HttpStyle::Comma) => vec![joined(name, &alternating(members), ",")?],
        (value, _) => vec![Pair::new(name, &fill::plain(value, name)?)],
    })
}

fn repeated(name: &str, items: &[Value]) -> Result<Vec<Pair>, ProviderError> {
    items.iter().map(|item| Ok(Pair::new(name, &fill::plain(item, name)?))).collect()
}

fn joined(name: &str, items: &[Value], between: &str) -> Result<Pair, ProviderError> {
    let items = items.iter().map(|item| fill::plain(item, name).map(|text| fill::encoded(&text)));
    Ok(Pair { name: name.to_owned(), encoded: items.collect::<Result<Vec<_>, _>>()?.join(between) })
}

/// Expands an object into one pair per member.
fn each(members: &Map<String, Value>, name: impl Fn(&str) -> String) -> Result<Vec<Pair>, ProviderError> {
    let mut pairs = Vec::new();
    for (key, value) in members.iter().filter(|(_, value)| !value.is_null()) {
        match value {
            Value::Array(items) => pairs.extend(repeated(&name(key), items)?),
            value => pairs.push(Pair::new(&name(key), &fill::plain(value, key)?)),
        }
    }
    Ok(pairs)
}

/// Returns names and values alternating.
pub(super) fn alternating(members: &Map<String, Value>) -> Vec<Value> {
    members.iter().flat_map(|(name, value)| [Value::from(name.as_str()), value.clone()]).collect()
}
