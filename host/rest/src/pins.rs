//! Hosts that have the folders of workspaces, where hosts that share a store do not share those.

use std::collections::BTreeMap;

/// Hosts of workspaces. A space whose workspace is pinned to a host has its files, and its runs, there alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pins {
    /// Name of this host. Spaces that are made here are pinned to it.
    pub host: String,
    /// Hosts of the workspaces of configured spaces, by the name of the space. Others have a folder on each host.
    pub configured: BTreeMap<String, String>,
}
