//! `tsc --strict` over the examples and over declarations of real servers' tools.
//!
//! `AGENT_SPACES_TSC` is the path of `lib/tsc.js` of an installed npm package `typescript`, version 5; `node` is on the
//! path. `AGENT_SPACES_CORPUS` is a folder of real tool lists, `servers/*.json`. Without one of them its tests are
//! skipped with a message; without `AGENT_SPACES_TSC` they fail if `AGENT_SPACES_CI=1`.

mod corpus;
mod definitions;

use crate::spec_examples::{EXAMPLES, FOLDERS};
use agent_spaces::project::{Outlines, Scope, build, definitions_at};
use agent_spaces_tests::skip;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// Installed TypeScript compiler.
struct TypeScript(PathBuf);

impl TypeScript {
    fn find() -> Option<TypeScript> {
        let path = std::env::var_os("AGENT_SPACES_TSC").map(PathBuf::from);
        if path.is_none() {
            skip("AGENT_SPACES_TSC does not name a tsc");
        }
        path.map(TypeScript)
    }

    /// Returns its output for a project; empty if it accepts all.
    fn check(&self, project: &Path) -> String {
        let output = Command::new("node").arg(&self.0).arg("-p").arg(project).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.success(), text.is_empty(), "{text}{}", String::from_utf8_lossy(&output.stderr));
        text
    }
}

/// An example as it is after `agent-spaces capabilities build` in its folder.
fn project(example: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    copy(&Path::new(EXAMPLES).join(example), folder.path());
    let definitions = definitions_at(&folder.path().join("capabilities"), &Outlines::none()).unwrap();
    build(folder.path(), &definitions, Scope::Whole, |_| {}).unwrap();
    folder
}

fn copy(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            std::fs::create_dir_all(&target).unwrap();
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Scripts, handlers and definitions of every example, with the generated declarations and configuration.
#[test]
fn tsc_accepts_every_example() {
    let Some(tsc) = TypeScript::find() else { return };
    let mut refused = Vec::new();
    for example in FOLDERS.iter().map(|(example, _)| *example).chain(["quickstart"]) {
        let said = tsc.check(project(example).path());
        if !said.is_empty() {
            refused.push(format!("{example}:\n{said}"));
        }
    }
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}

/// The same projects refuse what their declarations do not say.
#[test]
fn tsc_refuses_a_wrong_script_in_every_example() {
    let Some(tsc) = TypeScript::find() else { return };
    const WEATHER: &str = "import { getWeather } from '@capabilities/weather';";
    const SLACK: &str = "import { slack } from '@capabilities/mcp-slack';";
    const QUICKSTART: &str = "import { trainSchedule } from '@capabilities/train-schedule';";
    const TRAINS: &str = "import { trainSchedule } from '@capabilities/company';";
    for (example, import, script, error) in [
        ("weather", WEATHER, "await getWeather({ unit: 'celsius' });", "TS2345"),
        ("weather", WEATHER, "await getWeather({ location: 'x', unit: 'kelvin' });", "TS2322"),
        ("slack", SLACK, "await slack.listChanels();", "TS2551"),
        ("composition", TRAINS, "await trainSchedule.getSchedule().filter(trip => trip.our < 12);", "TS2551"),
        ("train-schedule", "import { trains } from '@capabilities/train-schedule';", "trains;", "TS2305"),
        // Written by hand.
        ("quickstart", QUICKSTART, "await trainSchedule.getSchedule({ station: 1 });", "TS2322"),
        ("quickstart", QUICKSTART, "(await trainSchedule.getTrainDetails({ trainId: 'x' })).driver;", "TS2339"),
        // The specification's own script fails where a difference is listed.
        ("slack", SLACK, "(await slack.listChannels()).find(c => c.name === 'x').id;", "TS2532"),
    ] {
        let project = project(example);
        std::fs::write(project.path().join("wrong.ts"), format!("{import} {script}")).unwrap();
        let said = tsc.check(project.path());
        assert!(said.contains("wrong.ts(1,") && said.contains(error), "{script}\n{said}");
    }
}

/// Each `index.d.ts` needs no other file: not the globals beside it, and no configuration.
#[test]
fn every_declaration_is_self_contained() {
    let Some(tsc) = TypeScript::find() else { return };
    for example in FOLDERS.iter().map(|(example, _)| *example).chain(["quickstart"]) {
        let (project, alone) = (project(example), tempfile::tempdir().unwrap());
        let bundles = project.path().join(".agent-spaces/capabilities");
        for entry in std::fs::read_dir(bundles).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir())
        {
            let name = format!("{}.d.ts", entry.file_name().unwrap().to_string_lossy());
            std::fs::copy(entry.join("index.d.ts"), alone.path().join(name)).unwrap();
        }
        let options = r#"{ "compilerOptions": { "strict": true, "noEmit": true, "lib": ["ES2023"], "types": [] } }"#;
        std::fs::write(alone.path().join("tsconfig.json"), options).unwrap();
        assert_eq!(tsc.check(alone.path()), "", "{example}");
    }
}
