//! `agent-spaces publish`: a script becomes a function for other scripts.

use crate::standard::support::Project;
use serde_json::json;

const DAILY: &str = "import type { Report } from './types';
    /** A report of one day. */
    export default async function (params: { day: string; lines?: number }): Promise<Report> {
        return { title: `Report of ${params.day}`, lines: params.lines ?? 1 };
    }";

fn project() -> Project {
    let project = Project::empty();
    project.write("scripts/daily.ts", DAILY);
    project.write("scripts/types.ts", "export interface Report { title: string; lines: number }");
    project.configure(json!({ "spaces": { "inner": {}, "work": { "capabilities": ["./capabilities"] } } }));
    project
        .write("capabilities/other.json", r#"{ "name": "other", "functions": [{ "name": "x", "parameters": {} }] }"#);
    project
}

const PUBLISH: [&str; 6] = ["publish", "scripts/daily.ts", "--as", "reports.daily", "--space", "inner"];

#[test]
fn a_published_script_has_types_and_is_callable() {
    let project = project();
    let done = project.agent_spaces(&PUBLISH);
    assert_eq!(done.status, Some(0), "{done:?}");
    assert!(
        done.stdout.starts_with("reports.daily added in ") && done.stdout.contains("capabilities/reports.json"),
        "{done:?}"
    );
    let definition: serde_json::Value =
        serde_json::from_str(&project.read("capabilities/reports.json").unwrap()).unwrap();
    let function = &definition["functions"][0];
    assert_eq!(function["script"], json!({ "file": "../scripts/daily.ts", "space": "inner" }));
    assert_eq!(
        (&function["description"], &function["parameters"]["required"]),
        (&json!("A report of one day."), &json!(["day"]))
    );
    let script = "import { reports } from '@capabilities/reports';
        export default [await reports.daily({ day: 'Monday' }), await reports.daily({ day: 'x', lines: 3 }),
            await reports.daily({ dya: 'x' } as any).catch((error) => error.code)];";
    assert_eq!(
        project.run(script).value(),
        json!([{ "title": "Report of Monday", "lines": 1 }, { "title": "Report of x", "lines": 3 }, "call.invalid"])
    );
}

#[test]
fn republishing_replaces_the_function_and_keeps_operator_settings() {
    let project = project();
    assert_eq!(project.agent_spaces(&PUBLISH).status, Some(0));
    let file = project.read("capabilities/reports.json").unwrap();
    let mut definition: serde_json::Value = serde_json::from_str(&file).unwrap();
    definition["functions"][0]["requiresApproval"] = json!(true);
    definition["owner"] = json!("ada");
    project.write("capabilities/reports.json", definition.to_string());
    project.write("scripts/weekly.ts", "export default () => 1;");
    assert_eq!(project.agent_spaces(&["publish", "scripts/weekly.ts", "--as", "reports.weekly"]).status, Some(0));
    project.write("scripts/daily.ts", "export default (params: { week: number }) => params.week;");
    let done = project.agent_spaces(&[&PUBLISH[..], &["--json"]].concat()).json();
    assert_eq!((&done["ok"], &done["replaced"]), (&json!(true), &json!(true)));
    let definition: serde_json::Value =
        serde_json::from_str(&project.read("capabilities/reports.json").unwrap()).unwrap();
    assert_eq!(definition["owner"], "ada");
    assert_eq!(definition["functions"][0]["requiresApproval"], true);
    assert_eq!(definition["functions"][0]["parameters"]["required"], json!(["week"]));
    assert_eq!(definition["functions"][1]["name"], "weekly");
    assert_eq!(definition["functions"].as_array().unwrap().len(), 2);
}

#[test]
fn an_invalid_function_is_refused_and_nothing_is_written() {
    for (source, name, text) in [
        ("export default 1;", "reports.daily", "the script's default export is not a function"),
        ("export default (a: string) => a;", "reports.daily", "the parameter is not an object"),
        ("export default (", "reports.daily", "daily.ts"),
        ("import { x } from '@capabilities/none'; export default () => x.y();", "reports.daily", "@capabilities/none"),
        (DAILY, "reports", "is not the name of a function"),
        (DAILY, "../x.daily", "is not the name of a function"),
        (DAILY, "other.x.y", "is not the name of a function"),
    ] {
        let project = project();
        project.write("scripts/daily.ts", source);
        let done = project.agent_spaces(&["publish", "scripts/daily.ts", "--as", name, "--json"]);
        let message = format!("{:?} {}", done.error(), done.json());
        assert!(message.contains(text), "{source}: {message}");
        assert_ne!(done.status, Some(0));
        assert_eq!(project.read("capabilities/reports.json"), None);
    }
    let project = project();
    let before = project.read("capabilities/other.json");
    let done = project.agent_spaces(&[
        "publish",
        "scripts/daily.ts",
        "--as",
        "reports.daily",
        "-o",
        "capabilities/other.json",
        "--json",
    ]);
    assert!(done.error().1.contains("it does not define the capability `reports`"), "{done:?}");
    assert_eq!(project.read("capabilities/other.json"), before);
}

#[test]
fn a_script_that_collides_with_a_handler_file_is_refused() {
    let project = project();
    project.write("capabilities/reports.ts", "export default () => 1;");
    let publish = ["publish", "capabilities/reports.ts", "--as", "reports.daily"];
    let done = project.agent_spaces(&publish);
    assert!(done.status != Some(0) && done.stderr.contains("would be loaded as its handler file"), "{done:?}");
    assert_eq!(project.read("capabilities/reports.json"), None);
    // Beside handlers of others, the script answers its own function.
    project.write("capabilities/reports.ts", "export const daily = () => 'a handler', weekly = () => 'a handler';");
    assert_eq!(project.agent_spaces(&PUBLISH).status, Some(0));
    let script =
        "import { reports } from '@capabilities/reports'; export default (await reports.daily({ day: 'x' })).title;";
    assert_eq!(project.run(script).value(), "Report of x");
}

#[cfg(unix)]
#[test]
fn a_published_definition_is_readable_by_others() {
    use std::os::unix::fs::PermissionsExt as _;
    let project = project();
    assert_eq!(project.agent_spaces(&PUBLISH).status, Some(0));
    let mode = std::fs::metadata(project.path("capabilities/reports.json")).unwrap().permissions().mode();
    assert_eq!(mode & 0o444, 0o444);
}
