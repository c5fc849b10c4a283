//! Sandbox profile of a command: `run`, `agent`, `serve` and `mcp serve`.

use super::private_folders::PrivateFolders;
use super::{Network, Profile, configured, program, system};
use crate::Project;
use agent_spaces_config::{AgentPrompt, Confine, ConfineLevel, TokenSource, Transport};
use agent_spaces_private_fs::folder;
use std::path::{Path, PathBuf};

/// Programs that type-check scripts.
const COMPILERS: &[&str] = &["tsgo", "tsc", "node"];

/// Paths that a command needs, independent of its project.
#[derive(Debug, Default)]
pub struct HostNeeds {
    /// Folders of this program, which are created if missing.
    pub kept: Vec<PathBuf>,
    /// Paths from the command line to read.
    pub read: Vec<PathBuf>,
    /// Paths from the command line to write.
    pub write: Vec<PathBuf>,
}

/// Builds the profile of a command: system paths, its own folders, its project, the paths from the command line, and
/// the profiles of the servers that it starts, because a child process cannot have more access than its parent.
///
/// # Errors
///
/// If the profile would expose the user's home folder, or a path does not exist.
pub fn host_profile(
    level: ConfineLevel,
    needs: HostNeeds,
    project: Option<&Project>,
    servers: &[Profile],
) -> Result<Profile, String> {
    for folder in &needs.kept {
        folder::make(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    let private = PrivateFolders::new(needs.kept.iter().map(PathBuf::as_path));
    let confine = Confine { level, ..project.and_then(Project::confine).unwrap_or_default() };
    let mut profile = configured(&confine, Network::All);
    profile.read.extend(needs.read);
    profile.write.extend(needs.write);
    if let Some(project) = project {
        add_project(&mut profile, project)?;
    }
    // Only paths that the configuration lists explicitly may expose a private folder.
    if let Some(folder) = profile.read.iter().chain(&profile.write).find(|path| private.is_exposed_by(path)) {
        return Err(format!(
            "{} contains your home folder or this program's own files, and all of it would be accessible; move the \
             script or the configuration into a folder of its own",
            folder.display()
        ));
    }
    profile.read.extend(private.not_exposing(system::read()));
    // Name lookup reads files that other programs replace while the command runs, so the folder is needed.
    profile.read.extend([PathBuf::from("/etc"), PathBuf::from("/proc/self/exe")]);
    profile.write.extend(system::write());
    profile.write.push(PathBuf::from("/dev/tty"));
    let path = std::env::var_os("PATH");
    let programs = project.map(programs).unwrap_or_default();
    for started in COMPILERS.iter().copied().chain(programs.iter().map(String::as_str)) {
        profile.read.extend(program::installation(started, Path::new("/"), path.as_deref(), &private));
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

/// Adds the paths of a project: its folder, the files of its definitions, servers, callers and agents, and its
/// workspaces.
fn add_project(profile: &mut Profile, project: &Project) -> Result<(), String> {
    let folder = project.folder().to_owned();
    profile.read.extend(project.definitions().iter().flat_map(|definition| definition.protected(project.folder())));
    let toolboxes = project.toolboxes().values().flat_map(|toolbox| toolbox.servers.values());
    let servers: Vec<_> = project.servers().values().chain(toolboxes).filter(|server| server.config.enabled).collect();
    // The first use of a server writes its tools to the lock. After that the folder is only read.
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
    let prompts = project.config().agents.values().filter_map(|agent| match &agent.prompt {
        Some(AgentPrompt::File(file)) => Some(project.path(file)).filter(|file| file.is_file()),
        Some(AgentPrompt::Text(_)) | None => None,
    });
    profile.read.extend(tokens.chain(prompts).filter(|_| project.is_accepted()));
    profile.read.extend(project.typescript());
    profile.read.extend(project.search_model());
    for space in project.config().spaces.keys() {
        // A workspace that cannot be used is reported when its space is.
        profile.write.extend(project.workspace(Some(space)).ok().flatten());
    }
    if let Some(file) = project.accounting_file() {
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        folder::make(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        profile.write.push(if file.is_file() { file } else { folder.to_owned() });
    }
    if let Some(file) = project.audit().heads.and_then(|heads| heads.file) {
        let file = project.path(&file);
        // Its folder is not created: it may be on a disk that is not mounted now.
        profile.write.extend(file.ancestors().take(2).find(|path| path.exists()).map(Path::to_owned));
    }
    Ok(())
}

/// Programs that are started for a project: MCP servers, confined or not, and the command that receives signed heads of
/// the audit log.
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

/// Existing paths that the configuration lists.
fn named(project: &Project, paths: &[String], member: &str) -> Result<Vec<PathBuf>, String> {
    let path = |(index, path): (usize, &String)| {
        let found = project.path(path);
        match found.exists() {
            true => Ok(found),
            false => {
                let file = &project.config().file;
                Err(format!("{file}: $.confine.{member}[{index}]: {} does not exist; create it first", found.display()))
            }
        }
    };
    paths.iter().enumerate().map(path).collect()
}
