//! A question over plain HTTP: a body of JSON, or a query.

use crate::asking::Asking;
use crate::bounds::MAX_QUERY;
use crate::failure::Failure;
use crate::json::{self, Object};
use crate::openai::messages;
use crate::parts::{Conversation, answer_schema};
use agent_spaces_agent::{OutputFormat, Sampling, SessionChoice};
use agent_spaces_models::ToolChoice;
use serde_json::Value;
use url::form_urlencoded;

const MEMBERS: [&str; 7] = ["question", "messages", "system", "format", "schema", "session", "stream"];
const PARAMETERS: [&str; 5] = ["q", "format", "schema", "session", "stream"];

/// A question.
#[derive(Debug)]
pub(super) struct AgentRequest {
    pub(super) asking: Asking,
    pub(super) is_streamed: bool,
}

/// Reads a query as members of a body: they have the same meaning there.
pub(super) fn query(query: Option<&str>) -> Result<Object, Failure> {
    let query = query.unwrap_or_default();
    if query.len() > MAX_QUERY {
        return Err(Failure::invalid(
            "query",
            format!("The query is longer than {} KiB: send a body", MAX_QUERY >> 10),
        ));
    }
    let mut members = Object::new();
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        if !PARAMETERS.contains(&&*name) {
            let name: String = name.chars().take(100).collect();
            return Err(Failure::invalid(name, format!("unknown parameter: expected {}", PARAMETERS.join(", "))));
        }
        let read = match &*name {
            "stream" => value.parse().map(Value::Bool).map_err(|_| "expected `true` or `false`".to_owned()),
            "schema" => serde_json::from_str(&value).map_err(|error| format!("it is not JSON: {error}")),
            _ => Ok(Value::String(value.into_owned())),
        };
        let read = read.map_err(|fault| Failure::invalid(&*name, format!("`{name}` is wrong: {fault}")))?;
        let key = if name == "q" { "question" } else { &*name };
        if members.insert(key.to_owned(), read).is_some() {
            return Err(Failure::invalid(&*name, format!("`{name}` is there twice")));
        }
    }
    Ok(members)
}

/// Reads a question. Members of the query count where the body has none.
pub(super) fn read(agent: &str, mut body: Object, query: Object) -> Result<AgentRequest, Failure> {
    if let Some(unknown) = body.keys().find(|key| !MEMBERS.contains(&key.as_str())) {
        let unknown: String = unknown.chars().take(100).collect();
        return Err(Failure::invalid(unknown, format!("unknown member: expected {}", MEMBERS.join(", "))));
    }
    for (key, value) in query {
        body.entry(key).or_insert(value);
    }
    let is_whole = json::list(&body, "messages", "")?.is_some();
    let conversation = conversation(&body)?;
    let own_system = json::text(&body, "system", "")?.map(str::to_owned);
    let system: Vec<String> = own_system.into_iter().chain(conversation.system()).collect();
    let asking = Asking {
        agent: agent.to_owned(),
        session: session(&body, is_whole)?,
        system: (!system.is_empty()).then(|| system.join("\n\n")),
        messages: conversation.messages,
        caller_tools: Vec::new(),
        tool_choice: ToolChoice::Auto,
        output: output(&body)?,
        sampling: Sampling::default(),
    };
    Ok(AgentRequest { asking, is_streamed: json::boolean(&body, "stream", "")?.unwrap_or_default() })
}

fn conversation(body: &Object) -> Result<Conversation, Failure> {
    match (json::text(body, "question", "")?, json::list(body, "messages", "")?) {
        (Some(question), None) if !question.trim().is_empty() => Ok(Conversation::question(question)),
        (None, Some(messages)) => messages::read(messages),
        (Some(_), Some(_)) => Err(Failure::invalid("messages", "send `question` or `messages`, not both")),
        _ => Err(Failure::invalid("question", "there is no question: send `question` (in a query: `q`) or `messages`")),
    }
}

/// Reads the session. A caller that sends a whole conversation keeps it by itself.
fn session(body: &Object, is_whole: bool) -> Result<SessionChoice, Failure> {
    match json::text(body, "session", "")? {
        None if is_whole => Ok(SessionChoice::None),
        None | Some("new") => Ok(SessionChoice::New),
        Some("none") => Ok(SessionChoice::None),
        Some(_) => Ok(SessionChoice::Resume(json::id(body, "session", "")?.to_owned())),
    }
}

fn output(body: &Object) -> Result<Option<OutputFormat>, Failure> {
    let schema = json::object(body, "schema", "")?.map(|schema| answer_schema(schema, "schema")).transpose()?;
    match (json::text(body, "format", "")?, schema) {
        (None, None) => Ok(None),
        (Some("text"), None) => Ok(Some(OutputFormat::Text)),
        (Some("markdown"), None) => Ok(Some(OutputFormat::Markdown)),
        (None | Some("json"), Some(schema)) => Ok(Some(OutputFormat::Json(schema))),
        (Some("json"), None) => {
            Err(Failure::invalid("schema", "`format` is `json`: send the JSON Schema of the answer as `schema`"))
        }
        (Some("text" | "markdown"), Some(_)) => {
            Err(Failure::invalid("schema", "`schema` is for `format` `json` alone"))
        }
        _ => Err(Failure::invalid("format", "`format` is wrong: expected `text`, `markdown` or `json`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_spaces_models::Message;
    use serde_json::json;

    fn read_json(body: Value) -> Result<AgentRequest, Failure> {
        read("planner", body.as_object().cloned().unwrap(), Object::new())
    }

    #[test]
    fn a_question_begins_a_session_and_a_conversation_does_not() {
        let asking = read_json(json!({ "question": "hi" })).unwrap().asking;
        assert_eq!((asking.messages, asking.session), (vec![Message::user("hi")], SessionChoice::New));
        let messages = json!([{ "role": "system", "content": "b" }, { "role": "user", "content": "hi" }]);
        let asking = read_json(json!({ "messages": messages, "system": "a" })).unwrap().asking;
        assert_eq!((asking.system.as_deref(), asking.session), (Some("a\n\nb"), SessionChoice::None));
        let asking = read_json(json!({ "question": "hi", "session": "ses_1" })).unwrap().asking;
        assert_eq!(asking.session, SessionChoice::Resume("ses_1".to_owned()));
    }

    #[test]
    fn queries_have_the_same_members() {
        let members = query(Some("q=What%20is+one%3F&format=json&schema=%7B%7D&stream=true&session=none")).unwrap();
        let request = read("planner", Object::new(), members).unwrap();
        assert_eq!(request.asking.messages, vec![Message::user("What is one?")]);
        assert_eq!(request.asking.output, Some(OutputFormat::Json(json!({}))));
        assert!(request.is_streamed);
        for wrong in ["question=x", "q=a&q=b", "q=a&schema=%7B", "q=a&stream=1"] {
            assert!(query(Some(wrong)).is_err(), "{wrong}");
        }
        assert!(query(Some(&"x".repeat(MAX_QUERY + 1))).is_err());
    }

    #[test]
    fn the_body_counts_before_the_query() {
        let body = json!({ "question": "hi", "format": "text" }).as_object().cloned().unwrap();
        let request = read("planner", body, query(Some("format=markdown")).unwrap()).unwrap();
        assert_eq!(request.asking.output, Some(OutputFormat::Text));
    }

    #[test]
    fn wrong_members_are_named() {
        let place = |body: Value| read_json(body).unwrap_err().param.unwrap();
        assert_eq!(place(json!({})), "question");
        assert_eq!(place(json!({ "question": " " })), "question");
        assert_eq!(place(json!({ "question": "a", "messages": [] })), "messages");
        assert_eq!(place(json!({ "question": "a", "questions": "b" })), "questions");
        assert_eq!(place(json!({ "question": "a", "format": "json" })), "schema");
        assert_eq!(place(json!({ "question": "a", "format": "yaml" })), "format");
        assert_eq!(place(json!({ "question": "a", "format": "text", "schema": {} })), "schema");
    }
}
