//! Spaces (`spaces`): capabilities, limits and policy of each, beside the global ones.

use super::durable::Durable;
use super::entry::Entry;
use super::limits::Limits;
use super::names::check_name;
use super::policy;
use super::reader::{Node, Result};
use agent_spaces_policy::Settings;
use std::collections::BTreeMap;

/// Configuration of a space.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Space {
    /// Description.
    pub description: Option<String>,
    /// Capabilities, beside the global ones.
    pub capabilities: Vec<Entry>,
    /// Its own limits; see [`Config::limits_of`](super::Config::limits_of).
    pub limits: Limits,
    /// Its own policy; see [`Config::policy_of`](super::Config::policy_of).
    pub policy: Settings,
    /// Folder of `fs` in its scripts.
    pub workspace: Option<String>,
    /// Its own settings of durable runs; see [`Config::durable_of`](super::Config::durable_of).
    pub durable: Durable,
}

/// Reads the `spaces` object.
pub(super) fn read_spaces(node: Node<'_>) -> Result<BTreeMap<String, Space>> {
    node.map("an object of spaces", |name, node| {
        check_name(&node.path, "a space", name)?;
        let keys = ["description", "capabilities", "limits", "policy", "workspace", "durable"];
        let object = node.object("a space", &keys)?;
        Ok(Space {
            description: object.read("description", |node| node.text("a description").map(str::to_owned))?,
            capabilities: object.read("capabilities", Entry::read_list)?.unwrap_or_default(),
            limits: object.read("limits", Limits::read)?.unwrap_or_default(),
            policy: object.read("policy", policy::read)?.unwrap_or_default(),
            workspace: object.read("workspace", |node| node.filled_text("a path").map(str::to_owned))?,
            durable: object.read("durable", Durable::read)?.unwrap_or_default(),
        })
    })
}

#[cfg(test)]
mod tests {
    use crate::space::Space;
    use crate::{Config, Entry, Quantity, from_value};
    use agent_spaces_policy::Preset;
    use serde_json::{Value, json};

    fn read(spaces: Value) -> Result<Config, String> {
        from_value("f", json!({ "spaces": spaces })).map_err(|error| error.to_string())
    }

    #[test]
    fn a_space_has_its_own_capabilities_and_settings() {
        let config = read(json!({
            "my-space": {
                "description": "Ours", "capabilities": ["@company/internal-sdk", "mcp:slack", "mcp:github"],
                "limits": { "calls": 5 }, "policy": "restrictive", "workspace": "./work"
            },
            "empty": {}
        }))
        .unwrap();
        let space = &config.spaces["my-space"];
        let capabilities =
            [Entry::Module("@company/internal-sdk".into()), Entry::Mcp("slack".into()), Entry::Mcp("github".into())];
        assert_eq!(space.capabilities, capabilities);
        assert_eq!(space.description.as_deref(), Some("Ours"));
        assert_eq!(space.limits.calls, Some(Quantity::Count(5)));
        assert_eq!(space.policy.preset, Some(Preset::Restrictive));
        assert_eq!(space.workspace.as_deref(), Some("./work"));
        assert_eq!(config.spaces["empty"], Space::default());
    }

    #[test]
    fn an_invalid_space_is_refused_with_its_path() {
        assert_eq!(
            read(json!({ "my-space": { "limits": { "fuel": "lots" } } })).unwrap_err(),
            "f: $.spaces.my-space.limits.fuel: expected a whole number above zero, such as 1000, \"1_000_000_000\" or \"500M\""
        );
        assert_eq!(
            read(json!({ "v1.2": { "capabilites": [] } })).unwrap_err(),
            "f: $.spaces[\"v1.2\"].capabilites: unknown key `capabilites`; did you mean `capabilities`?"
        );
        for name in ["", "../x", "a/b", ".hidden", "a\u{1b}[2J"] {
            let message = read(json!({ name: {} })).unwrap_err();
            assert!(message.contains("cannot be the name of a space") && !message.contains('\u{1b}'), "{message}");
        }
        for space in
            [json!(null), json!([]), json!("x"), json!({ "workspace": "" }), json!({ "capabilities": "mcp:a" })]
        {
            assert!(read(json!({ "a": space })).is_err(), "{space}");
        }
    }
}
