//! What a space is granted, whether that exists, and which line would grant more.

use super::Config;
use super::entry::Entry;
use super::error::{ConfigError, quoted};
use super::limits::Limits;
use super::names::nearest;
use super::place::Place;
use super::policy::Policy;

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

    /// What a space may use: the global capabilities, then its own.
    pub fn grants(&self, space: &str) -> impl Iterator<Item = &Entry> {
        let own = self.spaces.get(space).map(|space| space.capabilities.as_slice()).unwrap_or_default();
        self.global.iter().chain(own)
    }

    /// The limits of a space: its own, and where it has none the global ones.
    pub fn limits_of(&self, space: &str) -> Limits {
        self.spaces.get(space).map_or(self.limits, |space| space.limits.over(&self.limits))
    }

    /// The policy of a space: its own, or else the global one.
    pub fn policy_of(&self, space: &str) -> Option<Policy> {
        self.spaces.get(space).and_then(|space| space.policy).or(self.policy)
    }

    /// Checks that all servers and modules that the lists name exist. `modules` are those that stand
    /// in no registry, such as the host's own.
    pub fn check_grants(&self, modules: &[&str]) -> Result<(), ConfigError> {
        let global = [(None, &self.global)].into_iter();
        let spaces = self.spaces.iter().map(|(name, space)| (Some(name.as_str()), &space.capabilities));
        for (space, entries) in global.chain(spaces) {
            for (index, entry) in entries.iter().enumerate() {
                let place = || format!("{}[{index}]", self.place_of_list(space));
                self.check_entry(entry, modules).map_err(|error| ConfigError { path: place(), ..error })?;
            }
        }
        Ok(())
    }

    /// Checks that the server or module that an entry names exists. A path is checked by who reads it.
    pub fn check_entry(&self, entry: &Entry, modules: &[&str]) -> Result<(), ConfigError> {
        let known = match entry {
            Entry::Path { .. } => true,
            Entry::Module(name) => self.registry.contains_key(name) || modules.contains(&name.as_str()),
            Entry::Mcp(server) => self.mcp_servers.contains_key(server),
        };
        if known {
            return Ok(());
        }
        let (near, home) = match entry {
            Entry::Mcp(server) => {
                let near = nearest(server, self.mcp_servers.keys().map(String::as_str));
                (near.map(|server| format!("mcp:{server}")), "$.mcpServers")
            }
            Entry::Path { path: name, .. } | Entry::Module(name) => {
                let names = self.registry.keys().map(String::as_str).chain(modules.iter().copied());
                (nearest(name, names).map(str::to_owned), "$.capabilities.registry")
            }
        };
        let fix = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("add it under {home}"),
        };
        let error = Place::root(&self.file).error(format!("unknown capability {}", quoted(&entry.to_string())));
        Err(error.with_fix(fix))
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
        let grants: Vec<_> = config.grants("my-space").map(ToString::to_string).collect();
        assert_eq!(grants, ["@agent-spaces/std", "./sdk", "@company/internal-sdk", "mcp:slack"]);
        assert_eq!(config.grants("stranger").count(), 2);
        let limits = config.limits_of("my-space");
        assert_eq!((limits.fuel, limits.calls), (Some(Quantity::Count(3)), Some(Quantity::Count(2))));
        assert_eq!(config.limits_of("plain"), config.limits);
        assert_eq!(config.policy_of("my-space"), Some(Policy { preset: Preset::Permissive }));
        assert_eq!(config.policy_of("plain"), Some(Policy { preset: Preset::Standard }));
    }

    #[test]
    fn s0_45_an_unknown_capability_is_named() {
        let mut config = config();
        assert_eq!(config.check_grants(&["@agent-spaces/std"]), Ok(()));
        assert_eq!(
            config.check_grants(&[]).unwrap_err().to_string(),
            "agent-spaces.config.json: $.capabilities.global[0]: unknown capability `@agent-spaces/std`; \
             add it under $.capabilities.registry"
        );
        config.mcp_servers.clear();
        assert_eq!(
            config.check_grants(&["@agent-spaces/std"]).unwrap_err().to_string(),
            "agent-spaces.config.json: $.spaces.my-space.capabilities[1]: unknown capability `mcp:slack`; \
             add it under $.mcpServers"
        );
    }

    #[test]
    fn s0_45_a_slip_gets_the_nearest_capability() {
        let fix = |entry: &str| config().check_entry(&entry.parse().unwrap(), &[]).unwrap_err().fix.unwrap();
        assert_eq!(fix("mcp:slak"), "did you mean `mcp:slack`?");
        assert_eq!(fix("@company/internal-skd"), "did you mean `@company/internal-sdk`?");
    }
}
