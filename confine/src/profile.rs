//! What a process may reach.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What a process, and all that it starts, may reach. What is not named is refused.
///
/// Paths that do not exist when the profile is applied give nothing. A folder stands for all that is below it; a symbolic
/// link in it that leads elsewhere does not.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Files and folders that may be read, and programs that may be started.
    pub read: Vec<PathBuf>,
    /// Files and folders that may be read, started, written, made and removed. Device files cannot be made.
    pub write: Vec<PathBuf>,
    /// What of the network may be used.
    pub network: Network,
    /// Whether Unix sockets may be opened. Through them a process reaches the desktop's message bus, container engines and
    /// agents with keys, all of which do things for it that it cannot do itself. Pairs of connected sockets, by which a
    /// process talks to its children, are always allowed.
    pub unix_sockets: bool,
    /// Whether less is better than nothing: what the kernel cannot enforce is left out.
    pub best_effort: bool,
}

/// What of the network may be used.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum Network {
    /// Nothing: no IPv4 or IPv6 socket can be opened.
    #[default]
    None,
    /// TCP by these ports, whatever the address, and UDP without a limit: names are looked up with it.
    Ports {
        /// Ports that may be connected to.
        connect: Vec<u16>,
        /// Ports that may be listened on; 0 stands for those that the system chooses.
        bind: Vec<u16>,
    },
    /// Everything.
    All,
}

impl Network {
    /// What both may use together.
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
    /// Lets this profile reach what another one reaches. A process can only start what has no more than itself.
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
    fn a_profile_includes_all_that_another_reaches() {
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
