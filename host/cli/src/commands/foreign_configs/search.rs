//! Search for MCP configurations of other programs.

use super::file;
use agent_spaces::config::foreign::{self, Client, Foreign, ForeignFormat, MAX_BYTES, Platform, well_known};
use agent_spaces::project::{find_foreign, foreign_files};
use std::io;
use std::path::{Path, PathBuf};

/// Scope of a configuration file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::commands) enum SourceScope {
    /// The user, in every folder.
    User,
    /// The user, in this folder only.
    UserHere,
    /// This folder, whose files may be untrusted.
    Folder,
    /// Named on the command line.
    Named,
}

/// Configuration file of another program, or a part of it.
pub(in crate::commands) struct Source {
    pub(in crate::commands) file: PathBuf,
    /// Display name of the program.
    pub(in crate::commands) program: &'static str,
    /// Suffix of server names on a conflict.
    pub(in crate::commands) suffix: &'static str,
    pub(in crate::commands) scope: SourceScope,
    /// Base folder of relative paths, if known.
    pub(in crate::commands) folder: Option<PathBuf>,
    /// Text that was read; compared again before the file is changed.
    pub(in crate::commands) text: String,
    /// Servers, or the error of reading them, without the file name.
    pub(in crate::commands) found: Result<Foreign, String>,
}

/// Sources that were found, and all paths that were searched.
pub(in crate::commands) struct Found {
    pub(in crate::commands) sources: Vec<Source>,
    pub(in crate::commands) looked: Vec<PathBuf>,
}

/// Supported programs, with display name and suffix.
const PROGRAMS: [(Client, &str, &str); 5] = [
    (Client::ClaudeDesktop, "Claude Desktop", "claude-desktop"),
    (Client::ClaudeCode, "Claude Code", "claude-code"),
    (Client::Cursor, "Cursor", "cursor"),
    (Client::VsCode, "VS Code", "vscode"),
    (Client::Windsurf, "Windsurf", "windsurf"),
];

/// Reads the named files, or else the user's files and those of the folder `here`.
pub(in crate::commands) fn search(here: &Path, named: &[PathBuf]) -> Found {
    let mut search = Search { sources: Vec::new(), looked: Vec::new(), seen: Vec::new() };
    for file in named {
        let (program, suffix) = program_of(file);
        search.look(file, (program, suffix), SourceScope::Named, folder_of(file));
    }
    if !named.is_empty() {
        return Found { sources: search.sources, looked: search.looked };
    }
    if let Some(home) = std::env::home_dir() {
        for (client, program, suffix) in PROGRAMS {
            for file in well_known(client, &home, Platform::of(std::env::consts::OS)) {
                search.look(&file, (program, suffix), SourceScope::User, None);
            }
        }
    }
    search.look_for_folder(here);
    let home = std::env::home_dir();
    let folder = find_foreign(here, home.as_deref()).ok().flatten().unwrap_or_else(|| here.to_owned());
    search.looked.extend(foreign::PROJECT_FILES.iter().map(|name| folder.join(name)));
    let whole = std::path::absolute(&folder).unwrap_or_else(|_| folder.clone());
    for file in foreign_files(&folder, home.as_deref()) {
        let (program, suffix) = program_of(&file);
        search.look(&file, (program, suffix), SourceScope::Folder, Some(whole.clone()));
    }
    // Files without servers are not reported.
    let is_reported = |source: &Source| match &source.found {
        Ok(found) => !found.servers.is_empty() || !found.warnings.is_empty(),
        Err(_) => true,
    };
    search.sources.retain(is_reported);
    Found { sources: search.sources, looked: search.looked }
}

struct Search {
    sources: Vec<Source>,
    looked: Vec<PathBuf>,
    /// Canonical paths that were read: the home folder may be the current one.
    seen: Vec<PathBuf>,
}

impl Search {
    fn look(
        &mut self,
        file: &Path,
        (program, suffix): (&'static str, &'static str),
        scope: SourceScope,
        folder: Option<PathBuf>,
    ) {
        if scope != SourceScope::Folder {
            self.looked.push(file.to_owned());
        }
        let whole = std::fs::canonicalize(file).ok();
        if whole.as_ref().is_some_and(|whole| self.seen.contains(whole)) {
            return;
        }
        // A dangling symbolic link is reported.
        if scope != SourceScope::Named && std::fs::symlink_metadata(file).is_err() {
            return;
        }
        self.seen.extend(whole);
        let read = match scope == SourceScope::Folder && is_linked(file) {
            // A file of the folder must not expose files elsewhere.
            true => Err(io::Error::other("it is a link to another place")),
            false => file::read(file, MAX_BYTES),
        };
        let (text, found) = match read {
            Ok(text) => {
                let found = foreign::read_as(ForeignFormat::of(file), "", &text);
                (text, found.map_err(|error| error.without_file()))
            }
            Err(error) => (String::new(), Err(error.to_string())),
        };
        self.sources.push(Source { file: file.to_owned(), program, suffix, scope, folder, text, found });
    }

    /// Adds the servers that Claude Code has for this folder, or for the nearest one above.
    fn look_for_folder(&mut self, here: &Path) {
        let Ok(here) = here.canonicalize() else { return };
        let mine = |source: &&Source| source.suffix == "claude-code" && source.scope == SourceScope::User;
        let Some(source) = self.sources.iter().find(mine) else { return };
        let of_folder = |folder: &Path| {
            let found = foreign::read_of_folder("", &source.text, folder.to_str()?).ok()?;
            (!found.servers.is_empty() || !found.warnings.is_empty()).then(|| (folder.to_owned(), found))
        };
        let Some((folder, found)) = here.ancestors().find_map(of_folder) else { return };
        let (file, program, suffix, text) = (source.file.clone(), source.program, source.suffix, source.text.clone());
        let (scope, folder, found) = (SourceScope::UserHere, Some(folder), Ok(found));
        self.sources.push(Source { file, program, suffix, scope, folder, text, found });
    }
}

/// Returns true if a file, or its `.cursor` or `.vscode` folder, is a symbolic link.
fn is_linked(file: &Path) -> bool {
    let is_link = |path: &Path| std::fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink());
    let is_named = |folder: &&Path| folder.file_name().is_some_and(|name| name == ".cursor" || name == ".vscode");
    is_link(file) || file.parent().filter(is_named).is_some_and(is_link)
}

/// Returns display name and suffix of the program that reads a file.
fn program_of(file: &Path) -> (&'static str, &'static str) {
    let parent = file.parent().and_then(Path::file_name).and_then(|name| name.to_str()).unwrap_or_default();
    match (parent, file.file_name().and_then(|name| name.to_str()).unwrap_or_default()) {
        (".cursor", _) => ("Cursor", "cursor"),
        (".vscode", _) | (_, "settings.json") => ("VS Code", "vscode"),
        (_, "claude_desktop_config.json") => ("Claude Desktop", "claude-desktop"),
        (_, ".mcp.json") => ("Claude Code and others", "project"),
        (_, ".claude.json") => ("Claude Code", "claude-code"),
        (_, "mcp_config.json") => ("Windsurf", "windsurf"),
        (_, ".ai-agent.json") => ("ai-agent", "ai-agent"),
        _ => ("a file", "other"),
    }
}

/// Returns the base folder of relative paths in a project file such as `.mcp.json`.
fn folder_of(file: &Path) -> Option<PathBuf> {
    let whole = std::path::absolute(file).ok()?;
    let home = std::env::home_dir();
    let folder = foreign::PROJECT_FILES.iter().find_map(|name| {
        let is_same = whole.ends_with(name);
        is_same.then(|| whole.ancestors().nth(Path::new(name).components().count())).flatten().map(Path::to_owned)
    });
    // A file in the home folder is the user's own, for all folders.
    folder.filter(|folder| home.as_ref() != Some(folder))
}
