//! Real `tsc --strict` over the examples and over declarations of real servers' tools.
//!
//! `AGENT_SPACES_TSC` is the path of `lib/tsc.js` of an installed npm package `typescript`, version 5; `node` is on the
//! path. `AGENT_SPACES_CORPUS` is a folder of real tool lists, `servers/*.json`. Without one of them its tests say that
//! they were skipped.

mod corpus;
mod definitions;

use crate::seeds::{EXAMPLES, FOLDERS};
use agent_spaces::project::{Outlines, Scope, build, definitions_at};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// What strict TypeScript wants otherwise than the specification prints it: file, printed, checked, why.
const STRICTER: [(&str, &str, &str, &str); 1] =
    [("slack/agent.ts", "c.name === 'general');", "c.name === 'general')!;", "`find` may find nothing")];

/// A real TypeScript compiler, where there is one.
struct TypeScript(PathBuf);

impl TypeScript {
    fn find() -> Option<TypeScript> {
        let path = std::env::var_os("AGENT_SPACES_TSC").map(PathBuf::from);
        if path.is_none() {
            println!("skipped: AGENT_SPACES_TSC does not name a tsc");
        }
        path.map(TypeScript)
    }

    /// What it says of a project; nothing when it accepts all.
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
    for (file, printed, checked, _) in STRICTER {
        let Some(file) = file.strip_prefix(example).and_then(|file| file.strip_prefix('/')) else { continue };
        let path = folder.path().join(file);
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text.matches(printed).count(), 1, "{example}/{file} has no {printed:?}");
        std::fs::write(path, text.replace(printed, checked)).unwrap();
    }
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

/// S0-19: scripts, handlers and definitions of every example, with the generated declarations and configuration.
#[test]
fn tsc_accepts_every_example() {
    let Some(tsc) = TypeScript::find() else { return };
    let mut refused = Vec::new();
    for (example, _) in FOLDERS {
        let said = tsc.check(project(example).path());
        if !said.is_empty() {
            refused.push(format!("{example}:\n{said}"));
        }
    }
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}

/// S0-19, the other side: the same projects refuse what their declarations do not say.
#[test]
fn tsc_refuses_a_wrong_script_in_every_example() {
    let Some(tsc) = TypeScript::find() else { return };
    const WEATHER: &str = "import { getWeather } from '@capabilities/weather';";
    const SLACK: &str = "import { slack } from '@capabilities/mcp-slack';";
    const TRAINS: &str = "import { trainSchedule } from '@capabilities/company';";
    for (example, import, script, error) in [
        ("weather", WEATHER, "await getWeather({ unit: 'celsius' });", "TS2345"),
        ("weather", WEATHER, "await getWeather({ location: 'x', unit: 'kelvin' });", "TS2322"),
        ("slack", SLACK, "await slack.listChanels();", "TS2551"),
        ("composition", TRAINS, "await trainSchedule.getSchedule().filter(trip => trip.our < 12);", "TS2551"),
        ("train-schedule", "import { trains } from '@capabilities/train-schedule';", "trains;", "TS2305"),
        // What is printed is not accepted where a difference is listed for it.
        ("slack", SLACK, "(await slack.listChannels()).find(c => c.name === 'x').id;", "TS2532"),
    ] {
        let project = project(example);
        std::fs::write(project.path().join("wrong.ts"), format!("{import} {script}")).unwrap();
        let said = tsc.check(project.path());
        assert!(said.contains("wrong.ts(1,") && said.contains(error), "{script}\n{said}");
    }
}
