//! Sandbox profiles of MCP servers and of the commands that start them.
//!
//! The profiles are applied elsewhere: `agent-spaces-mcp` confines servers, the command confines itself.
//!
//! # Layout
//! - `system`: system paths that every program needs.
//! - `private_folders`: folders that no default rule may expose.
//! - `program`: installation folder of a program.
//! - `server`: profile of an MCP server.
//! - `host`: profile of a command.

mod host;
mod private_folders;
mod program;
mod server;
mod system;

pub use agent_spaces_confine::{Gap, Kernel, Network, Profile, confined};
pub use host::{HostNeeds, host_profile};
pub use server::{ServerLaunch, server_profile};

use agent_spaces_config::{Confine, ConfineLevel, ConfinedNetwork};

/// Profile with only the settings of the configuration.
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
