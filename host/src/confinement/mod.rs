//! What confined processes may reach: the profiles of MCP servers, and of the commands that start them.
//!
//! The profiles are applied elsewhere: `agent-spaces-mcp` confines servers, the command confines itself.
//!
//! - `system`: what every program needs of the machine.
//! - `closed`: folders that no default opens.
//! - `program`: where a program is installed.
//! - `server`: the profile of an MCP server.
//! - `host`: the profile of a command.

mod closed;
mod host;
mod program;
mod server;
mod system;

pub use agent_spaces_confine::{Gap, Kernel, Network, Profile, confined};
pub use host::{HostNeeds, host_profile};
pub(crate) use server::{ServerPlace, server_profile};

use crate::config::{Confine, ConfineLevel, ConfinedNetwork};

/// What a profile has by its configuration alone.
fn configured(confine: &Confine, otherwise: Network) -> Profile {
    let network = match &confine.network {
        None => otherwise,
        Some(ConfinedNetwork::None) => Network::None,
        Some(ConfinedNetwork::All) => Network::All,
        Some(ConfinedNetwork::Ports { connect, bind }) => {
            Network::Ports { connect: connect.clone(), bind: bind.clone() }
        }
    };
    let best_effort = confine.level == ConfineLevel::BestEffort;
    Profile { network, unix_sockets: confine.unix_sockets, best_effort, ..Profile::default() }
}
