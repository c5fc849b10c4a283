//! Which policy decides over a space's calls.

use super::reader::{Node, Result};
use serde_json::Value;

/// The policy of a space, or of all that have none of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// The rules to start from.
    pub preset: Preset,
}

/// A ready-made set of rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preset {
    /// Little is allowed.
    Restrictive,
    /// What most spaces want.
    Standard,
    /// Little is refused.
    Permissive,
}

impl Policy {
    /// A preset's name, or an object that has one.
    pub(super) fn read(node: Node<'_>) -> Result<Policy> {
        let preset = match node.value {
            Value::Object(_) => node.object("a policy", &["preset"])?.need("preset", Preset::read)?,
            _ => Preset::read(node)?,
        };
        Ok(Policy { preset })
    }
}

impl Preset {
    fn read(node: Node<'_>) -> Result<Preset> {
        let presets =
            [("restrictive", Preset::Restrictive), ("standard", Preset::Standard), ("permissive", Preset::Permissive)];
        node.choice("policy preset", &presets)
    }
}

#[cfg(test)]
mod tests {
    use super::super::from_value;
    use super::{Policy, Preset};
    use serde_json::{Value, json};

    fn read(policy: Value) -> Result<Option<Policy>, String> {
        from_value("f", json!({ "policy": policy })).map(|config| config.policy).map_err(|error| error.to_string())
    }

    #[test]
    fn a_policy_is_a_preset_by_name_or_in_an_object() {
        for (name, preset) in
            [("restrictive", Preset::Restrictive), ("standard", Preset::Standard), ("permissive", Preset::Permissive)]
        {
            assert_eq!(read(json!(name)), Ok(Some(Policy { preset })));
            assert_eq!(read(json!({ "preset": name })), Ok(Some(Policy { preset })));
        }
    }

    #[test]
    fn other_policies_are_refused() {
        assert_eq!(
            read(json!("permisive")).unwrap_err(),
            "f: $.policy: unknown policy preset `permisive`; did you mean `permissive`?"
        );
        assert_eq!(read(json!({})).unwrap_err(), "f: $.policy: the key `preset` is missing");
        assert!(
            read(json!(true)).unwrap_err().contains("one of `restrictive`, `standard`, `permissive`, found a boolean")
        );
        assert!(read(json!({ "preset": "standard", "rules": [] })).unwrap_err().contains("unknown key `rules`"));
    }
}
