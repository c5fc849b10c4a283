//! Recorded `run` command: what `runs resume` needs to continue a durable run. Paths are relative to its folder.

use super::approvals::ApprovalOptions;
use super::failure::Failure;
use super::space_choice::{Found, SpaceChoice};
use agent_spaces::Code;
use agent_spaces::durable::RunInfo;
use agent_spaces::project::Project;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Recorded `run` command.
pub(super) struct RunCommand {
    /// Folder that it ran in.
    pub(super) folder: PathBuf,
    /// Its space.
    pub(super) choice: SpaceChoice,
    /// Folder of the script.
    pub(super) script_folder: Option<PathBuf>,
    /// `--workspace`
    pub(super) workspace: Option<PathBuf>,
    /// `--approve`
    pub(super) approve: Vec<String>,
    /// `--approvals`
    pub(super) approvals: Option<String>,
}

impl RunCommand {
    /// Records a command in the current folder.
    pub(super) fn new(
        choice: &SpaceChoice,
        script_folder: Option<&Path>,
        workspace: Option<&Path>,
        approve: &[String],
        approvals: &ApprovalOptions,
    ) -> Result<RunCommand, Failure> {
        Ok(RunCommand {
            folder: current_folder()?,
            choice: SpaceChoice::from_json(&choice.to_json()),
            script_folder: script_folder.map(Path::to_owned),
            workspace: workspace.map(Path::to_owned),
            approve: approve.to_vec(),
            approvals: approvals.name(),
        })
    }

    /// Returns the facts that the journal keeps.
    pub(super) fn info(&self, found: &Found) -> RunInfo {
        let space = self.choice.space();
        let policy = match found {
            Found::Project(project) => Some(Project::policy_digest(project, space)),
            Found::Definitions(_) => None,
        };
        let project = self.choice.folder(found);
        let project = project.canonicalize().unwrap_or(project);
        let command = json!({
            "kind": "run",
            "folder": text(&self.folder),
            "choice": self.choice.to_json(),
            "scriptFolder": self.script_folder.as_deref().map(text),
            "workspace": self.workspace.as_deref().map(text),
            "approve": self.approve,
            "approvals": self.approvals,
        });
        RunInfo { space: space.map(str::to_owned), project: text(&project), policy, command }
    }

    /// Reads what [`RunCommand::info`] recorded; `None` if another program started the run.
    pub(super) fn read(command: &Value) -> Option<RunCommand> {
        if command["kind"] != "run" {
            return None;
        }
        let path = |key: &str| command[key].as_str().map(PathBuf::from);
        let approve = command["approve"].as_array()?.iter().filter_map(|name| name.as_str().map(str::to_owned));
        Some(RunCommand {
            folder: path("folder")?,
            choice: SpaceChoice::from_json(&command["choice"]),
            script_folder: path("scriptFolder"),
            workspace: path("workspace"),
            approve: approve.collect(),
            approvals: command["approvals"].as_str().map(str::to_owned),
        })
    }

    /// Makes it a command in the current folder, of an imported run: nothing that its author chose remains.
    pub(super) fn adopt(&mut self, space: Option<&str>) -> Result<(), Failure> {
        *self = RunCommand {
            folder: current_folder()?,
            choice: SpaceChoice::from_json(&json!({ "space": space })),
            script_folder: Some(PathBuf::from(".")),
            workspace: None,
            approve: Vec::new(),
            approvals: None,
        };
        Ok(())
    }

    /// Makes the folder of the command the current one.
    pub(super) fn enter(&self, run: &str) -> Result<(), Failure> {
        std::env::set_current_dir(&self.folder).map_err(|error| {
            let folder = self.folder.display();
            let hint = "restore the folder of the project, or end the run with `agent-spaces runs cancel`";
            Failure::new(Code::ConfigFile, format!("{run} belongs to the project in {folder}: {error}"), Some(hint))
        })
    }
}

fn current_folder() -> Result<PathBuf, Failure> {
    std::env::current_dir().map_err(|error| {
        Failure::new(Code::HostFolder, format!("the current folder cannot be determined: {error}"), None)
    })
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
