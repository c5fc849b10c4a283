//! TypeScript handlers: their access, and misbehaving ones.

use crate::standard::support::{Project, Reply, Site};
use serde_json::{Value, json};

/// A project whose scripts have a capability `desk` with one function `do`, whose handler has this body; and what the
/// configuration gives it.
fn project(body: &str, given: Value) -> Project {
    let project = Project::empty();
    let definition = format!(
        "import {{ defineTool }} from '@agent-spaces/capabilities';
         let kept = 0;
         const all = [];
         export const desk = defineTool({{ name: 'desk', functions: {{ do: {{
           description: 'Does', parameters: {{ what: {{ type: 'string', required: true }} }}, returns: {{}} as string,
           handler: async ({{ what }}) => {{ {body} }},
         }} }} }});"
    );
    project.write("capabilities/desk.ts", definition);
    let providers = json!({ "@capabilities/desk": given });
    project.configure(json!({
        "capabilities": { "global": ["./capabilities/desk.ts"] }, "providers": providers, "spaces": { "work": {} },
    }));
    project
}

const SCRIPT: &str = "import { desk } from '@capabilities/desk';
    const attempt = (what: string) => desk.do({ what }).catch((error) => `${error.name} ${error.code}: ${error.message}`);";

/// Returns the results of sequential calls with these arguments.
fn calls(project: &Project, words: &[&str]) -> Vec<String> {
    let (count, words) = (words.len(), serde_json::to_string(words).unwrap());
    let done = project.run(&format!(
        "{SCRIPT} const said = []; for (const word of {words}) said.push(await attempt(word)); export default said;"
    ));
    let value = done.value();
    let said = value.as_array().unwrap();
    assert_eq!(said.len(), count, "{value}");
    said.iter().map(|each| each.as_str().unwrap_or("(no text)").to_owned()).collect()
}

#[test]
fn a_misbehaving_handler_fails_only_its_call() {
    let body = "
        if (what === 'loop') for (;;);
        if (what === 'wait') await new Promise((resolve) => setTimeout(resolve, 60000));
        if (what === 'never') await new Promise(() => {});
        if (what === 'throw') throw 7;
        if (what === 'object') throw { secret: 1 };
        if (what === 'error') throw new RangeError('too far');
        if (what === 'own') throw new CapabilityError('not there', { code: 'desk.missing', details: { what } });
        if (what === 'posing') throw new CapabilityError('mine', { code: 'limit.fuel' });
        if (what === 'denying') throw new CapabilityError('no', { code: 'call.approval_denied' });
        if (what === 'wrong') return 5 as any;
        if (what === 'leak') for (;;) all.push(new Array(100000).fill(what));
        if (what === 'deep') { const down = () => down() + 1; return String(down()); }
        return `did ${what}`;";
    let project =
        project(body, json!({ "limits": { "time": "1s", "memory": "48MiB", "fuel": 1_000_000_000_000_u64 } }));
    project.trust();
    let words = [
        "loop", "wait", "never", "throw", "object", "error", "own", "posing", "denying", "wrong", "leak", "deep",
        "this",
    ];
    let said = calls(&project, &words);
    let expected = [
        "CapabilityError call.timeout: Its handler failed: ",
        "CapabilityError call.timeout: Its handler failed: ",
        "CapabilityError call.failed: Its handler failed: it waits for a promise that can never settle",
        "CapabilityError call.failed: Uncaught 7",
        "CapabilityError call.failed: Uncaught {\"secret\":1}",
        "CapabilityError call.failed: too far",
        "CapabilityError desk.missing: not there",
        "CapabilityError call.failed: mine",
        "CapabilityError call.failed: no",
        "CapabilityError call.failed: desk.do's answer does not fit its type: expected a string, got a number",
        "CapabilityError call.failed: Its handler failed: ",
        "CapabilityError call.failed: Its handler failed: ",
        "did this",
    ];
    for ((word, said), expected) in words.iter().zip(&said).zip(expected) {
        assert!(said.starts_with(expected), "{word}: {said}");
    }
    assert!(said[10].contains("memory"), "{}", said[10]);
}

/// Scripts get the failure; the handler's author gets the location and output.
#[test]
fn handler_errors_and_output_are_reported_to_the_operator() {
    let body = "
        console.log('asked for', what);
        if (what === 'fetch') return (await fetch('https://example.com/')).text();
        if (what === 'own') throw new CapabilityError('not there', { code: 'desk.missing' });
        const found = [];
        return found[0].name;";
    let project = project(body, json!({}));
    let done = project
        .run(&format!("{SCRIPT} export default [await attempt('a'), await attempt('fetch'), await attempt('own')];"));
    let said = done.value().to_string();
    assert!(!said.contains("desk.ts") && !said.contains("asked for") && !said.contains("domains"), "{said}");
    assert!(done.stderr.contains("capabilities/desk.ts (do) printed: asked for a"), "{}", done.stderr);
    assert!(
        done.stderr.contains("capabilities/desk.ts:11:25: the handler of do failed: TypeError: "),
        "{}",
        done.stderr
    );
    let advice = r#"To allow a host, add to an accepted configuration: {"providers":{"@capabilities/desk":{"http":{"domains":["HOST"]}}}}"#;
    assert!(done.stderr.contains("Network access is disabled") && done.stderr.contains(advice), "{}", done.stderr);
    assert!(!done.stderr.contains("not there"), "{}", done.stderr);
}

#[test]
fn handler_state_does_not_survive_a_call() {
    let body = "kept += 1; (globalThis as any).mine ??= what; return `${kept} ${(globalThis as any).mine}`;";
    assert_eq!(calls(&project(body, json!({})), &["a", "b", "c"]), ["1 a", "1 b", "1 c"]);
}

#[test]
fn an_ungranted_variable_is_refused_by_name() {
    let body =
        "return what === 'list' ? Object.keys(process.env).join() : what === 'in' ? String('HOME' in process.env)
        : String(process.env[what]);";
    let given = json!({ "env": { "CRM_URL": "https://crm.example" } });
    let project = project(body, given);
    let words = ["HOME", "CRM_URL", "NODE_ENV", "DEBUG", "list", "in", "__proto__"];
    let refused = |name: &str| {
        format!("CapabilityError call.failed: process.env.{name} is not granted to the handlers of @capabilities/desk")
    };
    // A configuration that its user has not accepted gives nothing.
    let said = calls(&project, &words);
    assert_eq!((said[1].as_str(), said[4].as_str()), (refused("CRM_URL").as_str(), ""));
    project.trust();
    let expected = [
        refused("HOME"),
        "https://crm.example".to_owned(),
        "production".to_owned(),
        "undefined".to_owned(),
        "CRM_URL".to_owned(),
        "false".to_owned(),
        refused("__proto__"),
    ];
    assert_eq!(calls(&project, &words), expected);
}

#[test]
fn a_secret_reaches_its_host_and_is_redacted_elsewhere() {
    const SECRET: &str = "sk-live-0123456789abcdef";
    let site = Site::start(|request| {
        let key = request.header("authorization").unwrap_or("nothing").to_owned();
        Reply::text(format!("you are {key}"))
    });
    let body = "const answer = await fetch(what, { headers: { authorization: `Bearer ${process.env.DESK_TOKEN}` } });
        if (what.endsWith('fail')) throw new Error(`it said ${await answer.text()}`);
        return await answer.text();";
    let given = json!({
        "env": ["DESK_TOKEN"], "http": { "domains": ["localhost"], "private": ["localhost"] },
    });
    let project = project(body, given);
    project.trust();
    let (there, fail) = (format!("http://localhost:{}/a", site.port), format!("http://localhost:{}/fail", site.port));
    let words = serde_json::to_string(&[&there, &fail, "http://127.0.0.1:1/", "https://example.com/"]).unwrap();
    project.write(
        "script.ts",
        format!(
            "{SCRIPT} const said = []; for (const word of {words}) said.push(await attempt(word)); export default said;"
        ),
    );
    let mut command = project.command(&["run", "script.ts", "--space", "work", "--events", "--json"]);
    command.env("DESK_TOKEN", SECRET);
    let done = crate::standard::support::RunningCommand::start(command).finish();
    assert_eq!(site.asked()[0].header("authorization"), Some(format!("Bearer {SECRET}").as_str()), "{done:?}");
    let said = done.value();
    assert_eq!(said[0], "you are Bearer [redacted]");
    assert_eq!(said[1], "CapabilityError call.failed: it said you are Bearer [redacted]");
    assert!(said[2].as_str().unwrap().contains("Domain \"127.0.0.1\" is not allowed"), "{said}");
    assert!(said[3].as_str().unwrap().contains("Domain \"example.com\" is not allowed"), "{said}");
    assert!(!done.stdout.contains(SECRET) && !done.stderr.contains(SECRET), "{done:?}");
}

#[test]
fn without_a_grant_there_is_no_network() {
    let said = calls(&project("return (await fetch(what)).text();", json!({})), &["https://example.com"]);
    assert!(said[0].contains("Network access is disabled"), "{said:?}");
}

#[test]
fn grants_for_unknown_modules_are_reported() {
    let project = project("return what;", json!({}));
    project.configure(json!({
        "capabilities": { "global": ["./capabilities/desk.ts"] }, "providers": { "@capabilities/desc": {} },
    }));
    let done = project.run_with("export default 1;", &["--json"]);
    let (code, message) = done.error();
    assert_eq!(code, "config.unknown");
    assert!(message.contains("there is no module `@capabilities/desc`"), "{message}");
    assert!(message.contains("Did you mean `@capabilities/desk`?"), "{message}");
}

#[test]
fn an_unset_variable_is_reported_at_its_grant() {
    let project = project("return String(process.env.SURELY_NOT_SET_HERE);", json!({ "env": ["SURELY_NOT_SET_HERE"] }));
    project.trust();
    let done = project.run(&format!("{SCRIPT} export default await attempt('x');"));
    let said = done.value();
    assert!(said.as_str().unwrap().contains("process.env.SURELY_NOT_SET_HERE is not granted"), "{said}");
    assert!(done.stderr.contains("$.providers[\"@capabilities/desk\"].env.SURELY_NOT_SET_HERE"), "{done:?}");
}

/// An error about a missing API names the alternative for handlers, which differs from that for scripts.
#[test]
fn missing_apis_of_handlers_have_hints() {
    let body = "
        if (what === 'Buffer') return Buffer.from('a').toString();
        if (what === 'require') return (globalThis as any).none ?? require('x');
        if (what === 'fs') return fs.readFileSync('a');
        return `${typeof process} ${new Date(0).toLocaleDateString('de', { timeZone: 'America/New_York' })}`;";
    let project = project(body, json!({}));
    project.trust();
    let said = calls(&project, &["Buffer", "require", "fs", "else"]);
    assert!(said[0].contains("Buffer is not defined. There is no Buffer here: use Uint8Array"), "{said:?}");
    assert!(said[1].contains("Handlers are ES modules"), "{said:?}");
    assert!(said[2].contains("Handlers have no files"), "{said:?}");
    assert_eq!(said[3], "object 31.12.1969");
}
