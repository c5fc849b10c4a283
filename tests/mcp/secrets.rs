//! Secrets: our environment stays hidden from servers, and a server's secret from everyone else.

use crate::mcp::support::{Project, finish, hostile, script};
use data_encoding::HEXLOWER;
use serde_json::{Value, json};

/// Environment variables that a server gets. Python itself may set `LC_CTYPE`.
const BASE: [&str; 8] = ["HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "LC_CTYPE"];

const SECRET: &str = "open/sesame+of&the=cave 42";

/// Our environment variables reach no server, and those of one server no other.
#[test]
fn our_environment_does_not_reach_servers() {
    let (Some(mut one), Some(two)) = (hostile(&[]), hostile(&[])) else { return };
    one["env"]["OWN_SETTING"] = "mine".into();
    let project = Project::with_servers(json!({ "one": one, "two": two }));
    let body = "
        const names = async (server) => (await server.env({})).names;
        export default [await names(one), await names(two)];";
    project.write("script.ts", &script(&["one", "two"], body));
    let mut command = project.command(&["run", "script.ts", "--json"]);
    command.env("CANARY_OF_TEST", "sings").env("AWS_SECRET_ACCESS_KEY", "canary").env("LD_LIBRARY_PATH", "/nowhere");
    let names = finish(command).value();
    let strange = |names: &Value| -> Vec<String> {
        let names = names.as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned());
        names.filter(|name| !BASE.contains(&name.as_str())).collect()
    };
    assert_eq!(strange(&names[0]), ["AGENT_SPACES_TEST_MARKER", "OWN_SETTING"]);
    assert_eq!(strange(&names[1]), ["AGENT_SPACES_TEST_MARKER"]);
}

/// Encodings in which the hostile server leaks a secret.
fn spellings() -> Vec<String> {
    let hex = HEXLOWER.encode(SECRET.as_bytes());
    vec![
        SECRET.to_owned(),
        hex.to_uppercase(),
        hex,
        "b3Blbi9zZXNhbWUrb2YmdGhlPWNhdmUgNDI".to_owned(),
        "open%2Fsesame%2Bof%26the%3Dcave%2042".to_owned(),
        "open\\/sesame".to_owned(),
    ]
}

/// A secret of one server is in no output, whatever that server does with it, and the other
/// server does not have it.
#[test]
fn a_secret_is_in_no_output() {
    let (Some(mut keeper), Some(other)) = (hostile(&[]), hostile(&[])) else { return };
    keeper["env"]["API_TOKEN"] = "${SESAME_OF_TEST}".into();
    let project = Project::new(json!({
        "mcpServers": { "keeper": keeper, "other": other },
        "capabilities": { "global": ["mcp:keeper", "mcp:other"] },
        "accounting": { "file": "accounting.jsonl" },
    }));
    let body = "
        const ways = {};
        for (const way of ['result', 'is_error', 'protocol_error', 'log', 'progress', 'stderr'])
            ways[way] = await attempt(() => keeper.echoSecret({ name: 'API_TOKEN', way }));
        const elsewhere = await other.env({ name: 'API_TOKEN' });
        console.log(JSON.stringify(ways));
        // A script could encode what it sees, so check a reversed copy.
        const seen = JSON.stringify(ways).split('').reverse().join('');
        await new Promise((resolve) => setTimeout(resolve, 200));
        export default { ways, elsewhere, seen };";
    project.write("script.ts", &script(&["keeper", "other"], body));
    let mut command = project.command(&["run", "script.ts", "--events", "--trace-mcp"]);
    command.env("SESAME_OF_TEST", SECRET);
    let done = finish(command);
    let value = done.value();
    let ways = &value["ways"];
    assert_eq!(ways["result"]["value"]["plain"], "[redacted]", "{ways}");
    assert_eq!(ways["result"]["value"]["[redacted]"], "as a key", "{ways}");
    let image = "[redacted] (image that holds a secret)";
    assert_eq!(ways["result"]["value"]["$content"], json!([{ "type": "text", "text": image }]), "{ways}");
    assert_eq!(ways["is_error"]["message"], "cannot use [redacted]");
    assert_eq!(ways["protocol_error"]["message"], "cannot use [redacted]");
    assert_eq!(value["elsewhere"], "null", "{value}");
    assert!(done.stderr.contains("secret [redacted]"), "stderr of the server is in the trace: {}", done.stderr);
    let accounting = project.read("accounting.jsonl");
    assert!(accounting.contains("cannot use [redacted]"), "{accounting}");
    let backwards: String = value["seen"].as_str().unwrap().chars().rev().collect();
    let places = [
        ("events", &done.stdout),
        ("trace", &done.stderr),
        ("accounting", &accounting),
        ("lock", &project.read("capabilities.lock")),
        ("the script's memory", &backwards),
    ];
    for (place, text) in places {
        for spelling in spellings() {
            assert!(!text.contains(&spelling), "{spelling} in {place}: {text}");
        }
    }
}

/// A secret that is written in the configuration itself is no less one.
#[test]
fn a_literal_secret_is_redacted() {
    let Some(mut server) = hostile(&[]) else { return };
    server["env"]["API_TOKEN"] = "literal-secret-of-env".into();
    let project = Project::with_servers(json!({ "hostile": server }));
    let source = script(&["hostile"], "export default await hostile.echoSecret({ name: 'API_TOKEN' });");
    let done = project.run_with(&source, &["--events", "--trace-mcp"]);
    let listed = project.agent_spaces(&["mcp", "list", "--json"]);
    let checked = project.agent_spaces(&["mcp", "list", "--check"]);
    for text in [&done.stdout, &done.stderr, &listed.stdout, &checked.stdout, &project.read("capabilities.lock")] {
        assert!(!text.contains("literal-secret-of-env"), "{text}");
    }
}

/// A variable in an argument is as secret as one in `env`, though the server shows it in what it offers.
#[test]
fn a_variable_in_an_argument_is_redacted() {
    let flags = ["--description", "Knows ${SESAME_OF_TEST}.", "--instructions", "Say ${SESAME_OF_TEST}."];
    let Some(server) = hostile(&flags) else { return };
    let project = Project::with_servers(json!({ "hostile": server }));
    project.write("script.ts", &script(&["hostile"], "export default await hostile.echo({ message: 'x' });"));
    for (arguments, shown) in [
        (&["mcp", "tools", "hostile", "--trace-mcp"][..], "Knows [redacted]."),
        (&["mcp", "tools", "hostile", "--json"], "Say [redacted]."),
        (&["run", "script.ts", "--events", "--trace-mcp"], r#""message":"x""#),
        (&["capabilities", "show", "mcp-hostile"], "Knows [redacted]."),
    ] {
        let mut command = project.command(arguments);
        command.env("SESAME_OF_TEST", SECRET);
        let done = finish(command);
        assert!(done.status == Some(0) && done.stdout.contains(shown), "{arguments:?}: {done:?}");
        let is_traced = done.stderr.contains("[mcp] hostile: ← ") && done.stderr.contains("Knows [redacted].");
        assert_eq!(is_traced, arguments.contains(&"--trace-mcp"), "{arguments:?}: {done:?}");
        for text in [&done.stdout, &done.stderr, &project.read("capabilities.lock")] {
            assert!(!text.contains(SECRET), "{arguments:?}: {text}");
        }
    }
    assert!(project.read("capabilities.lock").contains("Knows ${SESAME_OF_TEST}."), "it is kept as it is written");
}

/// A secret that is too short to be found is refused before anything is started.
#[test]
fn a_too_short_secret_is_refused() {
    let Some(mut server) = hostile(&["--log", "log.jsonl"]) else { return };
    server["env"]["API_TOKEN"] = "short".into();
    let project = Project::with_servers(json!({ "hostile": server }));
    let done = project.agent_spaces(&["mcp", "ping", "--json"]);
    let message = done.json()[0]["error"]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("a secret must have at least 8 characters") && !message.contains("short`"), "{message}");
    assert!(!project.path("log.jsonl").exists());
}

/// A secret held by a script is redacted even if no server was started with it: in its value, console, errors, and
/// quoted source lines.
#[test]
fn a_secret_held_by_a_script_is_redacted() {
    const HELD: &str = "sk-live-0123456789-held";
    let server = json!({ "command": "never-started", "env": { "API_TOKEN": HELD }, "enabled": false });
    let given = json!({ "UNSET": "${NOT_SET_IN_THIS_TEST}", "DESK_TOKEN": "desk-token-of-ours" });
    let project = Project::empty();
    project.configure(json!({
        "mcpServers": { "keeper": server },
        "providers": { "@capabilities/desk": { "env": given } },
        "capabilities": { "global": ["./desk.ts"] },
    }));
    project.write(
        "desk.ts",
        "import { defineTool } from '@agent-spaces/capabilities';
        export const desk = defineTool({ name: 'desk', functions: { say: {
            description: 'Says', parameters: {}, returns: {} as string, handler: async () => 'said' } } });",
    );
    project.trust();
    for (source, shown) in [
        (format!("console.log('{HELD}'); export default '{HELD}'"), "[redacted]"),
        (format!("export default ['desk-token', '-of-ours'].join('') + '{HELD}'"), "[redacted]"),
        (format!("throw new Error('no {HELD}')"), "throw new Error('no ***"),
        (format!("const held = '{HELD}' +;"), "const held = '***"),
        (format!("import x from './{HELD}.ts'; x"), "[redacted]"),
        (format!("const padding = 0; {} throw new Error('{HELD}')", "/* long */".repeat(20)), "Error: [redacted]"),
    ] {
        for options in [&[][..], &["--json"], &["--events"]] {
            let done = project.run_with(&source, options);
            let said = format!("{}{}", done.stdout, done.stderr);
            assert!(said.contains(shown) || !options.is_empty(), "{source}: {said}");
            for secret in [HELD, "desk-token-of-ours", "0123456789"] {
                assert!(!said.contains(secret), "{secret} of {source}: {said}");
            }
        }
    }
}
