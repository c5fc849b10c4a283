//! Secrets in the arguments of a call that waits for approval.

use crate::approvals::store::{approvals, pending_ids, token};
use crate::approvals::support::{Home, PipedRun};
use serde_json::json;
use std::path::{Path, PathBuf};

const SECRET: &str = "ghp_0123456789abcdefABCDEF";

const DEFINITION: &str = "import { defineTool } from '@agent-spaces/capabilities';
export const desk = defineTool({ name: 'desk', functions: { send: {
  description: 'Sends', parameters: { token: { type: 'string', required: true } }, returns: {} as string,
  requiresApproval: true, approvalMessage: (params) => `Send ${params.token}?`,
  handler: async ({ token }) => token === process.env.DESK_TOKEN ? 'the one that is configured' : 'another',
} } });";

/// Every file below a folder that holds the secret.
fn holding(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(holding(&path));
        } else {
            let bytes = std::fs::read(&path).unwrap_or_default();
            found.extend(bytes.windows(SECRET.len()).any(|part| part == SECRET.as_bytes()).then_some(path));
        }
    }
    found
}

/// The provider gets what the script sent, and the decision covers exactly that; the secret appears nowhere else.
#[test]
fn a_secret_is_sent_but_neither_shown_nor_stored() {
    let home = Home::new();
    home.write("desk.ts", DEFINITION);
    home.configure(&json!({
        "capabilities": { "global": ["./desk.ts"] },
        "providers": { "@capabilities/desk": { "env": { "DESK_TOKEN": SECRET } } },
        "accounting": { "file": "accounting.jsonl" },
    }));
    let token = token(&home);
    // Put together, so that the script's own file does not hold it.
    let (first, second) = SECRET.split_at(9);
    let run = PipedRun::stored(
        &home,
        &format!(
            "import {{ desk }} from '@capabilities/desk';
            const held = ['{first}', '{second}'].join('');
            console.log('it is', held);
            export default [await desk.send({{ token: held }}), held];"
        ),
        &[],
    );
    let ids = pending_ids(&home, 1);
    let configuration = [home.project("agent-spaces.config.json")];
    assert_eq!(holding(&home.path("")), configuration, "while it waits");
    let text = home.finish(&["approvals", "list"]).stdout;
    assert!(text.contains(r#"{"token":"[redacted]"}"#) && text.contains("Send [redacted]?"), "{text}");
    assert_eq!(approvals(&home, Some(&token), &["approve", &ids[0]]).status, Some(0));
    let ended = run.ends();
    assert_eq!(ended.value(), json!(["the one that is configured", "[redacted]"]));
    assert_eq!(ended.events("callScheduled")[0]["params"], json!({ "token": "[redacted]" }));
    assert_eq!(ended.events("console")[0]["text"], "it is [redacted]");
    assert!(!ended.stdout.contains(SECRET) && !ended.stderr.contains(SECRET), "{ended:?}");
    assert_eq!(holding(&home.path("")), configuration, "afterwards");
    let log = std::fs::read_to_string(home.state().join("audit/log.jsonl")).unwrap();
    assert!(log.contains(r#"{"token":"[redacted]"}"#), "{log}");
}
