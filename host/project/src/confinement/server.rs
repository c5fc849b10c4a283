//! Sandbox profile of an MCP server.

use super::private_folders::PrivateFolders;
use super::{Network, Profile, configured, program, system};
use agent_spaces_config::Confine;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Default TCP ports that a server may connect to: DNS, HTTP, HTTPS.
const PORTS: &[u16] = &[53, 80, 443];

/// Launch parameters of a server.
pub struct ServerLaunch<'a> {
    /// Program name or path.
    pub program: &'a str,
    /// `PATH` of the process.
    pub path: Option<&'a OsStr>,
    /// Working directory, which the server may read.
    pub cwd: &'a Path,
    /// Folders of its own, which the server may write.
    pub own: Vec<PathBuf>,
    /// State folder of this program, which holds logins and acceptances.
    pub state: Option<&'a Path>,
}

/// Builds the profile of a server: system paths, its program, its working directory, folders of its own, the web, and
/// the paths in `read` and `write`.
pub fn server_profile(confine: &Confine, launch: ServerLaunch<'_>, read: Vec<PathBuf>, write: Vec<PathBuf>) -> Profile {
    let private = PrivateFolders::new(launch.state);
    let mut profile = configured(confine, Network::Ports { connect: PORTS.to_vec(), bind: Vec::new() });
    profile.read.extend(private.not_exposing(system::read()));
    profile.read.extend(program::installation(launch.program, launch.cwd, launch.path, &private));
    // As a home folder it would expose everything that the user has.
    profile.read.extend(Some(launch.cwd).filter(|cwd| !private.is_exposed_by(cwd)).map(Path::to_owned));
    profile.read.extend(read);
    profile.write = system::write();
    profile.write.extend(launch.own);
    profile.write.extend(write);
    profile
}
