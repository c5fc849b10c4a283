//! The profile of a command: `run` and `mcp serve`.

use super::closed::Closed;
use super::{Network, Profile, configured, program, system};
use crate::config::{Confine, ConfineLevel, TokenSource, Transport};
use crate::private_folder;
use crate::project::Project;
use std::path::{Path, PathBuf};

/// Programs that look at code before it runs.
const COMPILERS: &[&str] = &["tsgo", "tsc", "node"];

/// What a command reaches, whatever its project.
#[derive(Debug, Default)]
pub struct HostNeeds {
    /// Its own folders for what it keeps. They are made if they are not there.
    pub kept: Vec<PathBuf>,
    /// What it was given to read.
    pub read: Vec<PathBuf>,
    /// What it was given to write.
    pub write: Vec<PathBuf>,
}

/// What a command may reach: what every program needs, its own folders, its project, what was given to it, and all that the
/// servers reach that it starts: what a process starts can have no more than itself.
///
/// # Errors
///
/// If the profile would open the user's home folder, or a path of it is not there.
pub fn host_profile(
    level: ConfineLevel,
    needs: HostNeeds,
    project: Option<&Project>,
    servers: &[Profile],
) -> Result<Profile, String> {
    for folder in &needs.kept {
        private_folder::make(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    let closed = Closed::new(needs.kept.iter().map(PathBuf::as_path));
    let confine = Confine { level, ..project.and_then(Project::confine).unwrap_or_default() };
    let mut profile = configured(&confine, Network::All);
    profile.read.extend(needs.read);
    profile.write.extend(needs.write);
    if let Some(project) = project {
        add_project(&mut profile, project)?;
    }
    // What is only found, and not written down as something to be reached, must not open everything.
    if let Some(folder) = profile.read.iter().chain(&profile.write).find(|path| closed.is_in(path)) {
        return Err(format!(
            "{} holds your home folder or what this program keeps, and all of it would be reached; move the script or the \
             configuration into a folder of its own",
            folder.display()
        ));
    }
    profile.read.extend(closed.without(system::read()));
    // Names are looked up as long as the command runs, by files that other programs put in place anew.
    profile.read.extend([PathBuf::from("/etc"), PathBuf::from("/proc/self/exe")]);
    profile.write.extend(system::write());
    profile.write.push(PathBuf::from("/dev/tty"));
    let path = std::env::var_os("PATH");
    let programs = project.map(programs).unwrap_or_default();
    for started in COMPILERS.iter().copied().chain(programs.iter().map(String::as_str)) {
        profile.read.extend(program::installation(started, Path::new("/"), path.as_deref(), &closed));
    }
    profile.write.extend(needs.kept);
    if let Some(project) = project {
        profile.read.extend(named(project, &confine.read, "read")?);
        profile.write.extend(named(project, &confine.write, "write")?);
    }
    for server in servers {
        profile.include(&Profile { network: Network::None, ..server.clone() });
    }
    Ok(profile)
}

/// What a project consists of: its folder, what its definitions and servers are written in, the folders of its spaces.
fn add_project(profile: &mut Profile, project: &Project) -> Result<(), String> {
    let folder = project.folder().to_owned();
    profile.read.extend(project.definitions().iter().flat_map(|definition| definition.protected(project.folder())));
    let toolboxes = project.toolboxes().values().flat_map(|toolbox| toolbox.servers.values());
    let servers: Vec<_> = project.servers().values().chain(toolboxes).filter(|server| server.config.enabled).collect();
    // What a server offers is written down when it is first used. After that nothing is written there.
    let is_known = |name: &String| project.lock().servers.contains_key(name);
    match servers.iter().all(|server| is_known(&server.name) || server.config.tools.is_some()) {
        true => profile.read.push(folder),
        false => profile.write.push(folder),
    }
    profile.read.extend(servers.iter().map(|server| server.file.clone()));
    let tokens = project.config().serve.callers.values().filter_map(|caller| match &caller.token {
        TokenSource::File(file) => Some(project.path(file)),
        TokenSource::Env(_) => None,
    });
    profile.read.extend(tokens.filter(|_| project.is_accepted()));
    profile.read.extend(project.typescript());
    profile.read.extend(project.search_model());
    for space in project.config().spaces.keys() {
        // One that cannot be used is told of when it is.
        profile.write.extend(project.workspace(Some(space)).ok().flatten());
    }
    if let Some(file) = project.accounting_file() {
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        private_folder::make(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        profile.write.push(if file.is_file() { file } else { folder.to_owned() });
    }
    if let Some(file) = project.audit().heads.and_then(|heads| heads.file) {
        let file = project.path(&file);
        // No folder is made for it: it may be on a disk that is not there now.
        profile.write.extend(file.ancestors().take(2).find(|path| path.exists()).map(Path::to_owned));
    }
    Ok(())
}

/// The programs that are started for a project: servers, also those without a profile of their own, and what signed heads
/// of the audit log are given to.
fn programs(project: &Project) -> Vec<String> {
    let toolboxes = project.toolboxes().values().flat_map(|toolbox| toolbox.servers.values());
    let servers = project.servers().values().chain(toolboxes).filter(|server| server.config.enabled);
    let programs = servers.filter_map(|server| match &server.config.transport {
        Transport::Stdio { program, .. } => Some(program.clone()),
        Transport::Remote { .. } => None,
    });
    let heads = project.audit().heads.and_then(|heads| heads.command.into_iter().next());
    let found = |program: String| match program.contains('/') {
        true => project.path(&program).to_string_lossy().into_owned(),
        false => program,
    };
    programs.chain(heads).map(found).collect()
}

/// Paths that a configuration names.
fn named(project: &Project, paths: &[String], member: &str) -> Result<Vec<PathBuf>, String> {
    let path = |(index, path): (usize, &String)| {
        let found = project.path(path);
        match found.exists() {
            true => Ok(found),
            false => {
                let file = &project.config().file;
                Err(format!("{file}: $.confine.{member}[{index}]: {} is not there; make it first", found.display()))
            }
        }
    };
    paths.iter().enumerate().map(path).collect()
}
