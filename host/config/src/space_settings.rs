//! Effective settings of a space, and the configuration line that would grant it more.

use super::config_path::ConfigPath;
use super::durable::Durable;
use super::limits::Limits;
use super::{Config, Entry};
use agent_spaces_policy::Settings;

impl Config {
    /// Returns the path of a space in the configuration, existing or not: `$.spaces.my-space`.
    pub fn place_of_space(&self, space: &str) -> String {
        ConfigPath::root("").key("spaces").key(space).to_string()
    }

    /// Returns the path of the list that grants to a space, or to all.
    fn list_path(&self, space: Option<&str>) -> String {
        match space {
            Some(space) => format!("{}.capabilities", self.place_of_space(space)),
            None => "$.capabilities.global".to_owned(),
        }
    }

    /// Returns every entry of the lists of capabilities with its path.
    pub fn entries(&self) -> impl Iterator<Item = (&Entry, String)> {
        let global = std::iter::once((None, &self.global));
        let spaces = self.spaces.iter().map(|(name, space)| (Some(name.as_str()), &space.capabilities));
        global.chain(spaces).flat_map(move |(space, list)| {
            let path = self.list_path(space);
            list.iter().enumerate().map(move |(index, entry)| (entry, format!("{path}[{index}]")))
        })
    }

    /// Describes the change to the configuration that would grant `entry` to a space, or to all.
    pub fn grant_line(&self, space: Option<&str>, entry: &str) -> String {
        format!("{}: {}: add {}", self.file, self.list_path(space), serde_json::Value::from(entry))
    }

    /// Returns the limits of a space: its own, over the global ones.
    pub fn limits_of(&self, space: &str) -> Limits {
        self.spaces.get(space).map_or(self.limits, |space| space.limits.over(&self.limits))
    }

    /// Returns the settings of durable runs of a space: its own, over the global ones.
    pub fn durable_of(&self, space: &str) -> Durable {
        self.spaces.get(space).map_or(self.durable, |space| space.durable.over(&self.durable))
    }

    /// Returns the policy of a space: its own, over the global one.
    pub fn policy_of(&self, space: &str) -> Settings {
        self.spaces.get(space).map_or_else(|| self.policy.clone(), |space| space.policy.over(&self.policy))
    }
}

#[cfg(test)]
mod tests {
    use crate::{Config, Quantity, from_value};
    use agent_spaces_policy::Preset;
    use serde_json::json;

    fn config() -> Config {
        let value = json!({
            "capabilities": {
                "global": ["@agent-spaces/std", "./sdk"], "registry": { "@company/internal-sdk": "./internal" }
            },
            "mcpServers": { "slack": { "command": "x" } },
            "limits": { "fuel": 1, "calls": 2 },
            "policy": {
                "preset": "standard", "fs": { "read": true, "write": true }, "functions": { "github.*": "approve" }
            },
            "spaces": {
                "my-space": {
                    "capabilities": ["@company/internal-sdk", "mcp:slack"], "limits": { "fuel": 3 },
                    "policy": { "preset": "permissive", "fs": { "write": false }, "functions": { "github.list": "allow" } }
                },
                "plain": {}
            }
        });
        from_value("agent-spaces.config.json", value).unwrap()
    }

    #[test]
    fn a_grant_line_has_file_path_and_entry() {
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
    fn settings_of_a_space_override_the_global_ones() {
        let config = config();
        let limits = config.limits_of("my-space");
        assert_eq!((limits.fuel, limits.calls), (Some(Quantity::Count(3)), Some(Quantity::Count(2))));
        assert_eq!(config.limits_of("plain"), config.limits);
        let policy = config.policy_of("my-space");
        assert_eq!(
            (policy.preset, policy.fs.read, policy.fs.write),
            (Some(Preset::Permissive), Some(true), Some(false))
        );
        let paths: Vec<_> = policy.functions.iter().map(|rule| rule.place.as_str()).collect();
        assert_eq!(paths, ["$.policy.functions[\"github.*\"]", "$.spaces.my-space.policy.functions[\"github.list\"]"]);
        assert_eq!(config.policy_of("plain"), config.policy);
        assert_eq!(config.policy_of("unknown"), config.policy);
    }
}
