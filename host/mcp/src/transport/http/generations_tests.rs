//! Tests of protocol negotiation with servers of both generations.

use crate::transport::testing::{Reply, Seen, Server, answer, bare, response, settings};
use crate::{CallOptions, Connection, Context};
use serde_json::{Map, Value, json};
use std::sync::atomic::{AtomicBool, Ordering};

fn json(status: &str, body: &Value) -> Reply {
    Reply::Whole(response(status, "application/json", &body.to_string()))
}

fn result(seen: &Seen, result: Value) -> Reply {
    json("200 OK", &json!({ "jsonrpc": "2.0", "id": seen.body["id"], "result": result }))
}

/// Replies like a stateless server with these tools.
fn stateless(seen: &Seen, tools: Value) -> Reply {
    let complete = json!({ "resultType": "complete", "ttlMs": 0, "cacheScope": "private" });
    let more = match seen.method() {
        "server/discover" => json!({ "supportedVersions": ["2026-07-28"], "capabilities": { "tools": {} } }),
        "tools/list" => json!({ "tools": tools }),
        "tools/call" => json!({ "content": [{ "type": "text", "text": "done" }] }),
        _ => return Reply::Whole(bare("405 Method Not Allowed", "")),
    };
    let all: Map<String, Value> = [complete, more]
        .iter()
        .filter_map(Value::as_object)
        .flatten()
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    result(seen, Value::Object(all))
}

async fn open(server: &Server) -> Connection {
    Connection::open(settings(&server.url).0, &Context::default()).await.unwrap()
}

#[tokio::test]
async fn an_empty_response_to_discover_is_an_older_server() {
    let server = Server::start(|seen| match answer(&seen.body) {
        _ if seen.method() == "server/discover" => result(seen, json!({})),
        Some(answer) => json("200 OK", &answer),
        None => Reply::Whole(bare("202 Accepted", "")),
    })
    .await;
    let connection = open(&server).await;
    assert_eq!(connection.identity().protocol, "2025-11-25");
    assert_eq!(connection.list_tools().await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_refused_version_is_requested_again_if_the_server_offers_it() {
    let was_asked = AtomicBool::new(false);
    let server = Server::start(move |seen| {
        if !was_asked.swap(true, Ordering::Relaxed) {
            let data = json!({ "supported": ["2026-07-28"], "requested": "2026-07-28" });
            let error = json!({ "code": -32022, "message": "Unsupported protocol version", "data": data });
            return json("400 Bad Request", &json!({ "jsonrpc": "2.0", "id": seen.body["id"], "error": error }));
        }
        stateless(seen, json!([]))
    })
    .await;
    assert_eq!(open(&server).await.identity().protocol, "2026-07-28");
    assert!(server.seen().iter().all(|seen| seen.method() != "initialize"));
}

#[tokio::test]
async fn arguments_are_mirrored_to_headers_and_tools_with_invalid_headers_are_left_out() {
    let tool = |name: &str, header: &str| {
        let region = json!({ "type": "string", "x-mcp-header": header });
        json!({ "name": name, "inputSchema": { "type": "object", "properties": { "region": region } } })
    };
    let tools = json!([tool("good", "Region"), tool("empty", ""), tool("broken", "a b")]);
    let server = Server::start(move |seen| stateless(seen, tools.clone())).await;
    let connection = open(&server).await;
    let listed = connection.list_tools().await.unwrap();
    assert_eq!(listed.iter().map(|tool| &tool["name"]).collect::<Vec<_>>(), ["good"]);

    let arguments = Map::from_iter([("region".to_owned(), json!("näher"))]);
    connection.call_tool("good", arguments, CallOptions::default()).await.unwrap();
    let seen = server.seen();
    let call = seen.iter().find(|seen| seen.method() == "tools/call").unwrap();
    assert_eq!(call.header("mcp-param-region"), Some("=?base64?bsOkaGVy?="));
    assert_eq!((call.header("mcp-method"), call.header("mcp-name")), (Some("tools/call"), Some("good")));
}
