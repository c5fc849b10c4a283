//! Registration of a project's secrets with the redactor, before a script runs: a script may hold a secret that no
//! provider has used yet.

use super::Project;
use crate::mcp::McpClients;
use agent_spaces_providers::register_secrets;

impl Project {
    /// Registers the secrets of everything that the user accepted: MCP servers, including those in toolboxes, and
    /// provider settings.
    pub(super) fn learn_secrets(&self, clients: &McpClients) {
        let in_toolboxes = self.toolboxes().values().flat_map(|toolbox| toolbox.servers.values());
        self.servers().values().chain(in_toolboxes).for_each(|server| clients.learn(server));
        if self.is_accepted() {
            let redactor = &clients.context().redactor;
            self.config().providers.values().for_each(|provider| register_secrets(provider, redactor));
        }
    }
}
