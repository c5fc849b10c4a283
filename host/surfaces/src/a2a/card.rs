//! Cards of agents.

use super::parts::INPUT_MODES;
use agent_spaces_agent::AgentSummary;
use agent_spaces_http_server::{HttpResponse, response};
use data_encoding::HEXLOWER;
use http::StatusCode;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, HeaderMap, HeaderValue, IF_NONE_MATCH, LAST_MODIFIED};
use serde_json::{Value, json};
use std::time::SystemTime;

/// Path of the card of the default agent; below the path of an agent, of its own card.
pub const WELL_KNOWN_CARD: &str = "/.well-known/agent-card.json";

/// `Cache-Control` of a card. Cards change with the configuration.
const CACHED: &str = "public, max-age=300";

/// Returns the card of an agent.
pub(super) fn card(agent: &AgentSummary, base: &str, needs_token: bool) -> Value {
    let name = &agent.name;
    let description = match agent.description.trim() {
        "" => format!("The agent {name}"),
        text => text.to_owned(),
    };
    let outputs = match &agent.schema {
        Some(_) => json!(["application/json"]),
        None => json!(["text/plain", "text/markdown", "application/json"]),
    };
    let url = format!("{base}/a2a/{name}");
    let interface = |binding: &str| json!({ "url": url, "protocolBinding": binding, "protocolVersion": "1.0" });
    let mut card = json!({
        "name": name,
        "description": description,
        "version": env!("CARGO_PKG_VERSION"),
        "supportedInterfaces": [interface("JSONRPC"), interface("HTTP+JSON")],
        "capabilities": { "streaming": true, "pushNotifications": false, "extendedAgentCard": false },
        "defaultInputModes": INPUT_MODES,
        "defaultOutputModes": outputs,
        "skills": [{ "id": name, "name": name, "description": description, "tags": ["agent"] }],
    });
    if needs_token {
        card["securitySchemes"] = json!({ "bearer": { "httpAuthSecurityScheme": { "scheme": "Bearer" } } });
        card["securityRequirements"] = json!([{ "schemes": { "bearer": { "list": [] } } }]);
    }
    card
}

/// Returns the response with a card, or that it has not changed.
pub(super) fn respond(card: &Value, headers: &HeaderMap, modified: SystemTime) -> HttpResponse {
    let body = card.to_string();
    let hash = blake3::hash(body.as_bytes());
    let tag = format!("\"{}\"", HEXLOWER.encode(hash.as_bytes().get(..16).unwrap_or_default()));
    let known = headers.get(IF_NONE_MATCH).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let is_known = known.split(',').any(|one| one.trim().trim_start_matches("W/") == tag);
    let mut response = match is_known {
        true => response(StatusCode::NOT_MODIFIED, ""),
        false => response(StatusCode::OK, body),
    };
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static(CACHED));
    for (name, value) in [(ETAG, tag), (LAST_MODIFIED, httpdate::fmt_http_date(modified))] {
        // Both are plain ASCII.
        if let Ok(value) = HeaderValue::try_from(value) {
            headers.insert(name, value);
        }
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agent(schema: Option<Value>) -> AgentSummary {
        AgentSummary { name: "helper".to_owned(), description: " ".to_owned(), schema }
    }

    #[test]
    fn a_card_names_both_bindings_and_how_to_authenticate() {
        let card = card(&agent(None), "https://example.com", true);
        for (index, binding) in ["JSONRPC", "HTTP+JSON"].iter().enumerate() {
            let interface = &card["supportedInterfaces"][index];
            assert_eq!(interface["url"], json!("https://example.com/a2a/helper"));
            assert_eq!(
                (&interface["protocolBinding"], &interface["protocolVersion"]),
                (&json!(binding), &json!("1.0"))
            );
        }
        assert_eq!(card["securitySchemes"]["bearer"]["httpAuthSecurityScheme"]["scheme"], json!("Bearer"));
        assert_eq!(card["description"], json!("The agent helper"));
        assert!(super::card(&agent(None), "", false).get("securitySchemes").is_none());
        assert_eq!(super::card(&agent(Some(json!({}))), "", false)["defaultOutputModes"], json!(["application/json"]));
    }

    #[test]
    fn a_card_that_is_known_is_not_sent_again() {
        let card = card(&agent(None), "http://localhost", false);
        let first = respond(&card, &HeaderMap::new(), SystemTime::UNIX_EPOCH);
        assert_eq!((first.status(), first.headers()[CACHE_CONTROL].as_bytes()), (StatusCode::OK, CACHED.as_bytes()));
        assert_eq!(first.headers()[LAST_MODIFIED], "Thu, 01 Jan 1970 00:00:00 GMT");
        let headers = HeaderMap::from_iter([(IF_NONE_MATCH, first.headers()[ETAG].clone())]);
        assert_eq!(respond(&card, &headers, SystemTime::UNIX_EPOCH).status(), StatusCode::NOT_MODIFIED);
        let other = super::card(&agent(None), "http://other", false);
        assert_eq!(respond(&other, &headers, SystemTime::UNIX_EPOCH).status(), StatusCode::OK);
    }
}
