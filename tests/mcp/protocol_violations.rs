//! Protocol violations of servers: each call ends with the right error and in time, and others go on.

use crate::mcp::support::{Project, hostile, script};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Error of each protocol violation, while other calls of the run go on.
#[test]
fn each_violation_has_its_error_and_others_go_on() {
    let Some(mut server) = hostile(&[]) else { return };
    server["timeout"] = "2s".into();
    let project = Project::with_servers(json!({ "hostile": server }));
    let body = "
        const calls = {
            hang: attempt(() => hostile.hang()),
            silence: attempt(() => hostile.wrongId()),
            half: attempt(() => hostile.garbageOnly()),
            garbage: attempt(() => hostile.garbage()),
            flood: attempt(() => hostile.flood({ megabytes: 8 })),
            line: attempt(() => hostile.flood({ megabytes: 20, one_line: true })),
            twice: attempt(() => hostile.twice()),
            deep: attempt(() => hostile.deep({ depth: 10_000 })),
            number: attempt(() => hostile.badResult({ shape: 'number' })),
            list: attempt(() => hostile.badResult({ shape: 'list' })),
            content: attempt(() => hostile.badResult({ shape: 'content' })),
            failed: attempt(() => hostile.isError({ message: 'no such channel' })),
            refused: attempt(() => hostile.protocolError({ code: -32050, message: 'not today' })),
            first: attempt(() => hostile.echo({ message: 'beside them' })),
        };
        const ended = {};
        for (const name in calls) ended[name] = await calls[name];
        ended.last = await attempt(() => hostile.echo({ message: 'after them' }));
        export default ended;";
    let begun = Instant::now();
    let done = project.run(&script(&["hostile"], body));
    let ended = done.value();
    for name in ["hang", "silence", "half"] {
        assert_eq!(ended[name]["code"], "call.timeout", "{name}: {ended}");
        assert_eq!(ended[name]["message"], "Tool execution timed out", "{name}");
        let (after, spent) = (ended[name]["details"]["afterMs"].as_u64().unwrap(), ended[name]["ms"].as_u64().unwrap());
        assert!((2000..4000).contains(&after) && spent < 6000, "{name}: {ended}");
    }
    for (name, value) in [
        ("garbage", json!("after the garbage")),
        ("flood", json!("flooded")),
        ("line", json!("flooded")),
        ("twice", json!("first")),
        ("first", json!({ "message": "beside them" })),
        ("last", json!({ "message": "after them" })),
    ] {
        assert_eq!(ended[name]["value"], value, "{name}: {ended}");
    }
    for (name, code, text) in [
        ("deep", "call.protocol", "invalid response from the server: recursion limit exceeded"),
        ("number", "call.protocol", "invalid response from the server: its `result` is not an object"),
        ("list", "call.protocol", "invalid response from the server: its `result` is not an object"),
        ("content", "call.protocol", "invalid response from the server: `content` is not a list"),
        ("failed", "call.failed", "no such channel"),
        ("refused", "call.protocol", "not today"),
    ] {
        let message = ended[name]["message"].as_str().unwrap_or_default();
        assert_eq!(ended[name]["code"], code, "{name}: {ended}");
        assert!(message.starts_with(text), "{name}: {message}");
    }
    assert_eq!(ended["refused"]["details"]["code"], -32050);
    let warned = "warning: MCP server hostile: it writes output that is not JSON-RPC to stdout: ";
    assert_eq!(done.stderr.matches(warned).count(), 1, "the operator is told once: {}", done.stderr);
    assert!(begun.elapsed() < Duration::from_secs(30));
}

/// An answer of 50 MB is refused, not kept, and the next call works.
#[test]
fn an_answer_of_50_megabytes_is_refused() {
    let Some(server) = hostile(&[]) else { return };
    let project = Project::with_servers(json!({ "hostile": server }));
    let body = "
        const [huge, beside] = await Promise.all([
            attempt(() => hostile.huge({ megabytes: 50 })), attempt(() => hostile.echo({ message: 'small' })) ]);
        export default { huge, beside, after: await hostile.echo({ message: 'later' }) };";
    let ended = project.run(&script(&["hostile"], body)).value();
    assert_eq!(ended["huge"]["code"], "call.failed", "{ended}");
    assert_eq!(ended["huge"]["message"], "the server's answer is larger than 16777216 bytes");
    assert_eq!(ended["beside"]["value"], json!({ "message": "small" }));
    assert_eq!(ended["after"], json!({ "message": "later" }));
}

/// A server that dies is not asked again for the same call. The next call starts another one; what the
/// dead one left behind is gone.
#[test]
fn a_crashed_server_fails_its_calls_and_is_restarted() {
    for partial in [false, true] {
        let Some(server) = crate::mcp::support::hostile_logging(&[]) else { return };
        let project = Project::with_servers(json!({ "hostile": server }));
        let body = format!(
            "const child = (await hostile.spawn({{ keep_stdout: true }})).child;
            const waiting = attempt(() => hostile.hang());
            const died = await attempt(() => hostile.die({{ partial: {partial} }}));
            const waited = await waiting;
            const at_once = await attempt(() => hostile.echo({{ message: 'too soon' }}));
            await new Promise((resolve) => setTimeout(resolve, 700));
            const later = await attempt(() => hostile.echo({{ message: 'back' }}));
            export default {{ died, waited, at_once, later, child }};"
        );
        let done = project.run(&script(&["hostile"], &body));
        let ended = done.value();
        let lost =
            "the connection to the server ended while the call was under way: it may or may not have taken effect";
        for name in ["died", "waited"] {
            assert_eq!(
                (&ended[name]["code"], &ended[name]["message"]),
                (&json!("call.failed"), &json!(lost)),
                "{ended}"
            );
            assert!(
                ended[name]["ms"].as_u64().unwrap() < 6000,
                "{name} is told by the end, not by its timeout: {ended}"
            );
        }
        assert_eq!(
            ended["at_once"]["code"], "call.unavailable",
            "a server that dies young is not restarted at once: {ended}"
        );
        assert_eq!(ended["at_once"]["retryable"], true);
        assert_eq!(ended["later"]["value"], json!({ "message": "back" }), "{ended}");
        assert!(done.stderr.contains("its process exited (exit status 3)"), "the operator is told: {}", done.stderr);
        let calls = project.lines("log.jsonl");
        let died = calls.iter().filter(|message| message["params"]["name"] == "die").count();
        assert_eq!(died, 1, "a call is sent once");
    }
}

/// A server that ignores the end of its input and SIGTERM is killed with its descendants.
#[test]
fn an_unresponsive_server_is_killed() {
    let Some(server) = hostile(&["--ignore-eof", "--ignore-sigterm", "--log", "log.jsonl"]) else { return };
    let project = Project::with_servers(json!({ "hostile": server }));
    let begun = Instant::now();
    let body = "export default await hostile.spawn({ keep_stdout: true });";
    let pids = project.run(&script(&["hostile"], body)).value();
    assert!(pids["child"].is_u64(), "{pids}");
    assert!(begun.elapsed() < Duration::from_secs(20), "took {:?}", begun.elapsed());
    assert_eq!(project.processes(), [], "all is gone when the command ends");
    let log = project.lines("log.jsonl");
    assert!(log.contains(&json!({ "end": "stdin" })) && log.contains(&json!({ "signal": "SIGTERM" })), "{log:?}");
}

/// A server that never stops writing does not stop the client from working or from ending.
#[test]
fn a_server_that_floods_output_is_still_usable() {
    let Some(server) = hostile(&["--flood-forever"]) else { return };
    let project = Project::with_servers(json!({ "hostile": server }));
    let body = "
        const values = [];
        for (let index = 0; index < 5; index++) values.push((await hostile.echo({ message: `${index}` })).message);
        export default values;";
    assert_eq!(project.run(&script(&["hostile"], body)).value(), json!(["0", "1", "2", "3", "4"]));
}

/// Tools that change while the server runs are held to what was accepted.
#[test]
fn tools_that_change_at_runtime_are_held_to_the_lock() {
    let Some(server) = hostile(&[]) else { return };
    let project = Project::with_servers(json!({ "hostile": server }));
    let body = "
        const before = await hostile.echo({ message: 'before' });
        await hostile.changeTools();
        await new Promise((resolve) => setTimeout(resolve, 300));
        const after = await attempt(() => hostile.echo({ message: 'after' }));
        export default { before, after, other: await hostile.sleep({ ms: 1 }) };";
    let ended: Value = project.run(&script(&["hostile"], body)).value();
    assert_eq!(ended["before"], json!({ "message": "before" }));
    assert_eq!(ended["after"]["code"], "call.denied", "{ended}");
    let message = ended["after"]["message"].as_str().unwrap();
    // What changed is for the operator: it is the server's text, which nobody accepted.
    assert!(message.starts_with("`echo` of the MCP server `hostile` has changed since it was accepted"), "{message}");
    assert_eq!(ended["other"], "slept", "other tools go on");
}
