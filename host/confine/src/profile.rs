//! Sandbox profile.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Sandbox profile of a process and its descendants. Everything not listed is denied.
///
/// Paths that do not exist when the profile is applied are ignored. A folder includes everything below it, but not the
/// targets of symbolic links to elsewhere.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Files and folders that may be read and executed.
    pub read: Vec<PathBuf>,
    /// Files and folders that may be read, executed, written, created and removed. Device files cannot be created.
    pub write: Vec<PathBuf>,
    /// Network access.
    pub network: Network,
    /// True if Unix sockets may be opened. They give access to the desktop's message bus, container engines and key
    /// agents, which would act on behalf of the process outside of the sandbox. Socket pairs, for communication with
    /// children, are always allowed.
    pub unix_sockets: bool,
    /// True if parts of the profile that the kernel cannot enforce are left out instead of being an error.
    pub best_effort: bool,
}

/// Network access of a process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum Network {
    /// None: no IPv4 or IPv6 socket can be opened.
    #[default]
    None,
    /// TCP on these ports, to any address, and unrestricted UDP, which DNS needs.
    Ports {
        /// Ports that may be connected to.
        connect: Vec<u16>,
        /// Ports that may be listened on; 0 means ports chosen by the system.
        bind: Vec<u16>,
    },
    /// Unrestricted.
    All,
}

impl Network {
    /// Returns the union of both.
    pub fn union(self, other: Network) -> Network {
        match (self, other) {
            (Network::All, _) | (_, Network::All) => Network::All,
            (Network::None, network) | (network, Network::None) => network,
            (Network::Ports { mut connect, mut bind }, Network::Ports { connect: more, bind: others }) => {
                connect.extend(more);
                bind.extend(others);
                for ports in [&mut connect, &mut bind] {
                    ports.sort_unstable();
                    ports.dedup();
                }
                Network::Ports { connect, bind }
            }
        }
    }
}

impl Profile {
    /// Adds everything that another profile allows. A process can start only processes with the same or fewer rights.
    pub fn include(&mut self, other: &Profile) {
        for (mine, theirs) in [(&mut self.read, &other.read), (&mut self.write, &other.write)] {
            for path in theirs {
                if !mine.contains(path) {
                    mine.push(path.clone());
                }
            }
        }
        self.network = std::mem::take(&mut self.network).union(other.network.clone());
        self.unix_sockets |= other.unix_sockets;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn include_adds_everything_that_another_profile_allows() {
        let mut host = Profile { read: vec!["/usr".into()], network: ports(&[443], &[7878]), ..Profile::default() };
        let server = Profile {
            read: vec!["/usr".into(), "/opt/server".into()],
            write: vec!["/data".into()],
            network: ports(&[443, 5432], &[]),
            unix_sockets: true,
            ..Profile::default()
        };
        host.include(&server);
        assert_eq!(host.read, [PathBuf::from("/usr"), "/opt/server".into()]);
        assert_eq!((host.write, host.unix_sockets), (vec![PathBuf::from("/data")], true));
        assert_eq!(host.network, ports(&[443, 5432], &[7878]));
        assert_eq!(ports(&[1], &[]).union(Network::None), ports(&[1], &[]));
        assert_eq!(Network::None.union(Network::All), Network::All);
    }

    fn ports(connect: &[u16], bind: &[u16]) -> Network {
        Network::Ports { connect: connect.to_vec(), bind: bind.to_vec() }
    }
}
