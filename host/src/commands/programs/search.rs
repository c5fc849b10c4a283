//! The files of other programs, and what is in each.

use super::file;
use agent_spaces::config::foreign::{self, Client, Foreign, ForeignFormat, MAX_BYTES, Platform, well_known};
use agent_spaces::project::{find_foreign, foreign_files};
use std::io;
use std::path::{Path, PathBuf};

/// Whom a file speaks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::commands) enum Reach {
    /// Its user, in every folder.
    User,
    /// Its user, in this folder alone.
    UserHere,
    /// Whoever works in this folder, which may have come from a stranger.
    Folder,
    /// It was named on the command line.
    Named,
}

/// One file of another program, or a part of it.
pub(in crate::commands) struct Source {
    pub(in crate::commands) file: PathBuf,
    /// The program, for people.
    pub(in crate::commands) program: &'static str,
    /// What tells its servers from those of other programs.
    pub(in crate::commands) suffix: &'static str,
    pub(in crate::commands) reach: Reach,
    /// The folder that relative paths in it mean, where it is known.
    pub(in crate::commands) folder: Option<PathBuf>,
    /// What was read; it is compared before the file is changed.
    pub(in crate::commands) text: String,
    /// Its servers, or why they cannot be read; the file is not named there again.
    pub(in crate::commands) found: Result<Foreign, String>,
}

/// What was found, and everywhere that was looked.
pub(in crate::commands) struct Found {
    pub(in crate::commands) sources: Vec<Source>,
    pub(in crate::commands) looked: Vec<PathBuf>,
}

const PROGRAMS: [(Client, &str, &str); 5] = [
    (Client::ClaudeDesktop, "Claude Desktop", "claude-desktop"),
    (Client::ClaudeCode, "Claude Code", "claude-code"),
    (Client::Cursor, "Cursor", "cursor"),
    (Client::VsCode, "VS Code", "vscode"),
    (Client::Windsurf, "Windsurf", "windsurf"),
];

/// Looks into the files that are named, or for the user's servers and those of the folder `here`.
pub(in crate::commands) fn search(here: &Path, named: &[PathBuf]) -> Found {
    let mut search = Search { sources: Vec::new(), looked: Vec::new(), seen: Vec::new() };
    for file in named {
        let (program, suffix) = program_of(file);
        search.look(file, (program, suffix), Reach::Named, folder_of(file));
    }
    if !named.is_empty() {
        return Found { sources: search.sources, looked: search.looked };
    }
    if let Some(home) = std::env::home_dir() {
        for (client, program, suffix) in PROGRAMS {
            for file in well_known(client, &home, Platform::of(std::env::consts::OS)) {
                search.look(&file, (program, suffix), Reach::User, None);
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
        search.look(&file, (program, suffix), Reach::Folder, Some(whole.clone()));
    }
    // A file that is there and has no servers is nothing to speak of.
    let is_worth_a_word = |source: &Source| match &source.found {
        Ok(found) => !found.servers.is_empty() || !found.warnings.is_empty(),
        Err(_) => true,
    };
    search.sources.retain(is_worth_a_word);
    Found { sources: search.sources, looked: search.looked }
}

struct Search {
    sources: Vec<Source>,
    looked: Vec<PathBuf>,
    /// Files that were read, without links: the home folder may be this one.
    seen: Vec<PathBuf>,
}

impl Search {
    fn look(
        &mut self,
        file: &Path,
        (program, suffix): (&'static str, &'static str),
        reach: Reach,
        folder: Option<PathBuf>,
    ) {
        if reach != Reach::Folder {
            self.looked.push(file.to_owned());
        }
        let whole = std::fs::canonicalize(file).ok();
        if whole.as_ref().is_some_and(|whole| self.seen.contains(whole)) {
            return;
        }
        // A link that leads nowhere is there, and its user should know.
        if reach != Reach::Named && std::fs::symlink_metadata(file).is_err() {
            return;
        }
        self.seen.extend(whole);
        let read = match reach == Reach::Folder && is_linked(file) {
            // What lies elsewhere is not the folder's to give away.
            true => Err(io::Error::other("it is a link to another place")),
            false => file::read(file, MAX_BYTES),
        };
        let (text, found) = match read {
            Ok(text) => {
                let found = foreign::read_as(ForeignFormat::of(file), "", &text);
                let found = found.map_err(|error| error.to_string().trim_start_matches([':', ' ']).to_owned());
                (text, found)
            }
            Err(error) => (String::new(), Err(error.to_string())),
        };
        self.sources.push(Source { file: file.to_owned(), program, suffix, reach, folder, text, found });
    }

    /// What the user of Claude Code has for this folder, or the nearest above it that has something.
    fn look_for_folder(&mut self, here: &Path) {
        let Ok(here) = here.canonicalize() else { return };
        let mine = |source: &&Source| source.suffix == "claude-code" && source.reach == Reach::User;
        let Some(source) = self.sources.iter().find(mine) else { return };
        let of_folder = |folder: &Path| {
            let found = foreign::read_of_folder("", &source.text, folder.to_str()?).ok()?;
            (!found.servers.is_empty() || !found.warnings.is_empty()).then(|| (folder.to_owned(), found))
        };
        let Some((folder, found)) = here.ancestors().find_map(of_folder) else { return };
        let (file, program, suffix, text) = (source.file.clone(), source.program, source.suffix, source.text.clone());
        let (reach, folder, found) = (Reach::UserHere, Some(folder), Ok(found));
        self.sources.push(Source { file, program, suffix, reach, folder, text, found });
    }
}

/// Whether a file of a folder, or the folder that it is in there, is a link.
fn is_linked(file: &Path) -> bool {
    let is_link = |path: &Path| std::fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink());
    let is_named = |folder: &&Path| folder.file_name().is_some_and(|name| name == ".cursor" || name == ".vscode");
    is_link(file) || file.parent().filter(is_named).is_some_and(is_link)
}

/// The program that reads a file, by the folder that it is in.
fn program_of(file: &Path) -> (&'static str, &'static str) {
    let parent = file.parent().and_then(Path::file_name).and_then(|name| name.to_str()).unwrap_or_default();
    match (parent, file.file_name().and_then(|name| name.to_str()).unwrap_or_default()) {
        (".cursor", _) => ("Cursor", "cursor"),
        (".vscode", _) | (_, "settings.json") => ("VS Code", "vscode"),
        (_, "claude_desktop_config.json") => ("Claude Desktop", "claude-desktop"),
        (_, ".mcp.json") => ("Claude Code and others", "project"),
        (_, ".claude.json") => ("Claude Code", "claude-code"),
        (_, "mcp_config.json") => ("Windsurf", "windsurf"),
        _ => ("a file", "other"),
    }
}

/// The folder that paths mean in a file which programs look for in folders.
fn folder_of(file: &Path) -> Option<PathBuf> {
    let whole = std::path::absolute(file).ok()?;
    let home = std::env::home_dir();
    let folder = foreign::PROJECT_FILES.iter().find_map(|name| {
        let is_same = whole.ends_with(name);
        is_same.then(|| whole.ancestors().nth(Path::new(name).components().count())).flatten().map(Path::to_owned)
    });
    // There it is the user's own, for all folders.
    folder.filter(|folder| home.as_ref() != Some(folder))
}
