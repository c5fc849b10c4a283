//! Script providers: functions implemented by scripts, each in its own space.

use crate::standard::support::{CommandOutput, Project};
use serde_json::{Value, json};

/// A definition whose functions are scripts in spaces.
fn scripts(name: &str, functions: &[(&str, &str, Option<&str>)]) -> String {
    let function = |(name, file, space): &(&str, &str, Option<&str>)| {
        let mut script = json!({ "file": file });
        if let Some(space) = space {
            script["space"] = json!(space);
        }
        json!({ "name": name, "description": name, "parameters": { "day": { "type": "string" } }, "script": script })
    };
    json!({ "name": name, "functions": functions.iter().map(function).collect::<Vec<_>>() }).to_string()
}

/// `reports.daily` runs in the space `inner`, which has `desk`; `outer` has the reports and no desk.
fn project(daily: &str) -> Project {
    let project = Project::empty();
    project.write("capabilities/desk.json", r#"{ "name": "desk", "functions": [{ "name": "note", "description": "Notes", "parameters": { "text": { "type": "string" } } }] }"#);
    project.write("capabilities/desk.ts", "export const note = ({ text }) => `noted ${text}`;");
    project.write("capabilities/reports.json", scripts("reports", &[("daily", "../scripts/daily.ts", Some("inner"))]));
    project.write("scripts/daily.ts", daily);
    project.write("scripts/words.ts", "export const greeting = 'Good day';");
    project.configure(json!({ "spaces": {
        "inner": { "capabilities": ["./capabilities/desk.json"], "limits": { "calls": 3, "fuel": 100_000_000 } },
        "outer": { "capabilities": ["./capabilities/reports.json"] },
    } }));
    project.trust();
    project
}

const CALL: &str = "import { reports } from '@capabilities/reports';
    const attempt = (day) => reports.daily({ day }).catch((error) => `${error.code}: ${error.message}`);";

fn run(project: &Project, body: &str, options: &[&str]) -> CommandOutput {
    project.run_with(&format!("{CALL}\n{body}"), &[&["--space", "outer"], options].concat())
}

const DAILY: &str = "import { desk } from '@capabilities/desk';
    import { greeting } from './words';
    let calls = 0;
    export default async ({ day }: { day: string }) => {
        calls += 1;
        if (day === 'fail') throw new Error('no such day');
        if (day === 'many') for (let i = 0; i < 5; i++) await desk.note({ text: day });
        if (day === 'loop') for (;;);
        console.log('inside', day);
        return [greeting, await desk.note({ text: day }), calls];
    };";

#[test]
fn a_script_answers_in_its_own_space_with_its_own_limits() {
    let project = project(DAILY);
    let body = "export default [await attempt('Monday'), await attempt('Tuesday'), await attempt('fail'), await attempt('many'),
        await attempt('loop'), await attempt('Friday')];";
    let said = run(&project, body, &["--json"]).value();
    assert_eq!(said[0], json!(["Good day", "noted Monday", 1]));
    assert_eq!(said[1], json!(["Good day", "noted Tuesday", 1]), "each call is a run of its own");
    assert_eq!(said[2], "call.failed: no such day");
    assert!(said[3].as_str().unwrap().starts_with("call.failed: Its handler failed: "), "{said}");
    assert!(said[4].as_str().unwrap().starts_with("call.failed: Its handler failed: "), "{said}");
    assert_eq!(said[5], json!(["Good day", "noted Friday", 1]));
    let done = project.run_with(
        "import { desk } from '@capabilities/desk'; export default typeof desk;",
        &["--space", "outer", "--json"],
    );
    assert_eq!(done.error().0, "import.denied", "the script that calls has no more than it had");
}

#[test]
fn events_of_the_inner_run_are_nested_under_its_call() {
    let project = project(DAILY);
    let done = run(&project, "export default await reports.daily({ day: 'Monday' });", &["--events", "--json"]);
    let lines = done.lines();
    let (report, events) = lines.split_last().unwrap();
    let outer: Vec<&Value> = events.iter().filter(|event| event.get("parent").is_none()).collect();
    let types =
        |events: &[&Value]| events.iter().map(|event| event["type"].as_str().unwrap().to_owned()).collect::<Vec<_>>();
    assert_eq!(types(&outer), ["runStarted", "callScheduled", "callResult", "runFinished"]);
    let inner: Vec<&Value> = events.iter().filter(|event| event.get("parent").is_some()).collect();
    assert_eq!(types(&inner), ["runStarted", "console", "callScheduled", "callResult", "runFinished"]);
    for event in &inner {
        assert_eq!(event["parent"], json!({ "runId": report["runId"], "callId": 1 }));
        assert_ne!(event["runId"], report["runId"]);
    }
    let at = |wanted: &Value| events.iter().position(|event| event == wanted).unwrap();
    assert!(at(outer[1]) < at(inner[0]) && at(inner[4]) < at(outer[2]));
    assert_eq!(report["console"], json!([]), "what the inner run prints is its own");
}

#[test]
fn rules_apply_inside_nested_runs() {
    let project = project(DAILY);
    project.configure(json!({ "spaces": {
        "inner": { "capabilities": ["./capabilities/desk.json"], "policy": { "functions": { "desk.note": "approve" } } },
        "outer": { "capabilities": ["./capabilities/reports.json"] },
    } }));
    project.trust();
    let said = run(&project, "export default await attempt('Monday');", &["--json"]).value();
    assert!(said.as_str().unwrap().starts_with("call.approval_denied"), "{said}");
    project.configure(json!({ "spaces": {
        "inner": { "capabilities": ["./capabilities/desk.json"], "policy": { "functions": { "desk.note": "deny" } } },
        "outer": { "capabilities": ["./capabilities/reports.json"], "policy": { "functions": { "desk.note": "allow" } } },
    } }));
    project.trust();
    let said = run(&project, "export default await attempt('Monday');", &["--json"]).value();
    let is_gone = said.as_str().unwrap().contains("Cannot find module '@capabilities/desk'");
    assert!(is_gone, "the inner space's rules hold, and they leave nothing of the module: {said}");
}

#[test]
fn infinite_mutual_calls_are_stopped() {
    let project = Project::empty();
    let definition = scripts("loops", &[("one", "../scripts/one.ts", None), ("two", "../scripts/two.ts", None)]);
    project.write("capabilities/loops.json", definition);
    project.write(
        "scripts/one.ts",
        "import { loops } from '@capabilities/loops'; export default async () => 'one ' + await loops.two({ day: 'x' });",
    );
    project.write(
        "scripts/two.ts",
        "import { loops } from '@capabilities/loops'; export default async () => 'two ' + await loops.one({ day: 'x' });",
    );
    project.configure(json!({ "capabilities": { "global": ["./capabilities/loops.json"] } }));
    let done = project.run_with(
        "import { loops } from '@capabilities/loops'; export default await loops.one({ day: 'x' }).catch((error) => [error.code, error.message]);",
        &["--json"],
    );
    let said = done.value();
    assert_eq!(said[0], "call.denied");
    assert!(said[1].as_str().unwrap().contains("would call itself"), "{said}");
}

#[test]
fn an_invalid_script_or_space_is_reported() {
    let broken = project("export const daily = 1;");
    let said = run(&broken, "export default await attempt('Monday');", &["--json"]).value();
    assert_eq!(said, "call.unavailable: The script has no default export");
    let broken = project("import { lamp } from '@capabilities/lamp'; export default () => lamp.on();");
    let said = run(&broken, "export default await attempt('Monday');", &["--json"]).value();
    assert!(said.as_str().unwrap().starts_with("call.unavailable: Its script cannot run: "), "{said}");
    for (file, space, text) in
        [("../scripts/none.ts", "inner", "there is no script"), ("../scripts/daily.ts", "iner", "iner")]
    {
        let project = project(DAILY);
        project.write("capabilities/reports.json", scripts("reports", &[("daily", file, Some(space))]));
        let (_, message) = run(&project, "export default 1;", &["--json"]).error();
        assert!(message.contains(text), "{message}");
    }
}

#[test]
fn a_value_may_be_exported_instead_of_a_function() {
    let project = project("export default { fixed: [1, 2] };");
    assert_eq!(run(&project, "export default await attempt('x');", &["--json"]).value(), json!({ "fixed": [1, 2] }));
}

#[test]
fn scripts_of_one_space_can_call_each_other() {
    let project = Project::empty();
    let names: Vec<String> = (0..70).map(|index| format!("f{index}")).collect();
    let files: Vec<String> = names.iter().map(|name| format!("../scripts/{name}.ts")).collect();
    let functions: Vec<_> = names.iter().zip(&files).map(|(name, file)| (name.as_str(), file.as_str(), None)).collect();
    project.write("capabilities/many.json", scripts("many", &functions));
    let next = |index: usize| format!("many.f{index}({{ day }})");
    for (index, name) in names.iter().enumerate() {
        let body = if index < 5 { format!("'{index} ' + await {}", next(index + 1)) } else { format!("'{index}'") };
        project.write(
            &format!("scripts/{name}.ts"),
            format!("import {{ many }} from '@capabilities/many'; export default async ({{ day }}) => {body};"),
        );
    }
    project.configure(json!({ "capabilities": { "global": ["./capabilities/many.json"] } }));
    let script = "import { many } from '@capabilities/many';
        const say = (name) => many[name]({ day: 'x' }).catch((error) => `${error.code}: ${error.message}`);
        export default [await say('f69'), await say('f2'), await say('f1')];";
    let said = project.run_with(script, &["--json"]).value();
    let deep = "call.denied: Scripts nested too deep: more than 4 would call one another";
    assert_eq!(said, json!(["69", "2 3 4 5", deep]));
}

/// Invalid script settings of a definition, with their errors.
#[test]
fn a_definition_runs_only_scripts_of_its_own_project() {
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("daily.ts"), "export default () => 'outside';").unwrap();
    std::fs::write(outside.path().join("key.json"), r#"{ "token": "secret" }"#).unwrap();
    let file = |name: &str| outside.path().join(name).display().to_string();
    for (script, expected) in [
        (file("daily.ts"), "is outside the project"),
        (file("key.json"), "is not a script"),
        ("../scripts/link.ts".to_owned(), "is outside the project"),
        ("../agent-spaces.config.json".to_owned(), "is not a script"),
    ] {
        let project = project(DAILY);
        std::os::unix::fs::symlink(outside.path().join("daily.ts"), project.path("scripts/link.ts")).unwrap();
        project.write("capabilities/reports.json", scripts("reports", &[("daily", &script, Some("inner"))]));
        let (_, message) = run(&project, "export default 1;", &["--json"]).error();
        assert!(message.contains(expected), "{script}: {message}");
    }
    // An untrusted definition cannot use the project's spaces.
    let project = project(DAILY);
    project.write(
        "node_modules/@x/sdk/package.json",
        r#"{ "name": "@x/sdk", "agent-spaces": { "capabilities": "./t.json" } }"#,
    );
    project.write("node_modules/@x/sdk/t.json", scripts("t", &[("f", "./evil.ts", Some("inner"))]));
    project.write("node_modules/@x/sdk/evil.ts", "export default () => 'evil';");
    for entry in ["@x/sdk", "./node_modules/@x/sdk/t.json"] {
        project.configure(json!({ "spaces": { "inner": {}, "outer": { "capabilities": [entry] } } }));
        project.trust();
        let (_, message) = project.run_with("export default 1;", &["--space", "outer", "--json"]).error();
        assert!(message.contains("a definition of an npm package may not run a script"), "{entry}: {message}");
    }
}

#[test]
fn provider_files_cannot_be_in_a_workspace() {
    let project = project(DAILY);
    let tool = |name: &str, command: Value| {
        json!({ "name": name, "functions": [{ "name": "f", "parameters": {}, "command": command }] }).to_string()
    };
    project.write("free/data.txt", "");
    project.write("tools/tool.py", "print(1)");
    project.write("capabilities/py.json", tool("py", json!({ "program": "python3", "args": ["../tools/tool.py"] })));
    project.write("capabilities/make.json", tool("make", json!({ "program": "make", "cwd": "../tools" })));
    project.write(
        "capabilities/wasm.json",
        json!({ "name": "wasm", "component": "../tools/tool.wasm", "functions": [{ "name": "f", "parameters": {} }] })
            .to_string(),
    );
    for (definition, workspace, is_refused) in [
        ("reports", "./scripts", true),
        ("py", "./tools", true),
        ("make", "./tools", true),
        ("wasm", "./tools", true),
        ("reports", "./free", false),
        ("py", "./free", false),
    ] {
        project.configure(json!({ "spaces": {
            "inner": {},
            "outer": { "workspace": workspace, "capabilities": [format!("./capabilities/{definition}.json")] },
        } }));
        project.trust();
        let done = project.run_with("export default 1;", &["--space", "outer", "--json"]);
        match is_refused {
            true => assert!(done.error().1.contains("overlap"), "{definition} {workspace}: {done:?}"),
            false => assert_eq!(done.value(), 1, "{definition} {workspace}: {done:?}"),
        }
    }
}
