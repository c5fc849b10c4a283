//! Removal of servers from the files that they were copied from.

use super::super::foreign_configs::{Entry, Source, SourceScope, State, file};
use super::super::terminal;
use super::client_snippets::{ClientSnippets, NAME};
use super::own_config::OwnConfig;
use agent_spaces::config::{JsonChange, edit_json};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Files with servers that our configuration has too.
pub(super) struct Originals(Vec<Original>);

struct Original {
    file: PathBuf,
    program: &'static str,
    text: String,
    /// JSON paths of the servers to remove.
    servers: Vec<Vec<String>>,
    /// Our own entry, for every object of servers without one.
    ours: Vec<JsonChange>,
    outcome: Option<Result<Option<PathBuf>, String>>,
}

impl Originals {
    pub(super) fn of(sources: &[Source], entries: &[Entry], ours: &OwnConfig, snippets: &ClientSnippets) -> Originals {
        let mut originals: Vec<Original> = Vec::new();
        for (source, at) in sources.iter().zip(0..) {
            let here = || entries.iter().filter(|entry| entry.source == at && !entry.keys.is_empty());
            // A dry run has written nothing, but reports what it would remove.
            let is_taken = |entry: &&Entry| match &entry.state {
                State::Known(_) | State::New(_) => ours.is_json() || is_present(entry, ours),
                State::Off | State::Ourselves | State::Unsupported(_) | State::OfFolder => false,
            };
            let servers: Vec<Vec<String>> = here().filter(is_taken).map(|entry| entry.keys.clone()).collect();
            if servers.is_empty() {
                continue;
            }
            let object = |keys: &[String]| keys.split_last().map(|(_, above)| above.to_vec()).unwrap_or_default();
            let is_ours = |entry: &&Entry| entry.state == State::Ourselves;
            let taken: BTreeSet<Vec<String>> = here().filter(is_ours).map(|entry| object(&entry.keys)).collect();
            let objects: BTreeSet<Vec<String>> = servers.iter().map(|keys| object(keys)).collect();
            // Claude Code keeps servers of all folders and of one in the same file: one entry is enough.
            let is_redundant =
                source.scope == SourceScope::UserHere && has_entry_for_all(source, sources, entries, &originals);
            let additions = objects.difference(&taken).filter(|_| !is_redundant).map(|object| {
                let is_typed = object.last().is_some_and(|key| key == "servers");
                let keys = object.iter().cloned().chain([NAME.to_owned()]).collect();
                JsonChange::Add(keys, snippets.entry(is_typed))
            });
            match originals.iter_mut().find(|original| original.file == source.file) {
                Some(original) => {
                    original.servers.extend(servers);
                    original.ours.extend(additions);
                }
                None => originals.push(Original {
                    file: source.file.clone(),
                    program: source.program,
                    text: source.text.clone(),
                    servers,
                    ours: additions.collect(),
                    outcome: None,
                }),
            }
        }
        Originals(originals)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the text of the question.
    pub(super) fn question(&self) -> String {
        let mut text = "These servers are now configured twice, so an agent would see their tools twice:\n".to_owned();
        for original in &self.0 {
            let _ = writeln!(text, "  {}: {}", shown(&original.file), original.names());
        }
        text.push_str("Quit the programs that read these files first: some rewrite them on exit.");
        text
    }

    /// Changes the files, and returns the exit status. A failure does not stop the others.
    pub(super) fn change(&mut self, is_replaced: bool, is_dry: bool) -> u8 {
        for original in &mut self.0 {
            original.outcome = Some(original.change(is_replaced, is_dry));
        }
        let is_failed = |original: &Original| matches!(original.outcome, Some(Err(_)));
        if self.0.iter().any(is_failed) { 5 } else { 0 }
    }

    pub(super) fn text(&self, is_asked: bool, is_dry: bool) -> String {
        if !is_asked {
            let files: Vec<String> = self.0.iter().map(|original| shown(&original.file)).collect();
            return format!(
                "\nThe servers are still configured in {} too, so their tools would be listed twice.\nRemove them there, or \
                 run `agent-spaces init --replace`, which keeps a backup of each file.\n",
                files.join(", ")
            );
        }
        let mut text = String::new();
        for original in &self.0 {
            let (file, names) = (shown(&original.file), original.names());
            let _ = match &original.outcome {
                Some(Ok(Some(backup))) => writeln!(text, "\n{file}: removed {names}; backup: {}", shown(backup)),
                Some(Ok(None)) if is_dry => writeln!(text, "\n{file}: would remove {names}"),
                Some(Err(error)) => {
                    writeln!(text, "\n{file}: not changed: {}", terminal::clean_line(error))
                }
                Some(Ok(None)) | None => Ok(()),
            };
        }
        if self.0.iter().any(|original| matches!(original.outcome, Some(Ok(Some(_))))) {
            text.push_str("\nRestart these programs, then run `agent-spaces doctor` to check the setup.\n");
        }
        text
    }

    pub(super) fn data(&self) -> Value {
        let data = |original: &Original| {
            let (backup, error) = match &original.outcome {
                Some(Ok(backup)) => (backup.clone(), None),
                Some(Err(error)) => (None, Some(error.clone())),
                None => (None, None),
            };
            json!({
                "file": original.file, "program": original.program, "servers": original.server_names(),
                "isChanged": backup.is_some(), "backup": backup, "error": error,
            })
        };
        self.0.iter().map(data).collect()
    }
}

impl Original {
    fn change(&self, is_replaced: bool, is_dry: bool) -> Result<Option<PathBuf>, String> {
        let removals = self.servers.iter().cloned().map(JsonChange::Remove);
        let additions = self.ours.iter().filter(|_| is_replaced).cloned();
        let changes: Vec<JsonChange> = removals.chain(additions).collect();
        let name = self.file.display().to_string();
        let after = edit_json(&name, &self.text, &changes).map_err(|error| error.message)?;
        if is_dry {
            return Ok(None);
        }
        file::replace(&self.file, &self.text, &after).map(Some).map_err(|error| error.to_string())
    }

    fn server_names(&self) -> Vec<&str> {
        self.servers.iter().filter_map(|keys| keys.last()).map(String::as_str).collect()
    }

    fn names(&self) -> String {
        terminal::clean_line(&self.server_names().join(", ")).into()
    }
}

/// Returns true if the file of a source has our entry for all folders, or gets it.
fn has_entry_for_all(source: &Source, sources: &[Source], entries: &[Entry], originals: &[Original]) -> bool {
    let is_user = |entry: &&Entry| {
        let other = sources.get(entry.source);
        other.is_some_and(|other| other.file == source.file && other.scope == SourceScope::User)
    };
    let has = entries.iter().filter(is_user).any(|entry| entry.state == State::Ourselves);
    has || originals.iter().any(|original| original.file == source.file && !original.ours.is_empty())
}

fn is_present(entry: &Entry, ours: &OwnConfig) -> bool {
    entry.our_name().is_some_and(|name| ours.present().contains_key(name))
}

fn shown(path: &Path) -> String {
    terminal::clean_path(path).into()
}
