//! Examples of the specification: each folder under `examples/` compiles to what the specification prints and runs as
//! printed.
//!
//! `spec_examples/printed/` has the specification's own text. [`PRINTED`] lists every difference from it, with its reason;
//! an unlisted difference fails, and so does a listed one that is gone.

mod differences;
mod runs;

use agent_spaces::project::{DefinitionFile, Outlines, Scope, build, definitions_at};
use differences::{Change, PRINTED};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

pub(crate) const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples");
const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/spec_examples/printed");

/// Every example of the specification, with the modules that it compiles to.
pub(crate) const FOLDERS: [(&str, &[&str]); 6] = [
    ("train-schedule", &["train-schedule"]),
    ("train-schedule-typescript", &["train-schedule"]),
    ("composition", &["company"]),
    ("weather", &["weather"]),
    ("slack", &["mcp-slack", "mcp-github"]),
    ("company-crm", &["company-crm"]),
];

pub(crate) fn definitions(example: &str) -> Vec<DefinitionFile> {
    definitions_at(&Path::new(EXAMPLES).join(example).join("capabilities"), &Outlines::none()).unwrap()
}

/// Output of `agent-spaces capabilities build` for an example.
pub(crate) struct Built {
    folder: TempDir,
}

impl Built {
    pub(crate) fn of(example: &str) -> Built {
        let folder = tempfile::tempdir().unwrap();
        build(folder.path(), &definitions(example), Scope::Whole, |_| {}).unwrap();
        Built { folder }
    }

    pub(crate) fn path(&self, module: &str, file: &str) -> PathBuf {
        self.folder.path().join(".agent-spaces/capabilities").join(module).join(file)
    }

    pub(crate) fn read(&self, module: &str, file: &str) -> String {
        let path = self.path(module, file);
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    fn json(&self, module: &str, file: &str) -> Value {
        serde_json::from_str(&self.read(module, file)).unwrap()
    }
}

/// Definitions, scripts and what
/// they compile to are what the specification prints, but for what is listed.
#[test]
fn examples_match_the_specification_except_for_listed_differences() {
    let mut failures = Vec::new();
    for printed in PRINTED {
        let ours = match printed.ours.split_once(" of ") {
            Some((path, example)) => {
                let (module, file) = path.split_once('/').unwrap();
                Built::of(example).read(module, file)
            }
            None => std::fs::read_to_string(Path::new(EXAMPLES).join(printed.ours)).unwrap(),
        };
        let theirs = std::fs::read_to_string(Path::new(FIXTURES).join(printed.fixture)).unwrap();
        let (mut left, mut right) = (ours, theirs);
        for (change, why) in printed.differences {
            assert!(!why.is_empty());
            if let Err(missing) = change.apply(&mut left, &mut right) {
                failures.push(format!("{}: the listed difference {missing:?} is not there", printed.ours));
            }
        }
        if left != right {
            failures.push(format!("{} is not as printed\n--- ours\n{left}\n--- printed\n{right}", printed.ours));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

/// The printed OpenAI tool says nothing of its result, so the printed `WeatherResult` cannot come of it.
#[test]
fn a_tool_without_a_result_type_returns_unknown() {
    let file = Path::new(FIXTURES).join("weather/weather.json");
    let definitions = definitions_at(&file, &Outlines::none()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    build(folder.path(), &definitions, Scope::Whole, |_| {}).unwrap();
    let path = folder.path().join(".agent-spaces/capabilities/weather/index.d.ts");
    let mut ours = std::fs::read_to_string(path).unwrap();
    let mut printed = std::fs::read_to_string(Path::new(FIXTURES).join("weather/index.d.ts")).unwrap();
    let result = concat!(
        "  export interface WeatherResult {\n    temperature: number;\n    unit: string;\n",
        "    description: string;\n  }\n  \n"
    );
    for change in [
        Change::OurLines("/** "),
        Change::PrintedLines("// "),
        Change::Ours("Promise<unknown>", "Promise<WeatherResult>"),
        Change::Printed(result, ""),
        Change::Printed("  \n", "\n"),
    ] {
        change.apply(&mut ours, &mut printed).unwrap();
    }
    assert_eq!(ours, printed);
}

/// Modules are named by file, MCP server or tool, and each has its four files and metadata.
#[test]
fn modules_have_the_expected_names_and_files() {
    for (example, modules) in FOLDERS {
        let built = Built::of(example);
        for module in modules {
            let metadata = built.json(module, "bundle.json");
            assert_eq!(metadata["specifier"], format!("@capabilities/{module}"), "{example}");
            let files: Vec<&String> = metadata["files"].as_object().unwrap().keys().collect();
            let wit = format!("{module}.wit");
            let host = "deps/agent-spaces-host.wit";
            let mut expected = ["index.d.ts", "index.js", "schema.json", host, &wit].map(str::to_owned);
            expected.sort();
            assert!(files.iter().copied().eq(&expected), "{example}: {files:?}");
            for file in files {
                assert!(!built.read(module, file).is_empty());
            }
        }
    }
}

/// Without a file to be named by, the printed tool is `train-schedule` and the printed function `weather`.
#[test]
fn modules_without_a_file_are_named_by_what_they_define() {
    use capability_gen::compile::{ModuleSource, compile};
    use capability_gen::sources::{Source, parse};
    for (fixture, specifier, export) in [
        ("train-schedule/train-schedule.json", "@capabilities/train-schedule", "trainSchedule"),
        ("weather/weather.json", "@capabilities/weather", "getWeather"),
    ] {
        let text = std::fs::read_to_string(Path::new(FIXTURES).join(fixture)).unwrap();
        let definitions = parse(&Source { file: "-", text: &text, name: None, format: None }).unwrap();
        let module = compile(ModuleSource { specifier: None, stem: None, definitions }).unwrap();
        assert_eq!((module.specifier.as_str(), module.capabilities[0].export.as_str()), (specifier, export));
    }
}

#[test]
fn bundles_have_metadata() {
    let metadata = Built::of("train-schedule").json("train-schedule", "bundle.json");
    assert_eq!(metadata["version"], "1.0.0");
    assert_eq!(metadata["source"], "tool");
    assert_eq!(metadata["dependencies"], json!(["@agent-spaces/runtime"]));
    let config = json!({"requiresApproval": false, "rateLimit": {"requests": 100, "period": "minute"}});
    assert_eq!(metadata["config"], json!({"trainSchedule": config}));
    let hash = |value: &Value| value["hash"].as_str().unwrap().to_owned();
    assert!(hash(&metadata).starts_with("sha256:"));
    let other = Built::of("train-schedule-typescript").json("train-schedule", "bundle.json");
    assert_ne!(hash(&metadata), hash(&other), "another definition, another hash");
    assert_eq!(hash(&metadata), hash(&Built::of("train-schedule").json("train-schedule", "bundle.json")));
    assert_eq!(Built::of("slack").json("mcp-slack", "bundle.json")["source"], "mcp");
}

/// Every word of what is generated.
#[test]
fn outputs_match_the_snapshots() {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("spec_examples/snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| {
        for (example, modules) in FOLDERS {
            let built = Built::of(example);
            for module in modules {
                for (file, name) in
                    [("index.d.ts", "d.ts"), ("index.js", "js"), (format!("{module}.wit").as_str(), "wit")]
                {
                    insta::assert_snapshot!(format!("{example}-{module}.{name}"), built.read(module, file));
                }
            }
        }
    });
}
