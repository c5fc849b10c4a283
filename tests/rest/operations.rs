//! Operations of the OpenAPI document, with things to ask about.

use crate::approvals::support::wait_until;
use crate::rest::client::{Api, id, text};
use crate::rest::server::{REMOVES, RestServer};
use serde_json::{Value, json};

/// Operation of the document.
#[derive(Clone, Debug)]
pub(crate) struct Operation {
    /// `POST`.
    pub(crate) method: String,
    /// `/v1/runs/{run}/cancel`.
    pub(crate) template: String,
    /// Path of something that exists.
    pub(crate) path: String,
    /// Names of its path parameters, and of those in the query and in headers.
    pub(crate) in_path: Vec<String>,
    pub(crate) in_query: Vec<String>,
    pub(crate) in_headers: Vec<String>,
    /// Members of its JSON body; `None` if it takes none.
    pub(crate) members: Option<Vec<String>>,
}

impl Operation {
    /// Sends it as it is, with further headers and a body.
    pub(crate) fn send(&self, api: &Api, headers: &[(&str, &str)], body: &[u8]) -> crate::rest::client::Answer {
        self.send_to(api, &self.path, headers, body)
    }

    /// The same to another path or with a query.
    pub(crate) fn send_to(
        &self,
        api: &Api,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> crate::rest::client::Answer {
        let has_type = headers.iter().any(|(name, _)| *name == "content-type");
        let kind = [("content-type", "application/json")];
        let kind = if self.members.is_some() && !has_type { &kind[..] } else { &[] };
        api.send(&self.method, path, &[kind, headers].concat(), body)
    }

    /// Smallest body that it may take.
    pub(crate) fn body(&self) -> &'static [u8] {
        match (self.method.as_str(), self.template.as_str()) {
            ("POST", "/v1/spaces") => br#"{"name":"x"}"#,
            ("PATCH", _) => b"{}",
            ("POST", "/v1/programs") => br#"{"name":"x","source":"1"}"#,
            ("POST", "/v1/spaces/{space}/runs") => br#"{"source":"1"}"#,
            ("POST", "/v1/spaces/{space}/check") => br#"{"source":"1"}"#,
            ("POST", "/v1/spaces/{space}/explain") => br#"{"function":"files.look"}"#,
            ("POST", path) if path.ends_with("/replay") => b"{}",
            ("POST", path) if path.ends_with("/answers") => br#"{"call":1,"outcome":"didNotHappen"}"#,
            ("POST", path) if path.ends_with("/decision") => br#"{"decision":"deny"}"#,
            ("POST", path) if path.ends_with("/accept") => b"{}",
            ("PUT", _) => b"x",
            _ => b"",
        }
    }

    /// Returns the path with another text for one parameter.
    pub(crate) fn with(&self, parameter: &str, value: &str) -> String {
        let own: Vec<&str> = self.path.split('/').collect();
        let parts = self.template.split('/').zip(own);
        let part = |(template, own): (&str, &str)| {
            if template == format!("{{{parameter}}}") { value.to_owned() } else { own.to_owned() }
        };
        parts.map(part).collect::<Vec<_>>().join("/")
    }
}

/// Returns all operations of the document that a server serves. What their paths name exists.
pub(crate) fn operations(served: &RestServer) -> Vec<Operation> {
    let api = served.operator();
    let document = api.get("/openapi.json").with_status(200).json();
    let space = api.new_space();
    let run = api.start(&space, REMOVES);
    let approval = wait_until("it asks", || api.get("/v1/approvals").json()["items"].get(0).map(id));
    api.post("/v1/programs", &json!({ "name": "report", "source": "1" })).with_status(201);
    api.put(&format!("/v1/spaces/{space}/files/own.txt"), b"own").with_status(201);
    let own = json!({
        "space": space, "run": run, "approval": approval, "version": "1", "path": "own.txt", "name": "report",
        "server": "none",
    });
    let mut all = Vec::new();
    for (template, item) in document["paths"].as_object().unwrap() {
        // Answers to HEAD have no body, so that nothing can be said about their problem documents.
        for (method, operation) in item.as_object().unwrap().iter().filter(|(method, _)| *method != "head") {
            let mut path = template.clone();
            for (name, value) in own.as_object().unwrap() {
                path = path.replace(&format!("{{{name}}}"), value.as_str().unwrap());
            }
            let path =
                if template.starts_with("/v1/capabilities/{") { "/v1/capabilities/files".to_owned() } else { path };
            let parameters = operation["parameters"].as_array().cloned().unwrap_or_default();
            let names = |place: &str| -> Vec<String> {
                parameters.iter().filter(|one| one["in"] == place).map(|one| text(&one["name"])).collect()
            };
            all.push(Operation {
                method: method.to_uppercase(),
                template: template.clone(),
                path,
                in_path: names("path"),
                in_query: names("query"),
                in_headers: names("header"),
                members: members(&document, operation),
            });
        }
    }
    assert!(all.len() >= 25, "{all:?}");
    all
}

/// Returns the members of an operation's JSON body.
fn members(document: &Value, operation: &Value) -> Option<Vec<String>> {
    let schema = operation["requestBody"]["content"].get("application/json")?;
    let name = schema["schema"]["$ref"].as_str().and_then(|path| path.rsplit('/').next())?;
    let properties = document["components"]["schemas"][name]["properties"].as_object();
    Some(properties.unwrap_or_else(|| panic!("{name}")).keys().cloned().collect())
}
