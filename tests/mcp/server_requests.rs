//! Requests of servers to the client (sampling, elicitation, roots): refused unless configured.

use crate::mcp::support::{Project, hostile, script};
use serde_json::{Value, json};

const BODY: &str = "
    export default {
        sampling: await hostile.askSampling(),
        roots: await hostile.askRoots(),
        question: await hostile.askElicitation({}),
        suggestion: await hostile.askElicitation({ default: 'guest' }),
    };";

fn answers(server: Value) -> (Value, String) {
    let project = Project::with_servers(json!({ "hostile": server }));
    let done = project.run_with(&script(&["hostile"], BODY), &["--json", "--trace-mcp"]);
    let url = format!("file://{}", project.path("").display());
    (done.value(), url)
}

#[test]
fn sampling_elicitation_and_roots_are_refused_by_default() {
    let Some(server) = hostile(&[]) else { return };
    let (answers, _) = answers(server);
    for (asked, what) in
        [("sampling", "sampling"), ("roots", "roots"), ("question", "elicitation"), ("suggestion", "elicitation")]
    {
        let refusal = json!({ "error": { "code": -32601, "message": format!("this client does not offer {what}") } });
        assert_eq!(answers[asked], refusal, "{answers}");
    }
}

#[test]
fn elicitation_and_roots_work_if_configured_and_sampling_never() {
    let Some(mut server) = hostile(&[]) else { return };
    server["elicitation"] = "defaults".into();
    server["roots"] = json!(["."]);
    let (answers, folder) = answers(server);
    assert_eq!(answers["sampling"]["error"]["code"], -32601, "{answers}");
    let root = answers["roots"]["result"]["roots"][0]["uri"].as_str().unwrap_or_else(|| panic!("{answers}"));
    assert_eq!(root.trim_end_matches(['/', '.']), folder.trim_end_matches('/'));
    assert_eq!(answers["question"]["result"]["action"], "decline", "nothing is made up: {answers}");
    assert_eq!(answers["suggestion"]["result"]["action"], "accept", "{answers}");
    assert_eq!(answers["suggestion"]["result"]["content"], json!({ "password": "guest" }));
}
