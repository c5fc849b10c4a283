//! What is secret in a project. It is made known before a script of it runs: a script may hold what no provider has used.

use super::Project;
use crate::mcp::McpClients;
use crate::providers::learn_grants;

impl Project {
    /// Makes known what is secret in all that its user accepted: of its servers, those in toolboxes included, and of what is
    /// given to providers.
    pub(super) fn learn_secrets(&self, clients: &McpClients) {
        let in_toolboxes = self.toolboxes().values().flat_map(|toolbox| toolbox.servers.values());
        self.servers().values().chain(in_toolboxes).for_each(|server| clients.learn(server));
        if self.is_accepted() {
            let redactor = &clients.context().redactor;
            self.config().providers.values().for_each(|provider| learn_grants(provider, redactor));
        }
    }
}
