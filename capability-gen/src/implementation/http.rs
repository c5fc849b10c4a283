//! HTTP implementation: the request of a function, and how its response becomes the result.

use crate::template::Template;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// Headers that only the connection may set, and method-override headers; in lower case.
pub const CONNECTION_HEADERS: [&str; 13] = [
    "connection",
    "content-length",
    "expect",
    "host",
    "http2-settings",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "x-http-method",
    "x-http-method-override",
    "x-method-override",
];

/// HTTP request of a function, and the part of the response that is its result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HttpOperation {
    /// `GET`
    pub method: String,
    /// URL up to the query: `https://api.example.com/v1/pets/{{petId}}`. Scheme, host and port have no parameters. Only
    /// a path, `/pets/{{petId}}`, if an OpenAPI document names no server; such a request cannot be sent.
    pub url: Template,
    /// Styles of path parameters that are lists or objects, unless comma-separated; by parameter name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub path: BTreeMap<String, HttpPathStyle>,
    /// Query parameters.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub query: Vec<HttpMember>,
    /// Headers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<HttpMember>,
    /// Cookies; only OpenAPI documents have them as parameters.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cookies: Vec<HttpMember>,
    /// Request body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<HttpBody>,
    /// Response format.
    #[serde(default, skip_serializing_if = "is_default")]
    pub response: HttpResponse,
    /// JSON pointer to the result in the response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// Errors reported to scripts, by status (`404`), class (`4xx`), or `*`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub errors: BTreeMap<String, HttpError>,
    /// Pagination.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pages: Option<HttpPages>,
}

/// Named part of a request: a query or form parameter, a header, a cookie. It is left out if one of its parameters was
/// not given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HttpMember {
    /// The name in the request.
    pub name: String,
    /// Value.
    pub value: Template,
    /// Style of a list or an object.
    #[serde(default, skip_serializing_if = "is_default")]
    pub style: HttpStyle,
}

/// Style of a list or an object in a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HttpPathStyle {
    /// An object as `comma` (`b,1`) or `members` (`b=1`); any value as `json`.
    pub style: HttpStyle,
    /// Separator of elements, already escaped.
    pub between: String,
}

/// Serialization style of a list or an object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HttpStyle {
    /// A list with its name repeated: `a=1&a=2`. In a header or cookie like `comma`.
    #[default]
    Repeat,
    /// `a=1,2`
    Comma,
    /// `a=1 2`
    Space,
    /// `a=1|2`
    Pipe,
    /// An object as `a[b]=1&a[c]=2`.
    Brackets,
    /// An object as separate members: `b=1&c=2`, in a header `b=1,c=2`; a list like `repeat`.
    Members,
    /// Any value as JSON text.
    Json,
}

/// Request body.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HttpBody {
    /// Its media type.
    #[serde(rename = "type")]
    pub media_type: String,
    /// Content.
    pub content: HttpContent,
    /// True if the body is omitted when none of its parameters was given.
    #[serde(default, skip_serializing_if = "is_default")]
    pub is_optional: bool,
}

/// Content of a request body.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HttpContent {
    /// JSON. A string that is only `{{name}}` becomes the parameter's value; members and elements whose parameter was
    /// not given are left out.
    Json(Value),
    /// URL-encoded form.
    Form(Vec<HttpMember>),
    /// Text.
    Text(Template),
}

/// Response format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HttpResponse {
    /// By its media type: JSON, text, or else bytes.
    #[default]
    Auto,
    /// JSON, whatever its media type.
    Json,
    /// Text.
    Text,
    /// Bytes, in base64.
    Bytes,
}

/// Error reported to scripts for a failed response.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HttpError {
    /// Error code; `call.failed` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// The message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<Template>,
    /// JSON pointer to the message in the response; `message` is used if nothing is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// True if the same call may succeed later; derived from the status if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retryable: Option<bool>,
}

/// Pagination.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HttpPages {
    /// JSON pointer to the items in a response.
    pub items: String,
    /// Location of the next page.
    pub next: HttpNext,
    /// Maximum number of pages requested; later pages are left out.
    pub max: u32,
}

/// Location of the next page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum HttpNext {
    /// The same URL with a cursor as query parameter.
    Cursor {
        /// JSON pointer to the cursor in the response.
        at: String,
        /// Name of the query parameter.
        parameter: String,
    },
    /// The URL at this JSON pointer of the response.
    Url(String),
    /// The `next` URL of the `Link` header.
    Link,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
