//! What holds in a space or for a server, and which line would grant more.

use super::Config;
use super::limits::Limits;
use super::mcp_server::McpServer;
use super::place::Place;
use super::policy::Policy;
use std::time::Duration;

impl Config {
    /// Where a space stands in the configuration, such as `$.spaces.my-space`, or would stand.
    pub fn place_of_space(&self, space: &str) -> String {
        Place::root("").key("spaces").key(space).to_string()
    }

    /// Where the list stands that grants to a space, or to all.
    fn place_of_list(&self, space: Option<&str>) -> String {
        match space {
            Some(space) => format!("{}.capabilities", self.place_of_space(space)),
            None => "$.capabilities.global".to_owned(),
        }
    }

    /// The change to the configuration that would grant `entry` to a space, or to all.
    pub fn grant_line(&self, space: Option<&str>, entry: &str) -> String {
        format!("{}: {}: add {}", self.file, self.place_of_list(space), serde_json::Value::from(entry))
    }

    /// The limits of a space: its own, and where it has none the global ones.
    pub fn limits_of(&self, space: &str) -> Limits {
        self.spaces.get(space).map_or(self.limits, |space| space.limits.over(&self.limits))
    }

    /// The policy of a space: its own, or else the global one.
    pub fn policy_of(&self, space: &str) -> Option<Policy> {
        self.spaces.get(space).and_then(|space| space.policy).or(self.policy)
    }

    /// How long one call of a server's tool may take, as far as the configuration says: the tool's own limit, or else
    /// the server's, or else the one of all.
    pub fn timeout_of(&self, server: &McpServer, tool: &str) -> Option<Duration> {
        server.tool_timeouts.get(tool).copied().or(server.timeout).or(self.defaults.tool_timeout)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Config, Policy, Preset, Quantity, from_value};
    use serde_json::json;

    fn config() -> Config {
        let value = json!({
            "capabilities": {
                "global": ["@agent-spaces/std", "./sdk"], "registry": { "@company/internal-sdk": "./internal" }
            },
            "mcpServers": { "slack": { "command": "x" } },
            "limits": { "fuel": 1, "calls": 2 },
            "policy": "standard",
            "spaces": {
                "my-space": {
                    "capabilities": ["@company/internal-sdk", "mcp:slack"], "limits": { "fuel": 3 }, "policy": "permissive"
                },
                "plain": {}
            }
        });
        from_value("agent-spaces.config.json", value).unwrap()
    }

    #[test]
    fn a_grant_names_file_place_and_entry() {
        let config = config();
        assert_eq!(
            config.grant_line(Some("my-space"), "mcp:slack"),
            "agent-spaces.config.json: $.spaces.my-space.capabilities: add \"mcp:slack\""
        );
        assert_eq!(
            config.grant_line(None, "./a\"b\n"),
            "agent-spaces.config.json: $.capabilities.global: add \"./a\\\"b\\n\""
        );
        assert_eq!(config.place_of_space("v1.2"), "$.spaces[\"v1.2\"]");
    }

    #[test]
    fn a_space_has_the_global_settings_and_its_own_over_them() {
        let config = config();
        let limits = config.limits_of("my-space");
        assert_eq!((limits.fuel, limits.calls), (Some(Quantity::Count(3)), Some(Quantity::Count(2))));
        assert_eq!(config.limits_of("plain"), config.limits);
        assert_eq!(config.policy_of("my-space"), Some(Policy { preset: Preset::Permissive }));
        assert_eq!(config.policy_of("plain"), Some(Policy { preset: Preset::Standard }));
    }
}
