//! What is sent.

use super::{fill, query};
use crate::error::ProviderError;
use bytes::Bytes;
use capability_gen::implementation::{HttpBody, HttpContent, Template, value_of};
use serde_json::{Map, Value};

/// The body; nothing where it may be absent and none of its parameters was given.
pub(super) fn bytes(body: &HttpBody, params: &Value) -> Result<Option<Bytes>, ProviderError> {
    if body.is_optional && !is_given(&body.content, params) {
        return Ok(None);
    }
    Ok(match &body.content {
        HttpContent::Json(template) => json(template, params)?.map(|value| value.to_string().into()),
        HttpContent::Form(members) => Some(query::text(query::pairs(members, params)?.into_iter()).into()),
        HttpContent::Text(template) => fill::text(template, params).map(Bytes::from),
    })
}

/// Whether a parameter of the body was given.
fn is_given(content: &HttpContent, params: &Value) -> bool {
    let has = |template: &Template| template.names().any(|name| value_of(params, name).is_some());
    match content {
        HttpContent::Json(template) => has_given(template, params),
        HttpContent::Form(members) => members.iter().any(|member| has(&member.value)),
        HttpContent::Text(template) => has(template),
    }
}

fn has_given(value: &Value, params: &Value) -> bool {
    match value {
        Value::String(text) => {
            Template::parse(text).is_ok_and(|template| template.names().any(|name| value_of(params, name).is_some()))
        }
        Value::Array(items) => items.iter().any(|item| has_given(item, params)),
        Value::Object(members) => members.values().any(|member| has_given(member, params)),
        _ => false,
    }
}

/// A value with its parameters; nothing where it is one that was not given. How deep a template may be is the
/// definition's to keep.
fn json(template: &Value, params: &Value) -> Result<Option<Value>, ProviderError> {
    Ok(match template {
        Value::String(text) => {
            let template = Template::parse(text).map_err(|error| ProviderError::invalid(error.to_string()))?;
            match template.sole_name() {
                Some(name) => value_of(params, name).cloned(),
                None => fill::text(&template, params).map(Value::String),
            }
        }
        Value::Array(items) => {
            let items = items.iter().filter_map(|item| json(item, params).transpose());
            Some(Value::Array(items.collect::<Result<_, _>>()?))
        }
        Value::Object(members) => {
            let mut filled = Map::new();
            for (name, member) in members {
                if let Some(value) = json(member, params)? {
                    filled.insert(name.clone(), value);
                }
            }
            Some(Value::Object(filled))
        }
        other => Some(other.clone()),
    })
}
