//! The profile of an MCP server.

use super::closed::Closed;
use super::{Network, Profile, configured, program, system};
use crate::config::Confine;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// TCP ports that a server connects to if nothing else is said: names, the web.
const PORTS: &[u16] = &[53, 80, 443];

/// Where a server is started, and with what.
pub(crate) struct ServerPlace<'a> {
    /// The program, as it is started.
    pub(crate) program: &'a str,
    /// Its `PATH`.
    pub(crate) path: Option<&'a OsStr>,
    /// The folder that it is started in: it is read.
    pub(crate) cwd: &'a Path,
    /// Folders of its own: they are written.
    pub(crate) own: Vec<PathBuf>,
    /// Where this program keeps logins and what was accepted.
    pub(crate) state: Option<&'a Path>,
}

/// What a server may reach: what every program needs, its program, the folder that it is started in, folders of its own, the
/// web, and these paths besides.
pub(crate) fn server_profile(
    confine: &Confine,
    place: ServerPlace<'_>,
    read: Vec<PathBuf>,
    write: Vec<PathBuf>,
) -> Profile {
    let closed = Closed::new(place.state);
    let mut profile = configured(confine, Network::Ports { connect: PORTS.to_vec(), bind: Vec::new() });
    profile.read.extend(closed.without(system::read()));
    profile.read.extend(program::installation(place.program, place.cwd, place.path, &closed));
    // In a home folder it would be everything that the user has.
    profile.read.extend(Some(place.cwd).filter(|cwd| !closed.is_in(cwd)).map(Path::to_owned));
    profile.read.extend(read);
    profile.write = system::write();
    profile.write.extend(place.own);
    profile.write.extend(write);
    profile
}
