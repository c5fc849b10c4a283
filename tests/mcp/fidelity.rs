//! Fidelity of values and errors through servers: another host of this project, the official Python SDK, and raw
//! JSON-RPC.

use super::support::{Project, published, script, with_python};
use serde_json::{Value, json};
use std::time::Duration;

/// A definition whose functions say nothing of what they return.
fn vault() -> Value {
    let function = |name: &str| {
        json!({ "name": name, "description": name, "parameters": { "type": "object", "properties": {
        "what": { "type": "string" } } } })
    };
    json!({ "name": "vault", "description": "Values", "functions": [function("give"), function("fail"), function("slow")] })
}

const HANDLERS: &str = r#"
    const values = {
        nothing: null, yes: true, no: false, zero: 0, number: -2.5, text: 'plain', empty: '', object: { a: [null, { b: 1 }] },
        list: [1, 'x', null], jsonText: '{"a":1}', listText: '[1,2]', nullText: 'null', numberText: '007', lines: 'a\nb',
    };
    export const give = async ({ what }) => values[what];
    export const fail = async ({ what }) => {
        if (what === 'plain') throw new Error('it broke');
        throw new CapabilityError('no such thing', {
            code: 'vault.unknown', retryable: true, details: { hint: 'look elsewhere', tried: [1, null, '{}'] } });
    };
    // An empty loop would have used its fuel before its time.
    export const slow = async () => { for (;;) JSON.stringify(values); };
"#;

const CALLS: &str = "
    const kinds = ['nothing', 'yes', 'no', 'zero', 'number', 'text', 'empty', 'object', 'list', 'jsonText', 'listText',
        'nullText', 'numberText', 'lines'];
    const told = async (work) => { try { return await work() } catch (e) {
        return { code: e.code, message: e.message, retryable: e.retryable, details: e.details ?? null } } };
    const given = {};
    for (const what of kinds) given[what] = await vault.give({ what });
    export default [given, await told(() => vault.fail({})), await told(() => vault.fail({ what: 'plain' })),
        await told(() => vault.give({ what: 5 })), await told(() => vault.slow({}))];";

fn inner() -> Project {
    let project = Project::empty();
    project.write("vault.json", &vault().to_string());
    project.write("vault.ts", HANDLERS);
    project.configure(json!({
        "capabilities": { "global": ["./vault.json"] },
        "policy": { "functions": { "vault.slow": { "timeout": "500ms" } } },
    }));
    project.trust();
    project
}

/// A project as an MCP server of another one.
fn as_server(inner: &Project) -> Value {
    let command = inner.command(&[]);
    let env: serde_json::Map<String, Value> = command
        .get_envs()
        .filter_map(|(name, value)| Some((name.to_str()?.to_owned(), value?.to_str()?.into())))
        .collect();
    json!({
        "command": command.get_program().to_str().unwrap(),
        "args": ["mcp", "serve", "--mode", "proxy", "--expose", "*", "--config", inner.path("agent-spaces.config.json")],
        "env": env,
        "public": env.keys().collect::<Vec<_>>(),
    })
}

#[test]
fn values_and_errors_are_the_same_behind_another_host() {
    let inner = inner();
    let direct = inner.run(&format!("import {{ vault }} from '@capabilities/vault';{CALLS}")).value();
    let outer = Project::with_servers(json!({ "vault": as_server(&inner) }));
    let behind = outer.run(&format!("import {{ vault }} from '@capabilities/mcp-vault';{CALLS}")).value();
    assert_eq!(behind[0], direct[0]);
    for (index, code) in [(1, "vault.unknown"), (2, "call.failed"), (4, "call.timeout")] {
        assert_eq!((&behind[index], &direct[index]["code"]), (&direct[index], &json!(code)));
    }
    // Invalid arguments are refused before they are sent, with the same message but for the capability's name.
    assert_eq!((&behind[3]["code"], &direct[3]["code"]), (&json!("call.invalid"), &json!("call.invalid")));
    // Through two of them as well.
    let outermost = Project::with_servers(json!({ "vault": as_server(&outer) }));
    let far = outermost.run(&format!("import {{ vault }} from '@capabilities/mcp-vault';{CALLS}")).value();
    assert_eq!((&far[0], &far[1]), (&direct[0], &direct[1]));
}

#[test]
fn results_wrapped_by_the_python_sdk_are_unwrapped() {
    let Some(servers) = published() else { return };
    let python = servers.join("venv/bin/python");
    let Some(server) = with_python(&python, "sdk.py", &[]) else { return };
    let project = Project::with_servers(json!({ "sdk": server }));
    let body = "export default [await sdk.add({ a: 1, b: 2 }), await sdk.looksLikeJson(), await sdk.nothing(), await sdk.yes(),
        await sdk.points(), await sdk.maybePoint({ x: 4 }), await sdk.maybePoint({ x: 0 }), await sdk.ownModel(),
        await sdk.members()]";
    assert_eq!(
        project.run(&script(&["sdk"], body)).value(),
        json!([3, "{\"a\": 1}", null, true, [{ "x": 1 }, { "x": 2 }], { "x": 4 }, null, { "result": 3 }, { "result": 5 }])
    );
}

/// JSON-RPC codes have hints, and the server's error data is passed on unless it is too large.
#[test]
fn errors_of_json_rpc_keep_their_code_and_data() {
    let Some(server) = super::support::odd(&[]) else { return };
    let project = Project::with_servers(json!({ "odd": server }));
    let body = "const tried = [() => odd.refuse(), () => odd.noMethod(), () => odd.broken(), () => odd.old(), () => odd.oldText()];
        const all = []; for (const work of tried) all.push(await attempt(work)); export default all";
    let all = project.run(&script(&["odd"], body)).value();
    let of = |index: usize| json!([all[index]["code"], all[index]["message"], all[index]["details"]]);
    let data = json!({ "field": "when", "allowed": ["today", 7, null] });
    let details = json!({ "code": -32602, "data": data, "hint": "invalid_arguments" });
    assert_eq!(of(0), json!(["call.protocol", "no such day", details]));
    assert_eq!(of(1), json!(["call.protocol", "not here", { "code": -32601, "hint": "tool_unavailable" }]));
    assert_eq!(of(2), json!(["call.protocol", "it broke", { "code": -32603 }]));
    assert_eq!((&all[3]["value"], &all[4]["value"]), (&json!({ "a": [1, null] }), &json!("[1]")));
}

/// A policy's timeout starts once the server is connected.
#[test]
fn server_startup_does_not_count_against_the_calls_timeout() {
    let Some(server) = super::support::odd(&["2"]) else { return };
    let project = Project::empty();
    project.configure(json!({
        "mcpServers": { "odd": server },
        "capabilities": { "global": ["mcp:odd"] },
        "policy": { "functions": { "odd.*": { "timeout": "800ms", "idempotent": true, "retries": 3 } } },
    }));
    project.trust();
    let built = project.agent_spaces(&["capabilities", "build"]);
    assert_eq!(built.status, Some(0), "{built:?}");
    let body =
        "const first = await attempt(() => odd.plain()); export default [first, await attempt(() => odd.slow())]";
    let all = project.run(&script(&["odd"], body)).value();
    assert_eq!(all[0]["value"], "done", "{all}");
    assert!(all[0]["ms"].as_f64().unwrap() >= 1_500.0, "it was started for this call: {all}");
    // The call's own time counts, and the call is not retried.
    assert_eq!(all[1]["code"], "call.timeout", "{all}");
    assert!(Duration::from_secs_f64(all[1]["ms"].as_f64().unwrap() / 1e3) < Duration::from_millis(1_600), "{all}");
}
