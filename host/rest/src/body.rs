//! JSON bodies of requests.

use crate::problem::Problem;
use axum::body::{Body, to_bytes};
use axum::extract::FromRequest;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, Request, StatusCode};
use serde::de::{DeserializeOwned, Error, IgnoredAny};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use serde_path_to_error::{Path, Segment};

/// Body of a request, read as `T`. Unknown members are refused where `T` refuses them.
pub(crate) struct JsonBody<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Sync> FromRequest<S> for JsonBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request<Body>, _: &S) -> Result<JsonBody<T>, Problem> {
        let (head, body) = request.into_parts();
        if !is_json(&head.headers) {
            let detail = "Send the body as `Content-Type: application/json`";
            return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "request.media_type", detail));
        }
        // The body was collected within its limits before the request was routed.
        let bytes = to_bytes(body, usize::MAX).await;
        let bytes =
            bytes.map_err(|_| Problem::new(StatusCode::BAD_REQUEST, "request.incomplete", "The body is incomplete"))?;
        read(&bytes).map(JsonBody)
    }
}

/// Returns true if the body is JSON, by its media type.
fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("application/json")
}

/// Reads a body. The error names the member.
fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    if bytes.trim_ascii_start().first() == Some(&b'[') {
        return Err(Problem::invalid("", "expected an object, not a list"));
    }
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let read = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let at = pointer(error.path());
        let error = error.into_inner();
        // A wrong type of an enum counts as a fault of the syntax.
        match serde_json::from_slice::<IgnoredAny>(bytes) {
            Ok(_) => Problem::invalid(at, fault(&error)),
            Err(_) => Problem::new(StatusCode::BAD_REQUEST, "request.json", format!("The body is not JSON: {error}")),
        }
    })?;
    let rest = reader.end();
    rest.map_err(|error| {
        Problem::new(StatusCode::BAD_REQUEST, "request.json", format!("The body is not JSON: {error}"))
    })?;
    Ok(read)
}

/// Reads a member that is an object. Without this, a list would be taken for its members in order.
pub(crate) fn object<'de, D: Deserializer<'de>, T: DeserializeOwned>(reader: D) -> Result<T, D::Error> {
    let members = Map::<String, Value>::deserialize(reader)?;
    T::deserialize(Value::Object(members)).map_err(Error::custom)
}

/// Reads a member that is an object or missing.
pub(crate) fn optional_object<'de, D: Deserializer<'de>, T: DeserializeOwned>(
    reader: D,
) -> Result<Option<T>, D::Error> {
    let members = Option::<Map<String, Value>>::deserialize(reader)?;
    members.map(|members| T::deserialize(Value::Object(members)).map_err(Error::custom)).transpose()
}

/// Returns the message of an error without its place in the text, which few people count.
fn fault(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rfind(" at line ") {
        Some(end) => text.chars().take(text[..end].chars().count()).collect(),
        None => text,
    }
}

/// Returns a path as a JSON pointer.
fn pointer(path: &Path) -> String {
    let mut text = String::new();
    for segment in path {
        match segment {
            Segment::Seq { index } => text.push_str(&format!("/{index}")),
            Segment::Map { key } => text.push_str(&format!("/{}", key.replace('~', "~0").replace('/', "~1"))),
            Segment::Enum { .. } | Segment::Unknown => {}
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::read;
    use crate::problem::Problem;
    use serde::Deserialize;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Outer {
        #[expect(dead_code, reason = "only its type matters")]
        inner: Vec<Inner>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Inner {
        #[expect(dead_code, reason = "only its type matters")]
        fuel: u64,
    }

    fn fault(text: &[u8]) -> (String, String) {
        let problem: Problem = read::<Outer>(text).unwrap_err();
        let json = serde_json::to_value(problem).unwrap();
        (
            json["errors"][0]["pointer"].as_str().unwrap_or_default().to_owned(),
            json["detail"].as_str().unwrap().to_owned(),
        )
    }

    #[test]
    fn the_error_names_the_member() {
        assert_eq!(fault(br#"{"inner": [{"fuel": 1}, {"fuel": "x"}]}"#).0, "/inner/1/fuel");
        let (pointer, detail) = fault(br#"{"inner": [{"fuels": 1}]}"#);
        assert!(pointer == "/inner/0/fuels" && detail.contains("expected `fuel`"), "{pointer} {detail}");
        assert!(fault(br#"{"inner": []} x"#).1.contains("not JSON"));
        assert!(fault(br#" [[]]"#).1.contains("not a list"));
        assert!(fault(b"\xff").1.contains("not JSON") && fault(b"").1.contains("not JSON"));
    }
}
