//! Requests of the client under test: everything a server offers, each item once.

use agent_spaces_mcp::{CallError, CallOptions, Listing, Server};
use serde_json::{Map, Value, json};
use std::collections::HashSet;

/// Tool of a scenario about listing only; its server accepts no calls.
const LISTED_ONLY: &str = "lookup_user";
/// Tool that takes the unchanged schema of another tool.
const ECHO: &str = "json_schema_echo";

/// Requests to a server that may be interrupted for a login and then continued.
pub(crate) struct Errand {
    /// Calls that the suite requests.
    asked: Vec<(String, Map<String, Value>)>,
    listing: Option<Listing>,
    done: HashSet<String>,
}

impl Errand {
    /// Reads the requested calls from the suite's context.
    pub(crate) fn new(given: &Value) -> Errand {
        let asked = given.get("toolCalls").and_then(Value::as_array).into_iter().flatten();
        let asked = asked.map(|call| (text(call, "name"), object(call, "arguments"))).collect();
        Errand { asked, listing: None, done: HashSet::new() }
    }

    /// Lists everything, calls every tool, reads every resource and renders every prompt.
    pub(crate) async fn run(&mut self, server: &Server) -> Result<(), CallError> {
        let listing = match &self.listing {
            Some(listing) => listing,
            None => self.listing.insert(server.list().await?),
        };
        let calls = if self.asked.is_empty() { calls(&listing.tools) } else { self.asked.clone() };
        for (tool, arguments) in calls {
            if !self.done.contains(&tool) {
                eprintln!("{tool}: {}", server.call(&tool, arguments, CallOptions::default()).await?);
                self.done.insert(tool);
            }
        }
        for resource in &listing.resources {
            server.read_resource(&text(resource, "uri")).await?;
        }
        for prompt in &listing.prompts {
            let arguments = prompt.get("arguments").and_then(Value::as_array).into_iter().flatten();
            let arguments = arguments.map(|argument| (text(argument, "name"), json!("text"))).collect();
            server.get_prompt(&text(prompt, "name"), arguments).await?;
        }
        Ok(())
    }
}

/// Returns one call of each tool, with the required arguments.
fn calls(tools: &[Value]) -> Vec<(String, Map<String, Value>)> {
    let schemas: Vec<Map<String, Value>> = tools.iter().map(|tool| object(tool, "inputSchema")).collect();
    let call = |(tool, schema): (&Value, &Map<String, Value>)| match text(tool, "name") {
        name if name == ECHO => {
            let other = schemas.iter().find(|other| *other != schema).cloned().unwrap_or_default();
            (name, Map::from_iter([("schema".to_owned(), Value::Object(other))]))
        }
        name => (name, arguments(schema)),
    };
    let called = tools.iter().zip(&schemas).filter(|(tool, _)| text(tool, "name") != LISTED_ONLY);
    called.map(call).collect()
}

/// Returns a value for each required property.
fn arguments(schema: &Map<String, Value>) -> Map<String, Value> {
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let value = |name: &str| {
        let kind = schema.get("properties").and_then(|properties| properties.get(name)?.get("type")?.as_str());
        match kind {
            Some("number" | "integer") => json!(3),
            Some("boolean") => json!(true),
            Some("object") => json!({}),
            Some("array") => json!([]),
            _ => json!("text"),
        }
    };
    required.map(|name| (name.to_owned(), value(name))).collect()
}

fn text(value: &Value, member: &str) -> String {
    value.get(member).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn object(value: &Value, member: &str) -> Map<String, Value> {
    value.get(member).and_then(Value::as_object).cloned().unwrap_or_default()
}
