//! Suggestions for misspelt names.

use super::{agent_spaces, agent_spaces_in, last_line};
use serde_json::{Value, json};

const OFFICE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/type_check/office.json");

fn stderr(output: &std::process::Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_typo_in_an_unused_import_is_a_warning() {
    let script = "import { fs } from '@agent-spaces/sdt';\n5";
    let told = "script.ts:1:20: Cannot find module '@agent-spaces/sdt'; nothing uses it, so it was left out; did you mean '@agent-spaces/std'?";
    let output = agent_spaces(&["run", "-"], script);
    assert_eq!((String::from_utf8_lossy(&output.stdout).as_ref(), output.status.code()), ("5\n", Some(0)));
    let text = stderr(&output);
    assert!(text.contains("warning") && text.contains(told), "{text}");
    let report = last_line(&agent_spaces(&["run", "-", "--json"], script));
    assert_eq!(
        (&report["value"], report["warnings"][0]["code"].as_str()),
        (&json!(5), Some("import.unknown")),
        "{report}"
    );
    assert_eq!(report["warnings"][0]["location"]["line"], 1, "{report}");
    let fine = last_line(&agent_spaces(&["run", "-", "--json"], "import { fs } from '@agent-spaces/std'; 5"));
    assert_eq!(fine["warnings"], Value::Null);
}

#[test]
fn an_unknown_capability_comes_with_a_suggestion() {
    let show = |name: &str| stderr(&agent_spaces(&["capabilities", "show", name, OFFICE], ""));
    for (slip, meant) in
        [("wether", "weather"), ("@capabilities/ofice", "@capabilities/office"), ("Tracker", "tracker")]
    {
        assert!(show(slip).contains(&format!("did you mean `{meant}`?")), "{}", show(slip));
    }
    let stranger = show("slack");
    assert!(stranger.contains("there is no capability `slack`") && !stranger.contains("did you mean"), "{stranger}");
}

#[test]
fn an_unknown_server_comes_with_a_suggestion() {
    let folder = tempfile::tempdir().unwrap();
    let check = |entry: &str| {
        let config = json!({
            "mcpServers": { "github": { "command": "true" } }, "capabilities": { "global": [entry] },
        });
        std::fs::write(folder.path().join("agent-spaces.config.json"), config.to_string()).unwrap();
        stderr(&agent_spaces_in(folder.path(), &["run", "-"], "1"))
    };
    let near = check("mcp:gihtub");
    assert!(near.contains("did you mean `mcp:github`?"), "{near}");
    let stranger = check("mcp:slack");
    assert!(
        stranger.contains("there is no capability `mcp:slack`") && !stranger.contains("did you mean"),
        "{stranger}"
    );
}
