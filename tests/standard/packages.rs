//! npm packages of handlers, and packages that define capabilities.

use crate::standard::support::Project;
use serde_json::json;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// The folder in which published packages are installed.
fn published() -> Option<PathBuf> {
    let folder = env::var_os("AGENT_SPACES_PACKAGES").map(PathBuf::from);
    let found = folder.map(|folder| folder.join("node_modules")).filter(|folder| folder.is_dir());
    if found.is_none() {
        let text = "skipped: AGENT_SPACES_PACKAGES names no folder of npm packages";
        assert!(env::var_os("AGENT_SPACES_CI").is_none_or(|value| value != "1"), "{text}");
        let _ = writeln!(std::io::stderr(), "{text}");
    }
    found
}

/// Copies a package without its declarations: links out of a project lead nowhere.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (path, name) = (entry.path(), entry.file_name());
        let is_code = [".js", ".mjs", ".cjs", ".json"].iter().any(|end| name.to_string_lossy().ends_with(end));
        if path.is_dir() {
            copy(&path, &to.join(name));
        } else if is_code {
            fs::copy(path, to.join(name)).unwrap();
        }
    }
}

/// A project whose script calls one tool, with these handlers and packages.
fn project(handler: &str, packages: &[&str]) -> Option<Project> {
    let from = published()?;
    let project = Project::new(json!({ "capabilities": { "global": ["./capabilities/tools.ts"] } }));
    for package in packages {
        copy(&from.join(package), &project.path("node_modules").join(package));
    }
    project.write("capabilities/tools.ts", tool(handler));
    Some(project)
}

fn tool(handler: &str) -> String {
    let (imports, body) = handler.split_once("---").unwrap_or(("", handler));
    format!(
        "import {{ defineTool }} from '@agent-spaces/capabilities';
        {imports}
        export const tools = defineTool({{
            functions: {{
                use: {{
                    description: 'Uses it.',
                    parameters: {{ type: 'object', properties: {{ value: {{}} }}, required: ['value'] }},
                    handler: async ({{ value }}) => {{ {body} }},
                }},
            }},
        }});"
    )
}

const SCRIPT: &str = "import { tools } from '@capabilities/tools';\n";

#[test]
fn a_handler_validates_with_zod_and_formats_with_date_fns() {
    let handler = "import { z } from 'zod'; import { addDays, format, formatDistance } from 'date-fns';
        const Order = z.object({ id: z.string().min(2), amount: z.number().positive(), at: z.iso.date() });
        ---
        const read = Order.safeParse(value);
        if (!read.success) return read.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
        const at = new Date(`${read.data.at}T12:00:00Z`);
        return [read.data.id, format(addDays(at, 30), 'EEEE, d MMMM yyyy'), formatDistance(at, addDays(at, 3))];";
    let Some(project) = project(handler, &["zod", "date-fns"]) else { return };
    let script = format!(
        "{SCRIPT}[await tools.use({{ value: {{ id: 'a7', amount: 3, at: '2026-02-27' }} }}),
         await tools.use({{ value: {{ id: 'a', amount: -1, at: 'soon' }} }})]"
    );
    let done = project.run_with(&script, &["--json"]);
    assert_eq!(
        done.value(),
        json!([
            ["a7", "Sunday, 29 March 2026", "3 days"],
            [
                "id: Too small: expected string to have >=2 characters",
                "amount: Too small: expected number to be >0",
                "at: Invalid ISO date"
            ]
        ])
    );
}

#[test]
fn handlers_use_packages_in_commonjs_and_for_browsers() {
    let handler = "import _, { chunk } from 'lodash'; import ms from 'ms'; import semver, { satisfies } from 'semver'; import { nanoid } from 'nanoid';
        ---
        return [chunk(value, 2), _.sum(value), ms('2 days'), ms(60000), semver.valid('v1.2.3'), satisfies('1.5.0', '^1.2'),
                nanoid().length, typeof global, _.template('hi <%= name %>')({ name: 'x' })]";
    let Some(project) = project(handler, &["lodash", "ms", "semver", "nanoid"]) else { return };
    let done = project.run_with(&format!("{SCRIPT}await tools.use({{ value: [1, 2, 3] }})"), &["--json"]);
    assert_eq!(done.value(), json!([[[1, 2], [3]], 6, 172_800_000, "1m", "1.2.3", true, 21, "object", "hi x"]));
}

#[test]
fn a_script_cannot_import_packages() {
    let Some(project) = project("return value", &["ms"]) else { return };
    let done = project.run_with("import ms from 'ms'; ms('1s')", &["--json"]);
    let (code, message) = done.error();
    assert_eq!((code.as_str(), message.as_str()), ("import.unknown", "Cannot find module 'ms'"));
}

#[test]
fn a_package_that_needs_node_is_refused_with_its_location() {
    let project = Project::new(json!({ "capabilities": { "global": ["./capabilities/tools.ts"] } }));
    project.write("node_modules/reader/index.js", "const fs = require('fs');\nexports.read = fs.readFileSync;");
    project.write("capabilities/tools.ts", tool("import { read } from 'reader';\n---return read(value)"));
    let done = project.run_with(&format!("{SCRIPT}await tools.use({{ value: 'x' }})"), &["--json"]);
    let (code, message) = done.error();
    assert_eq!(code, "config.handlers");
    assert_eq!(
        message,
        "node_modules/reader/index.js:1:20: 'fs' is a Node.js module, which is not available here \
         (tools.ts → node_modules/reader/index.js → fs): handlers have no files: import data as a .json file, or take it \
         as a parameter"
    );
}

#[test]
fn a_package_defines_capabilities_under_its_name() {
    let tools = tool(
        "import { suffix } from '../lib/suffix.js'; import { join } from 'joiner';\n---return join(value, suffix)",
    );
    let script = "import { tools } from '@company/internal-sdk'; await tools.use({ value: 'a' })";
    for package in [
        json!({ "name": "@company/internal-sdk", "agent-spaces": { "capabilities": "./src/tools.ts" } }),
        json!({ "name": "@company/internal-sdk", "agent-spaces": { "capabilities": ["src/tools.ts"] } }),
        json!({ "name": "@company/internal-sdk", "main": "./src/tools.ts" }),
        json!({ "name": "@company/internal-sdk", "exports": "./src/tools.ts" }),
    ] {
        let project = Project::new(json!({ "capabilities": { "global": ["@company/internal-sdk"] } }));
        project.write("node_modules/@company/internal-sdk/package.json", package.to_string());
        project.write("node_modules/@company/internal-sdk/src/tools.ts", &tools);
        project.write("node_modules/@company/internal-sdk/lib/suffix.ts", "export const suffix: string = '!'");
        project.write("node_modules/joiner/index.js", "exports.join = (a, b) => a + b");
        assert_eq!(project.run_with(script, &["--json"]).value(), json!("a!"), "{package}");
    }
}

#[test]
fn several_files_of_a_package_are_several_modules() {
    let project = Project::new(json!({ "capabilities": { "global": ["@company/sdk"] } }));
    let package = json!({ "agent-spaces": { "capabilities": ["./orders.ts", "./crm.ts"] } });
    project.write("node_modules/@company/sdk/package.json", package.to_string());
    project
        .write("node_modules/@company/sdk/orders.ts", tool("return 'order ' + value").replace("tools =", "orders ="));
    project.write("node_modules/@company/sdk/crm.ts", tool("return 'crm ' + value").replace("tools =", "crm ="));
    let script = "import { orders } from '@company/sdk-orders'; import { crm } from '@company/sdk-crm';
                  [await orders.use({ value: 1 }), await crm.use({ value: 2 })]";
    assert_eq!(project.run_with(script, &["--json"]).value(), json!(["order 1", "crm 2"]));
}

#[test]
fn a_package_without_definitions_lists_the_searched_files() {
    for (package, entry, told) in [
        (None, "", "there is no node_modules/@company/sdk/package.json"),
        (
            Some(json!({})),
            "export default 1",
            "its entry point node_modules/@company/sdk/index.js does not use `defineTool`",
        ),
        (
            Some(json!({})),
            &"//".repeat(600_000),
            "its entry point node_modules/@company/sdk/index.js cannot be read: the file is longer than 1048576 bytes",
        ),
        (
            Some(json!({ "main": "./none.js", "exports": "./none.js" })),
            "defineTool",
            "it has no entry point: Cannot find '@company/sdk'; its package is installed and has no such file",
        ),
        (
            Some(json!({ "exports": "../../../secret.ts" })),
            "defineTool",
            "it has no entry point: Cannot find '@company/sdk'; Invalid",
        ),
        (
            Some(json!({ "agent-spaces": { "capabilities": "../../../secret.ts" } })),
            "",
            "`../../../secret.ts` is not a file of the package",
        ),
        (
            Some(json!({ "agent-spaces": { "capabilities": "./none.ts" } })),
            "",
            "`./none.ts` is not a file of the package",
        ),
        (Some(json!({ "agent-spaces": { "capabilities": 1 } })), "", "is not a file or a list of files"),
    ] {
        let project = Project::empty();
        project.configure(json!({ "capabilities": { "global": ["@company/sdk"] } }));
        project.write("secret.ts", tool("return 1"));
        if let Some(package) = package {
            project.write("node_modules/@company/sdk/package.json", package.to_string());
            project.write("node_modules/@company/sdk/index.js", entry);
        }
        let done = project.run_with("1", &["--json"]);
        let (code, message) = done.error();
        assert_eq!(code, "config.unknown");
        assert!(message.contains(told), "{message}");
    }
}
