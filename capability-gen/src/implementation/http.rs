//! How a function is answered by a request to a web server.

use crate::template::Template;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// Headers that nobody but the connection sets, and those that would turn an allowed method into another at the server;
/// in small letters.
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

/// The request that answers a function, and what of the answer is its value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HttpOperation {
    /// `GET`
    pub method: String,
    /// The address up to the query: `https://api.example.com/v1/pets/{{petId}}`. Scheme, host and port have no
    /// parameters. Only a path, `/pets/{{petId}}`, where a document names no server; then nothing can be sent.
    pub url: Template,
    /// How parameters in the path are written that are lists or objects, where it is not with commas; by their names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub path: BTreeMap<String, HttpPathStyle>,
    /// Members of the query.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub query: Vec<HttpMember>,
    /// Headers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<HttpMember>,
    /// Cookies, which only documents of an API have as parameters.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cookies: Vec<HttpMember>,
    /// What is sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<HttpBody>,
    /// What an answer is read as.
    #[serde(default, skip_serializing_if = "is_default")]
    pub response: HttpResponse,
    /// Where in the answer the value is, as a JSON pointer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// What scripts are told of answers that are errors: by status (`404`), class (`4xx`), or `*`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub errors: BTreeMap<String, HttpError>,
    /// How the rest of a list is asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pages: Option<HttpPages>,
}

/// A named part of a request: a member of a query or a form, a header, a cookie. It is left out where a parameter in it
/// was not given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HttpMember {
    /// The name in the request.
    pub name: String,
    /// What it is.
    pub value: Template,
    /// How a list or an object is written.
    #[serde(default, skip_serializing_if = "is_default")]
    pub style: HttpStyle,
}

/// How a list or an object is written in a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HttpPathStyle {
    /// An object as `comma`, `b,1`, or as `members`, `b=1`; anything as `json`.
    pub style: HttpStyle,
    /// What stands between elements, escaped already.
    pub between: String,
}

/// How a list or an object is written where text goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HttpStyle {
    /// A list as the name again and again: `a=1&a=2`. In a header or cookie as `comma`.
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
    /// An object as members of their own: `b=1&c=2`, in a header `b=1,c=2`; a list as `repeat`.
    Members,
    /// Anything as JSON text.
    Json,
}

/// What is sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HttpBody {
    /// Its media type.
    #[serde(rename = "type")]
    pub media_type: String,
    /// What it is made of.
    pub content: HttpContent,
    /// Whether there is no body where none of its parameters was given.
    #[serde(default, skip_serializing_if = "is_default")]
    pub is_optional: bool,
}

/// What a body is made of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HttpContent {
    /// JSON. A text that is one `{{name}}` is the parameter's value; members and elements whose parameter was not given
    /// are left out.
    Json(Value),
    /// Names and values as in a query.
    Form(Vec<HttpMember>),
    /// Text.
    Text(Template),
}

/// What an answer is read as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HttpResponse {
    /// By its media type: JSON, text, or else bytes.
    #[default]
    Auto,
    /// JSON, whatever it says that it is.
    Json,
    /// Text.
    Text,
    /// Bytes, in base64.
    Bytes,
}

/// What scripts are told of an answer that is an error.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HttpError {
    /// The code; `call.failed` where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// The message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<Template>,
    /// Where in the answer the message is, as a JSON pointer; `message` where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Whether the same call may succeed later; by the status where nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retryable: Option<bool>,
}

/// How the rest of a list is asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HttpPages {
    /// Where in an answer its part of the list is, as a JSON pointer.
    pub items: String,
    /// Where the next page is.
    pub next: HttpNext,
    /// The most pages that are asked for; what comes after is left out.
    pub max: u32,
}

/// Where the next page is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum HttpNext {
    /// The same address with another member of the query, whose value is at this JSON pointer of the answer.
    Cursor {
        /// The JSON pointer.
        at: String,
        /// The member of the query.
        parameter: String,
    },
    /// At the address that is at this JSON pointer of the answer.
    Url(String),
    /// At the address that the header `Link` has for `next`.
    Link,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
