//! Programs run by an agent.

use crate::mcp::support::{Project, eventually, hostile, hostile_logging};
use crate::serve::agent::{Agent, text};
use serde_json::json;
use std::time::{Duration, Instant};

#[test]
fn a_program_returns_its_value_and_output() {
    let Some(server) = hostile(&[]) else { return };
    let project = Project::with_servers(json!({ "odd": server }));
    let mut agent = Agent::of(&project, &[]);
    let result = agent.run(
        "import { odd } from '@capabilities/mcp-odd';
        const said: string[] = await Promise.all(['a', 'b'].map(async (message) => (await odd.echo({ message })).message));
        console.log('two calls');
        export default said.join('+');",
    );
    assert_eq!(result["isError"], false, "{result}");
    assert_eq!(text(&result), "a+b\n\nconsole:\ntwo calls");
    let structured = &result["structuredContent"];
    assert_eq!(structured["value"], "a+b");
    assert_eq!(structured["console"], json!(["two calls"]));
    assert_eq!(structured["usage"]["calls"], 2);
}

#[test]
fn an_error_has_cause_location_and_hint() {
    let Some(server) = hostile(&[]) else { return };
    let project = Project::with_servers(json!({ "odd": server }));
    let mut agent = Agent::of(&project, &[]);
    let cases = [
        ("import { odd } from '@capabilities/mcp-od';\nexport default odd", "@capabilities/mcp-odd"),
        ("import { odd } from '@capabilities/mcp-odd';\nexport default await odd.ecko({})", "odd.ecko"),
        ("import { odd } from '@capabilities/mcp-odd';\nexport default await odd.echo({ mesage: 'x' })", "message"),
        ("const text: string = ;", "> 1 | const text: string = ;"),
        ("let number = 1;\nnumber.missing.member;", "> 2 | number.missing.member;"),
        ("for (;;);", "limit.fuel"),
    ];
    for (code, expected) in cases {
        let result = agent.run(code);
        assert_eq!(result["isError"], true, "{code}: {result}");
        assert!(text(&result).contains(expected), "{code}: {}", text(&result));
        assert_eq!(result["structuredContent"]["status"], "failed", "{result}");
    }
    // The server is none the worse for it.
    assert_eq!(text(&agent.run("export default 1 + 1")), "2");
    let mistaken = [
        json!({}),
        json!({ "code": "1", "resume": "run_1" }),
        json!({ "resume": "run_1" }),
        json!({ "code": 1 }),
        json!({ "code": "1", "decision": "approve" }),
        json!({ "code": "1", "timeout": 0 }),
        json!({ "code": "1", "timeout": 1e9 }),
        json!({ "code": "1", "timeout": -1 }),
    ];
    for arguments in mistaken {
        assert_eq!(agent.call("run_code", arguments.clone())["isError"], true, "{arguments}");
    }
    assert!(agent.ask("tools/call", json!({ "name": "no_such_tool" })).get("error").is_some());
}

/// Warnings of `agent-spaces run` reach an agent too.
#[test]
fn an_agent_sees_the_output_of_a_command() {
    let Some(server) = hostile(&[]) else { return };
    let project = Project::with_servers(json!({ "odd": server }));
    let mut agent = Agent::of(&project, &[]);
    agent.search("echo");
    for (code, expected) in [
        ("const m = './x';\nexport default await import(m)", "hint: write the module's name in the call"),
        ("export default await odd.echo({ message: 'a' })", "add `import { odd } from '@capabilities/mcp-odd'`"),
        ("import axios from 'axios';\nexport default axios", "hint: scripts cannot import npm packages; "),
        ("import x from './x';\nexport default x", "hint: available modules: @"),
        ("function check() { throw new Error('no') }\ncheck()", "\n  at check (program.ts:1:26)\n  at "),
    ] {
        let result = agent.run(code);
        assert!(text(&result).contains(expected), "{code}: {}", text(&result));
    }
}

#[test]
fn a_large_value_is_paged_without_loss() {
    let project = Project::with_servers(json!({}));
    let mut agent = Agent::of(&project, &[]);
    let mut result = agent.run("export default Array.from({ length: 9000 }, (_, number) => ({ number }))");
    let mut read = String::new();
    let mut parts = 0;
    loop {
        parts += 1;
        let part = result["structuredContent"]["part"].as_str().unwrap();
        assert!(part.chars().count() <= 20_000 && text(&result).starts_with(part));
        read += part;
        let Some(next) = result["structuredContent"]["resume"].as_str().map(str::to_owned) else { break };
        assert!(text(&result).contains("more characters"), "the cut is seen");
        result = agent.call("run_code", json!({ "resume": next }));
    }
    let expected: Vec<_> = (0..9000).map(|number| json!({ "number": number })).collect();
    assert_eq!(read, json!(expected).to_string());
    assert!(parts > 3);
}

#[test]
fn images_are_returned_as_images() {
    let Some(server) = hostile(&[]) else { return };
    let project = Project::with_servers(json!({ "odd": server }));
    let mut agent = Agent::of(&project, &[]);
    let result = agent.run(
        "import { odd } from '@capabilities/mcp-odd';
        export default { seen: await odd.image({}) };",
    );
    let image = result["content"].as_array().unwrap().iter().find(|block| block["type"] == "image");
    let image = image.unwrap_or_else(|| panic!("{result}"));
    assert_eq!(image["mimeType"], "image/png");
    assert!(image["data"].as_str().unwrap().starts_with("iVBORw0KGgo"));
    assert!(text(&result).contains("[image 1]") && !text(&result).contains("iVBOR"), "{result}");
}

#[test]
fn a_long_run_returns_a_handle_and_can_be_resumed() {
    let Some(server) = hostile(&[]) else { return };
    let project = Project::with_servers(json!({ "odd": server }));
    let mut agent = Agent::of(&project, &[]);
    agent.search("sleep");
    let code = "import { odd } from '@capabilities/mcp-odd';
        await odd.sleep({ ms: 4000 });
        export default 'rested';";
    let begun = Instant::now();
    let result = agent.call("run_code", json!({ "code": code, "wait": 0.3 }));
    assert!(begun.elapsed() < Duration::from_millis(3_900), "{:?}", begun.elapsed());
    assert_eq!(result["structuredContent"]["status"], "running", "{result}");
    assert_eq!(result["isError"], false);
    let handle = result["structuredContent"]["resume"].as_str().unwrap().to_owned();
    assert!(text(&result).contains(&handle));
    let result = agent.call("run_code", json!({ "resume": handle }));
    assert_eq!(result["structuredContent"]["value"], "rested", "{result}");
    // It can be asked for again.
    let result = agent.call("run_code", json!({ "resume": handle }));
    assert_eq!(text(&result), "rested");
}

#[test]
fn a_client_gets_progress_of_a_run() {
    let Some(server) = hostile(&[]) else { return };
    let project = Project::with_servers(json!({ "odd": server }));
    let mut agent = Agent::of(&project, &[]);
    let code = "import { odd } from '@capabilities/mcp-odd';
        for (let number = 0; number < 3; number++) await odd.sleep({ ms: 300 });
        export default 'done';";
    let params = json!({ "name": "run_code", "arguments": { "code": code }, "_meta": { "progressToken": "how-far" } });
    let answer = agent.ask("tools/call", params);
    assert_eq!(answer["result"]["structuredContent"]["value"], "done", "{answer}");
    let told: Vec<_> = agent.notifications.iter().filter(|each| each["method"] == "notifications/progress").collect();
    assert!(told.len() >= 2, "{told:?}");
    assert!(told.iter().all(|each| each["params"]["progressToken"] == "how-far"), "{told:?}");
    let steps: Vec<f64> = told.iter().map(|each| each["params"]["progress"].as_f64().unwrap()).collect();
    assert!(steps.is_sorted_by(|first, second| first < second), "{steps:?}");
    assert!(told.iter().any(|each| each["params"]["message"].as_str().unwrap().contains("odd.sleep")), "{told:?}");
}

#[test]
fn a_client_is_notified_that_its_program_is_queued() {
    let Some(server) = hostile(&[]) else { return };
    let project = Project::with_servers(json!({ "odd": server }));
    let mut agent = Agent::of(&project, &[]);
    agent.search("sleep");
    let code = "import { odd } from '@capabilities/mcp-odd';\nexport default await odd.sleep({ ms: 4000 });";
    // One more than there are places.
    let begun: Vec<(u64, String)> = (0..11)
        .map(|number| {
            let token = format!("run-{number}");
            let arguments = json!({ "code": code });
            let meta = json!({ "progressToken": token });
            (agent.begin("tools/call", json!({ "name": "run_code", "arguments": arguments, "_meta": meta })), token)
        })
        .collect();
    for (id, _) in &begun {
        let answer = agent.answer(*id);
        assert_eq!(answer["result"]["isError"], false, "{answer}");
    }
    let said = |token: &str| -> Vec<&str> {
        let own = agent.notifications.iter().filter(|each| each["params"]["progressToken"] == token);
        own.filter_map(|each| each["params"]["message"].as_str()).collect()
    };
    let waited: Vec<_> =
        begun.iter().map(|(_, token)| said(token)).filter(|said| said[0] == "waiting for another run to end").collect();
    assert_eq!(waited.len(), 1, "{:?}", agent.notifications);
    assert!(waited[0].iter().any(|message| message.contains("odd.sleep")), "{waited:?}");
}

#[test]
fn a_cancelled_request_ends_only_its_run() {
    let Some(server) = hostile_logging(&[]) else { return };
    let project = Project::with_servers(json!({ "odd": server }));
    let mut agent = Agent::of(&project, &[]);
    agent.search("sleep");
    let program = |ms: u32| {
        let code =
            format!("import {{ odd }} from '@capabilities/mcp-odd';\nexport default await odd.sleep({{ ms: {ms} }});");
        json!({ "name": "run_code", "arguments": { "code": code } })
    };
    let ended = agent.begin("tools/call", program(20_000));
    let is_called = || project.read("log.jsonl").contains("20000");
    assert!(eventually(Duration::from_secs(10), is_called), "the call has begun");
    let other = agent.begin("tools/call", program(700));
    agent.notify("notifications/cancelled", json!({ "requestId": ended, "reason": "a change of mind" }));
    let is_cancelled = || project.read("log.jsonl").contains("notifications/cancelled");
    assert!(eventually(Duration::from_secs(5), is_cancelled), "the server was not told");
    let answer = agent.answer(other);
    assert_eq!(answer["result"]["isError"], false, "{answer}");
}

#[test]
fn a_disconnected_client_leaves_no_process_behind() {
    let Some(server) = hostile(&[]) else { return };
    let project = Project::with_servers(json!({ "odd": server }));
    let mut agent = Agent::of(&project, &[]);
    let code = "import { odd } from '@capabilities/mcp-odd';\nexport default await odd.sleep({ ms: 60000 });";
    agent.begin("tools/call", json!({ "name": "run_code", "arguments": { "code": code } }));
    assert!(eventually(Duration::from_secs(10), || !project.processes().is_empty()));
    assert_eq!(agent.disconnect(), Some(0));
    project.assert_nothing_left();
}

/// A configured secret in an agent's program is redacted from its answers.
#[test]
fn a_secret_held_by_a_program_is_redacted() {
    const HELD: &str = "sk-live-0123456789-held";
    let server = json!({ "command": "never-started", "env": { "API_TOKEN": HELD } });
    let project = Project::new(json!({ "mcpServers": { "keeper": server } }));
    let mut agent = Agent::of(&project, &[]);
    let spelt: String = HELD.chars().map(|character| format!("&#{};", u32::from(character))).collect();
    for (code, shown) in [
        (
            format!("console.log('{HELD}'); export default {{ '{HELD}': ['sk-live', '-0123456789-held'].join('') }}"),
            "[redacted]",
        ),
        (format!("export default '<p>{spelt}</p>'"), "<p>[redacted]</p>"),
        (format!("const held = '{HELD}';\nheld.missing.member;"), "> 2 | held.missing.member;"),
        (format!("const held = '{HELD}' +;"), "> 1 | const held = '***"),
        (format!("throw new Error('{HELD}')"), "[redacted]"),
    ] {
        let result = agent.run(&code);
        assert!(text(&result).contains(shown), "{code}: {result}");
        let said = result.to_string();
        assert!(!said.contains(HELD) && !said.contains("0123456789") && !said.contains(&spelt), "{code}: {said}");
    }
    let wrong = agent.call("run_code", json!({ "code": "1", HELD: 1 })).to_string();
    assert!(!wrong.contains(HELD), "{wrong}");
}
