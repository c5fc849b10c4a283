//! Routes of the API, and its OpenAPI document.

use crate::problem::{MEDIA_TYPE, Problem};
use crate::service::Service;
use crate::{
    approvals, audit_route, capabilities, changes, check, events, explain, files, me, programs, runs, servers, spaces,
};
use agent_spaces_telemetry::context::{self, TraceContext};
use agent_spaces_telemetry::spans;
use axum::Router;
use axum::extract::{DefaultBodyLimit, MatchedPath, Request};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use http::{Method, StatusCode, Uri};
use serde_json::{Value, json};
use std::time::Instant;
use tracing::Instrument;
use utoipa::openapi::header::Header;
use utoipa::openapi::path::Operation;
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
use utoipa::openapi::{Components, ContentBuilder, OpenApi, Ref, RefOr, ResponseBuilder};
use utoipa::{OpenApi as _, ToSchema as _};
use utoipa_axum::router::OpenApiRouter;

/// Statuses of problems that any request may have.
const PROBLEMS: [(&str, &str); 14] = [
    ("400", "The request is wrong"),
    ("401", "The token is missing or unknown"),
    ("403", "The caller is not given this"),
    ("404", "There is no such thing, or it is another caller's"),
    ("408", "The body was not received in time"),
    ("409", "The state of things forbids this"),
    ("412", "It was changed meanwhile"),
    ("413", "The body is too large"),
    ("415", "The body is not JSON"),
    ("422", "The script cannot run, or the key was used for another request"),
    ("429", "The caller has too much in progress"),
    ("500", "The server failed"),
    ("503", "The server cannot do this now"),
    ("507", "The journal is full"),
];

/// Statuses of problems that are over soon: they say when to try again.
const OVER_SOON: [&str; 2] = ["429", "503"];

/// Target of the log of requests.
const LOG_TARGET: &str = "agent_spaces::http";

#[derive(utoipa::OpenApi)]
#[openapi(
    info(
        title = "Agent Spaces",
        description = "Runs code that AI agents write, in spaces with typed capabilities.",
        license(name = "Apache-2.0", identifier = "Apache-2.0"),
    ),
    servers((url = "/")),
    security(("token" = [])),
    tags(
        (name = "spaces", description = "Capabilities, a policy, limits and files that programs run with"),
        (name = "files", description = "Files of a space"),
        (name = "runs", description = "Executions of programs"),
        (name = "events", description = "Events of runs"),
        (name = "approvals", description = "Calls that wait for a person"),
        (name = "capabilities", description = "Functions that programs can call"),
        (name = "programs", description = "Stored sources"),
        (name = "servers", description = "MCP servers of the configuration"),
        (name = "callers", description = "Whoever sends a request"),
        (name = "audit", description = "Record of what callers and their runs did"),
    ),
)]
struct Description;

/// Returns the routes and their document.
fn parts() -> (Router<Service>, OpenApi) {
    let router = OpenApiRouter::with_openapi(Description::openapi())
        .merge(spaces::router())
        .merge(files::router())
        .merge(runs::router())
        .merge(events::router())
        .merge(changes::router())
        .merge(approvals::router())
        .merge(capabilities::router())
        .merge(programs::router())
        .merge(servers::router())
        .merge(audit_route::router())
        .merge(me::router())
        .merge(check::router())
        .merge(explain::router());
    let (router, document) = router.split_for_parts();
    (router, completed(document))
}

/// Returns the routes.
pub(crate) fn router() -> Router<Service> {
    let (router, _) = parts();
    // Bodies were collected within their limits before.
    let router = router.layer(DefaultBodyLimit::disable());
    router.route_layer(middleware::from_fn(in_span)).fallback(not_found).method_not_allowed_fallback(wrong_method)
}

/// Returns the OpenAPI document.
pub fn document() -> Value {
    // It has strings, numbers and lists, which always serialize.
    let mut document = serde_json::to_value(parts().1).unwrap_or_default();
    remove_null(&mut document);
    rename(&mut document);
    clarify(&mut document);
    document
}

/// Says what generators of clients need: that objects without members are open, that files are bytes, and that the items
/// of a page are those that have a name.
fn clarify(document: &mut Value) {
    if let Some(Value::Object(schemas)) = document.pointer_mut("/components/schemas") {
        let names: Vec<String> = schemas.keys().cloned().collect();
        for name in names {
            let item = name.strip_suffix("Page").filter(|item| schemas.contains_key(*item)).map(str::to_owned);
            let items = schemas.get_mut(&name).and_then(|page| page.pointer_mut("/properties/items/items"));
            if let (Some(item), Some(items)) = (item, items) {
                *items = json!({ "$ref": format!("#/components/schemas/{item}") });
            }
        }
        if let Some(Value::Object(event)) = schemas.get_mut("Event") {
            event.insert("additionalProperties".to_owned(), true.into());
        }
    }
    open_objects(document);
}

fn open_objects(value: &mut Value) {
    match value {
        Value::Object(members) => {
            let is_object = members.get("type") == Some(&json!("object"));
            if is_object && !members.contains_key("properties") && !members.contains_key("additionalProperties") {
                members.insert("additionalProperties".to_owned(), true.into());
            }
            if let Some(bytes) = members.get_mut("application/octet-stream") {
                *bytes = json!({ "schema": { "type": "string", "format": "binary" } });
            }
            members.values_mut().for_each(open_objects);
        }
        Value::Array(items) => items.iter_mut().for_each(open_objects),
        _ => {}
    }
}

/// Renames what the router and the generator name in their own ways: `{*path}` and `Page_Run`.
fn rename(value: &mut Value) {
    let name = |text: &str| {
        let page = text.strip_prefix("Page_").map(|item| format!("{item}Page"));
        let reference = text.strip_prefix("#/components/schemas/Page_");
        let reference = reference.map(|item| format!("#/components/schemas/{item}Page"));
        page.or(reference).unwrap_or_else(|| text.replace("{*", "{"))
    };
    match value {
        Value::Object(members) => {
            let renamed = std::mem::take(members).into_iter().map(|(key, mut value)| {
                rename(&mut value);
                (name(&key), value)
            });
            *members = renamed.collect();
        }
        Value::Array(items) => items.iter_mut().for_each(rename),
        Value::String(text) => *text = name(text),
        _ => {}
    }
}

/// Removes null from the types of members: those without a value are missing, never null.
fn remove_null(value: &mut Value) {
    match value {
        Value::Object(members) => {
            if let Some(Value::Array(types)) = members.get_mut("type") {
                types.retain(|one| one != "null");
                if let [only] = types.as_slice() {
                    let only = only.clone();
                    members.insert("type".to_owned(), only);
                }
            }
            if let Some(Value::Array(variants)) = members.get_mut("oneOf") {
                variants.retain(|variant| variant.get("type") != Some(&json!("null")));
                if let [Value::Object(only)] = variants.as_slice() {
                    let only = only.clone();
                    members.remove("oneOf");
                    members.extend(only);
                }
            }
            members.values_mut().for_each(remove_null);
        }
        Value::Array(items) => items.iter_mut().for_each(remove_null),
        _ => {}
    }
}

/// Adds what holds for all requests: the token, and problems.
fn completed(mut document: OpenApi) -> OpenApi {
    let components = document.components.get_or_insert_with(Components::new);
    let token = Http::builder().scheme(HttpAuthScheme::Bearer).description(Some("Token of a caller")).build();
    components.add_security_scheme("token", SecurityScheme::Http(token));
    let mut schemas = vec![(Problem::name().into_owned(), <Problem as utoipa::PartialSchema>::schema())];
    Problem::schemas(&mut schemas);
    components.schemas.extend(schemas);
    for path in document.paths.paths.values_mut() {
        let operations =
            [&mut path.get, &mut path.put, &mut path.post, &mut path.delete, &mut path.patch, &mut path.head];
        operations.into_iter().flatten().for_each(add_problems);
    }
    document
}

/// Adds the problems that a request may have.
fn add_problems(operation: &mut Operation) {
    for (status, description) in PROBLEMS {
        let content = ContentBuilder::new().schema(Some(Ref::from_schema_name(Problem::name()))).build();
        let mut response = ResponseBuilder::new().description(description).content(MEDIA_TYPE, content);
        if OVER_SOON.contains(&status) {
            response = response.header("Retry-After", retry_after());
        }
        operation.responses.responses.entry(status.to_owned()).or_insert(RefOr::T(response.build()));
    }
}

/// Describes the header of a problem that is over soon.
fn retry_after() -> Header {
    let seconds = ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(1)).build();
    let mut header = Header::new(seconds);
    header.description = Some("Seconds after which the same request may succeed".to_owned());
    header
}

/// Answers a request in a span of its own, which continues the trace of the client.
async fn in_span(path: Option<MatchedPath>, request: Request, next: Next) -> Response {
    let route = path.as_ref().map_or("", |path| path.as_str());
    let span = spans::request(request.method().as_str(), route);
    if !span.is_disabled() {
        let headers = request.headers().iter().map(|(name, value)| (name.as_str(), value.as_bytes()));
        if let Some(parent) = TraceContext::from_headers(headers) {
            context::set_parent(&span, &parent);
        }
    }
    let (method, begun) = (request.method().clone(), Instant::now());
    let response = next.run(request).instrument(span.clone()).await;
    let status = response.status().as_u16();
    spans::end_request(&span, status);
    let ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    span.in_scope(|| tracing::info!(target: LOG_TARGET, %method, route, status, ms, "request"));
    response
}

async fn not_found(uri: Uri) -> impl IntoResponse {
    let path: String = uri.path().chars().take(200).collect();
    Problem::new(StatusCode::NOT_FOUND, "not_found", format!("There is no {path}: see /openapi.json"))
}

async fn wrong_method(method: Method, uri: Uri) -> impl IntoResponse {
    let path: String = uri.path().chars().take(200).collect();
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method", format!("{path} does not take {method}: see /openapi.json"))
}

#[cfg(test)]
mod tests {
    use super::document;
    use serde_json::Value;

    #[test]
    fn every_operation_has_an_id_a_summary_and_problems() {
        let document = document();
        assert_eq!(document["openapi"], "3.1.0");
        let mut ids = Vec::new();
        for (path, item) in document["paths"].as_object().unwrap() {
            for (method, operation) in item.as_object().unwrap().iter().filter(|(key, _)| *key != "parameters") {
                let at = format!("{method} {path}");
                ids.push(operation["operationId"].as_str().unwrap_or_else(|| panic!("{at} has no id")).to_owned());
                assert!(operation["summary"].as_str().is_some_and(|text| !text.is_empty()), "{at}");
                assert!(operation["responses"]["500"]["content"]["application/problem+json"].is_object(), "{at}");
                for status in ["429", "503"] {
                    let header = &operation["responses"][status]["headers"]["Retry-After"];
                    assert_eq!(header["schema"]["type"], "integer", "{at}: {status}");
                }
            }
        }
        let count = ids.len();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), count, "operation ids repeat");
        assert!(count >= 28, "{count}");
    }

    #[test]
    fn every_reference_has_a_target() {
        fn references(value: &Value, found: &mut Vec<String>) {
            match value {
                Value::Object(members) => members.iter().for_each(|(key, value)| match value {
                    Value::String(text) if key == "$ref" => found.push(text.clone()),
                    value => references(value, found),
                }),
                Value::Array(items) => items.iter().for_each(|value| references(value, found)),
                _ => {}
            }
        }
        let document = document();
        let mut found = Vec::new();
        references(&document, &mut found);
        for reference in &found {
            let pointer = reference.strip_prefix('#').unwrap();
            assert!(document.pointer(pointer).is_some(), "{reference}");
        }
        assert!(found.len() > 50);
    }

    #[test]
    fn members_with_few_or_bounded_values_say_so() {
        let document = document();
        let schema = |name: &str, member: &str| -> Value {
            document["components"]["schemas"][name]["properties"][member].clone()
        };
        assert_eq!(schema("Program", "version")["minimum"], 1);
        assert_eq!(schema("ProgramVersion", "version")["minimum"], 1);
        assert_eq!(schema("ConsoleLine", "level")["$ref"], "#/components/schemas/ConsoleLevel");
        let levels = &document["components"]["schemas"]["ConsoleLevel"]["enum"];
        assert_eq!(*levels, serde_json::json!(["log", "info", "warn", "error", "debug"]));
        let keyed = document["paths"]["/v1/programs"]["post"]["parameters"].clone();
        assert_eq!((&keyed[0]["name"], &keyed[0]["in"]), (&"Idempotency-Key".into(), &"header".into()));
    }

    #[test]
    fn no_member_is_null() {
        assert!(!document().to_string().contains("\"null\""));
    }
}
