//! Request body.

use super::{fill, query};
use crate::error::ProviderError;
use bytes::Bytes;
use capability_gen::implementation::{HttpBody, HttpContent};
use capability_gen::template::{Template, fill_json, value_of};
use serde_json::Value;

/// Builds the body; `None` if it is optional and none of its parameters was given.
pub(super) fn bytes(body: &HttpBody, params: &Value) -> Result<Option<Bytes>, ProviderError> {
    if body.is_optional && !is_given(&body.content, params) {
        return Ok(None);
    }
    Ok(match &body.content {
        HttpContent::Json(template) => {
            let filled = fill_json(template, params, fill::MAX_BODY).map_err(fill::too_long)?;
            filled.map(|value| value.to_string().into())
        }
        HttpContent::Form(members) => {
            Some(query::text(query::pairs(members, params, fill::MAX_BODY)?.into_iter()).into())
        }
        HttpContent::Text(template) => fill::text(template, params, fill::MAX_BODY)?.map(Bytes::from),
    })
}

/// True if a parameter of the body was given.
fn is_given(content: &HttpContent, params: &Value) -> bool {
    match content {
        HttpContent::Json(template) => has_given(template, params),
        HttpContent::Form(members) => members.iter().any(|member| has_any(&member.value, params)),
        HttpContent::Text(template) => has_any(template, params),
    }
}

fn has_any(template: &Template, params: &Value) -> bool {
    template.parameters().any(|name| value_of(params, name).is_some())
}

fn has_given(value: &Value, params: &Value) -> bool {
    match value {
        Value::String(text) => Template::parse(text).is_ok_and(|template| has_any(&template, params)),
        Value::Array(items) => items.iter().any(|item| has_given(item, params)),
        Value::Object(members) => members.values().any(|member| has_given(member, params)),
        _ => false,
    }
}
