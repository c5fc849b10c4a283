//! JSON bodies of requests.

use crate::problem::Problem;
use axum::body::{Body, to_bytes};
use axum::extract::FromRequest;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, Request, StatusCode};
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, Error, IgnoredAny, MapAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};
use serde_path_to_error::{Path, Segment};
use std::fmt;
use std::marker::PhantomData;

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

/// Reads a member that may be missing, but not null: the document calls none nullable.
pub(crate) fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(reader: D) -> Result<Option<T>, D::Error> {
    T::deserialize(reader).map(Some)
}

/// Reads a whole number. For JSON Schema `1.0` is one too, and some languages write every number so.
pub(crate) fn whole<'de, D: Deserializer<'de>>(reader: D) -> Result<u64, D::Error> {
    reader.deserialize_u64(Whole)
}

/// As [`whole`], for a member that may be missing.
pub(crate) fn optional_whole<'de, D: Deserializer<'de>>(reader: D) -> Result<Option<u64>, D::Error> {
    whole(reader).map(Some)
}

struct Whole;

impl Visitor<'_> for Whole {
    type Value = u64;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a whole number that is not negative")
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<u64, E> {
        Ok(number)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<u64, E> {
        u64::try_from(number).map_err(|_| E::invalid_value(Unexpected::Signed(number), &self))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<u64, E> {
        // 2 to the power of 64 is the least that does not fit.
        match number.fract() == 0.0 && (0.0..18_446_744_073_709_551_616.0).contains(&number) {
            true => Ok(number as u64),
            false => Err(E::invalid_value(Unexpected::Float(number), &self)),
        }
    }
}

/// Reads a member that is an object. Without this, a list would be taken for its members in order.
pub(crate) fn object<'de, D: Deserializer<'de>, T: Deserialize<'de>>(reader: D) -> Result<T, D::Error> {
    reader.deserialize_map(Object(PhantomData))
}

/// As [`object`], for a member that may be missing.
pub(crate) fn optional_object<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    reader: D,
) -> Result<Option<T>, D::Error> {
    object(reader).map(Some)
}

struct Object<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Object<T> {
    type Value = T;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<T, A::Error> {
        T::deserialize(MapAccessDeserializer::new(members))
    }
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

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Members {
        #[serde(default, deserialize_with = "super::given")]
        text: Option<String>,
        #[serde(default, deserialize_with = "super::optional_whole")]
        number: Option<u64>,
        #[serde(default, deserialize_with = "super::optional_object")]
        inner: Option<Numbered>,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Numbered {
        #[serde(deserialize_with = "super::whole")]
        fuel: u64,
    }

    fn members(text: &str) -> Result<Members, (String, String)> {
        read(text.as_bytes()).map_err(|problem: Problem| {
            let fault = serde_json::to_value(problem).unwrap()["errors"][0].clone();
            let part = |name: &str| fault[name].as_str().unwrap_or_default().to_owned();
            (part("pointer"), part("detail"))
        })
    }

    #[test]
    fn a_member_is_missing_or_has_a_value_but_is_never_null() {
        assert_eq!(members("{}"), Ok(Members { text: None, number: None, inner: None }));
        assert_eq!(members(r#"{"text": "a"}"#).unwrap().text.as_deref(), Some("a"));
        for name in ["text", "number", "inner"] {
            let (pointer, detail) = members(&format!(r#"{{"{name}": null}}"#)).unwrap_err();
            assert!(pointer == format!("/{name}") && detail.contains("null"), "{pointer}: {detail}");
        }
    }

    #[test]
    fn whole_numbers_may_be_written_with_a_decimal_point() {
        let number = |text: &str| members(&format!(r#"{{"number": {text}}}"#)).map(|members| members.number);
        for (text, whole) in [
            ("1", 1),
            ("1.0", 1),
            ("2e3", 2_000),
            ("0.0", 0),
            ("-0.0", 0),
            ("18446744073709551615", u64::MAX),
            ("9007199254740992.0", 1 << 53),
        ] {
            assert_eq!(number(text), Ok(Some(whole)), "{text}");
        }
        for text in ["1.5", "-1", "-1.0", "1e300", "18446744073709551616", "\"1\"", "true", "[1]"] {
            assert_eq!(number(text).unwrap_err().0, "/number", "{text}");
        }
        assert_eq!(members(r#"{"inner": {"fuel": 3.0}}"#).unwrap().inner, Some(Numbered { fuel: 3 }));
    }

    #[test]
    fn a_member_of_an_inner_object_is_named() {
        assert_eq!(members(r#"{"inner": {"fuel": "x"}}"#).unwrap_err().0, "/inner/fuel");
        assert_eq!(members(r#"{"inner": [1]}"#).unwrap_err().0, "/inner");
    }
}
