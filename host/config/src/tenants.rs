//! Tenants (`serve.tenants`): groups of callers with quotas that they share.

use super::config_path::ConfigPath;
use super::error::quoted;
use super::names::check_name;
use super::quantity::{read_bytes, read_count};
use super::reader::{Node, Result};
use super::space::Space;
use agent_spaces_types::nearest::nearest;
use std::collections::BTreeMap;

/// Maximum number of tenants: as many as there may be callers.
const MAX_TENANTS: usize = 1_000;

/// Most runs at once of one tenant on all hosts.
const MAX_RUNS: u32 = 100_000;

/// Most spaces of one tenant: those of a thousand callers.
const MAX_SPACES: u32 = 1_000_000;

/// Quotas of a tenant; `None` for no quota.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tenant {
    /// Runs in memory at once, on all hosts.
    pub runs: Option<u32>,
    /// Fuel that its runs use in an hour.
    pub fuel_per_hour: Option<u64>,
    /// Memory that its runs hold on average over an hour, in bytes.
    pub memory_per_hour: Option<u64>,
    /// Calls of capability functions in an hour.
    pub calls_per_hour: Option<u64>,
    /// Spaces that its callers made.
    pub spaces: Option<u32>,
    /// Files of those spaces, in bytes.
    pub storage: Option<u64>,
}

impl Tenant {
    fn read(node: Node<'_>) -> Result<Tenant> {
        let keys = ["runs", "fuelPerHour", "memoryPerHour", "callsPerHour", "spaces", "storage"];
        let object = node.object("an object of quotas", &keys)?;
        let amount = |node: Node<'_>| read_count(node, u64::MAX);
        let bytes = |node: Node<'_>| read_bytes(node, 1, u64::MAX);
        Ok(Tenant {
            runs: object.read("runs", |node| read_count(node, MAX_RUNS))?,
            fuel_per_hour: object.read("fuelPerHour", amount)?,
            memory_per_hour: object.read("memoryPerHour", bytes)?,
            calls_per_hour: object.read("callsPerHour", amount)?,
            spaces: object.read("spaces", |node| read_count(node, MAX_SPACES))?,
            storage: object.read("storage", bytes)?,
        })
    }
}

/// Reads the `tenants` object.
pub(super) fn read_tenants(node: Node<'_>) -> Result<BTreeMap<String, Tenant>> {
    let tenants = node.map("an object of tenants", |name, node| {
        check_name(&node.path, "a tenant", name)?;
        Tenant::read(node)
    })?;
    match tenants.len() {
        0..=MAX_TENANTS => Ok(tenants),
        _ => Err(node.error(format!("more than {MAX_TENANTS} tenants"))),
    }
}

/// Caller that may be of a tenant.
#[derive(Clone, Copy)]
pub(super) struct Member<'a> {
    pub(super) name: &'a str,
    pub(super) tenant: Option<&'a str>,
    /// Configured spaces that it is given.
    pub(super) spaces: &'a [String],
}

/// Refuses callers of a tenant that is not configured.
pub(super) fn check_tenants(
    callers: &ConfigPath<'_>,
    tenants: &BTreeMap<String, Tenant>,
    members: &[Member<'_>],
) -> Result<()> {
    for member in members {
        let Some(unknown) = member.tenant.filter(|tenant| !tenants.contains_key(*tenant)) else { continue };
        let error = callers.key(member.name).key("tenant").error(format!("unknown tenant {}", quoted(unknown)));
        return Err(error.with_fix(match nearest(unknown, tenants.keys().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "add it to `serve.tenants`".to_owned(),
        }));
    }
    Ok(())
}

/// Refuses a space with a workspace that callers of several tenants are given: they would share its files. A caller
/// without a tenant is one by itself.
pub(super) fn check_workspaces(
    callers: &ConfigPath<'_>,
    members: &[Member<'_>],
    spaces: &BTreeMap<String, Space>,
) -> Result<()> {
    // By space, the first caller that is given it.
    let mut given: BTreeMap<&str, Member<'_>> = BTreeMap::new();
    for member in members {
        let has_workspace = |space: &&String| spaces.get(*space).is_some_and(|space| space.workspace.is_some());
        for space in member.spaces.iter().filter(has_workspace) {
            let first = *given.entry(space.as_str()).or_insert(*member);
            let is_same = first.name == member.name || (first.tenant.is_some() && first.tenant == member.tenant);
            if !is_same {
                let (space, other) = (quoted(space), quoted(first.name));
                let message = format!("the space {space} has a workspace, and {other} of another tenant has it too");
                let fix = "give each tenant a space of its own, or remove `workspace`: spaces made at run time have files \
                           of their own";
                return Err(callers.key(member.name).key("spaces").error(message).with_fix(fix));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::Tenant;
    use crate::{Config, from_value};
    use serde_json::{Value, json};

    fn read(tenants: Value, callers: Value) -> Result<Config, String> {
        let spaces = json!({ "shared": {}, "desk": { "workspace": "./desk" } });
        let config = json!({ "serve": { "tenants": tenants, "callers": callers }, "spaces": spaces });
        from_value("f", config).map_err(|error| error.to_string())
    }

    fn caller(tenant: Option<&str>, spaces: &[&str]) -> Value {
        let mut caller = json!({ "token": { "env": "T" } });
        if let Some(tenant) = tenant {
            caller["tenant"] = tenant.into();
        }
        if !spaces.is_empty() {
            caller["spaces"] = json!(spaces);
        }
        caller
    }

    #[test]
    fn a_tenant_has_the_quotas_that_are_set() {
        let acme = json!({
            "runs": 20, "fuelPerHour": "500G", "memoryPerHour": "2GiB", "callsPerHour": 10_000, "spaces": 50,
            "storage": "10GiB",
        });
        let callers = json!({ "shop": caller(Some("acme"), &[]), "alone": caller(None, &[]) });
        let serve = read(json!({ "acme": acme, "free": {} }), callers).unwrap().serve;
        let expected = Tenant {
            runs: Some(20),
            fuel_per_hour: Some(500_000_000_000),
            memory_per_hour: Some(2 << 30),
            calls_per_hour: Some(10_000),
            spaces: Some(50),
            storage: Some(10 << 30),
        };
        assert_eq!((serve.tenants["acme"], serve.tenants["free"]), (expected, Tenant::default()));
        assert_eq!(serve.callers["shop"].tenant.as_deref(), Some("acme"));
        assert_eq!(serve.callers["alone"].tenant, None);
    }

    #[test]
    fn wrong_quotas_are_refused_by_their_place() {
        for (wrong, place) in [
            (json!({ "acme": { "runs": 0 } }), "$.serve.tenants.acme.runs"),
            (json!({ "acme": { "runs": 100_001 } }), "$.serve.tenants.acme.runs"),
            (json!({ "acme": { "spaces": "many" } }), "$.serve.tenants.acme.spaces"),
            (json!({ "acme": { "storage": 0 } }), "$.serve.tenants.acme.storage"),
            (json!({ "acme": { "fuelPerHour": -1 } }), "$.serve.tenants.acme.fuelPerHour"),
            (json!({ "acme": 5 }), "$.serve.tenants.acme"),
            (json!({ "a b": {} }), "cannot be the name"),
            (json!({ "acme": { "fuelPerHours": 1 } }), "did you mean `fuelPerHour`?"),
        ] {
            let error = read(wrong.clone(), json!({})).unwrap_err();
            assert!(error.contains(place), "{wrong}: {error}");
        }
        let many: Value =
            (0..1_001).map(|number| (format!("t{number}"), json!({}))).collect::<serde_json::Map<_, _>>().into();
        assert!(read(many, json!({})).unwrap_err().contains("more than 1000 tenants"));
    }

    #[test]
    fn a_caller_names_a_tenant_that_exists() {
        let error = read(json!({ "acme": {} }), json!({ "shop": caller(Some("acmee"), &[]) })).unwrap_err();
        assert_eq!(error, "f: $.serve.callers.shop.tenant: unknown tenant `acmee`; did you mean `acme`?");
        let error = read(json!({}), json!({ "shop": caller(Some("acme"), &[]) })).unwrap_err();
        assert!(error.ends_with("add it to `serve.tenants`"), "{error}");
        assert!(read(json!({ "acme": {} }), json!({ "shop": caller(Some(""), &[]) })).is_err());
    }

    #[test]
    fn tenants_share_no_workspace() {
        let tenants = json!({ "acme": {}, "globex": {} });
        let (ours, theirs) = (caller(Some("acme"), &["desk", "shared"]), caller(Some("globex"), &["shared", "desk"]));
        let error = read(tenants.clone(), json!({ "a": ours, "b": theirs })).unwrap_err();
        assert!(error.contains("$.serve.callers.b.spaces") && error.contains("`desk`"), "{error}");
        let alone = caller(None, &["desk"]);
        assert!(read(tenants.clone(), json!({ "a": ours, "b": alone })).is_err());
        assert!(read(tenants.clone(), json!({ "a": alone, "b": alone })).is_err());
        let other = caller(Some("globex"), &["shared"]);
        assert!(read(tenants, json!({ "a": ours, "b": ours, "c": other })).is_ok());
        // Without tenants, callers may share what they are given.
        assert!(read(json!({}), json!({ "a": alone, "b": alone })).is_ok());
    }
}
