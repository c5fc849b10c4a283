//! Server settings (`serve`) of `agent-spaces mcp serve` and `agent-spaces serve`.

use super::config_path::ConfigPath;
use super::error::quoted;
use super::names::check_name;
use super::reader::{Node, Object, Result};
use super::space::Space;
use super::tenants::{Member, Tenant, check_tenants, check_workspaces, read_tenants};
use super::workspaces::ServedWorkspaces;
use agent_spaces_types::nearest::nearest;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of callers. Each costs a hashed token, scopes and an MCP service with an empty table of sessions when
/// the server starts, some kilobytes; sessions, runs and spaces are made at a caller's first request.
const MAX_CALLERS: usize = 1_000;

/// Maximum number of spaces that one caller may use: as many as a person can tell apart in a list.
const MAX_SPACES: usize = 100;

/// Server settings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Serve {
    /// Callers over HTTP, by name.
    pub callers: BTreeMap<String, ServedCaller>,
    /// Tenants of callers, by name.
    pub tenants: BTreeMap<String, Tenant>,
    /// Functions exposed as tools in proxy mode: by function, capability, module, or `*`.
    pub expose: Vec<String>,
    /// Concurrency limits.
    pub concurrency: Concurrency,
    /// Webhooks of the service.
    pub webhooks: Webhooks,
    /// Workspaces of hosts that share a store. Counts only if the configuration is accepted.
    pub workspaces: ServedWorkspaces,
}

/// Settings of webhooks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Webhooks {
    /// True if they may be delivered to private addresses, such as `10.0.0.1`. Counts only if the configuration is
    /// accepted.
    pub allow_private: bool,
}

impl Webhooks {
    fn read(node: Node<'_>) -> Result<Webhooks> {
        let object = node.object("an object with `allowPrivate`", &["allowPrivate"])?;
        Ok(Webhooks { allow_private: object.read("allowPrivate", |node| node.flag())?.unwrap_or_default() })
    }
}

/// Maximum concurrency limit of one caller: the host has slots for some hundred runs.
pub const MAX_CONCURRENCY: u16 = 1_000;

/// Concurrency limits of one caller by mode, and one of all callers; `None` for the default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Concurrency {
    /// Runs in code mode.
    pub code: Option<u16>,
    /// Calls in toolbox mode.
    pub toolbox: Option<u16>,
    /// Calls in proxy mode.
    pub proxy: Option<u16>,
    /// Runs of the REST API.
    pub rest: Option<u16>,
    /// Runs of the REST API of all callers together, in one process.
    pub all: Option<u16>,
}

impl Concurrency {
    /// Reads one number for all modes, or one for each.
    fn read(node: Node<'_>) -> Result<Concurrency> {
        let count = |node: Node<'_>| {
            let count = node.value.as_u64().and_then(|count| u16::try_from(count).ok());
            let count = count.filter(|count| (1..=MAX_CONCURRENCY).contains(count));
            count.ok_or_else(|| node.error(format!("expected a number from 1 to {MAX_CONCURRENCY}")))
        };
        if !node.value.is_object() {
            let all = Some(count(node)?);
            return Ok(Concurrency { code: all, toolbox: all, proxy: all, rest: all, all: None });
        }
        let keys = ["code", "toolbox", "proxy", "rest", "all"];
        let object = node.object("a number, or an object of modes and numbers", &keys)?;
        Ok(Concurrency {
            code: object.read("code", count)?,
            toolbox: object.read("toolbox", count)?,
            proxy: object.read("proxy", count)?,
            rest: object.read("rest", count)?,
            all: object.read("all", count)?,
        })
    }
}

/// Caller over HTTP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServedCaller {
    /// Source of the caller's token.
    pub token: TokenSource,
    /// Scopes of the caller.
    pub scopes: BTreeSet<String>,
    /// True if the person at the caller's client may approve calls.
    pub may_approve: bool,
    /// Configured spaces that the caller may use, the default one first; none for the served space.
    pub spaces: Vec<String>,
    /// Tenant whose quotas it shares; `None` for one of its own, without quotas.
    pub tenant: Option<String>,
}

/// Source of a token; never the configuration itself, which others may read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TokenSource {
    /// Variable of the host's environment.
    Env(String),
    /// File.
    File(String),
}

impl Serve {
    pub(super) fn read(node: Node<'_>) -> Result<Serve> {
        let keys = ["callers", "tenants", "expose", "concurrency", "webhooks", "workspaces"];
        let expected = "an object with `callers`, `tenants`, `expose`, `concurrency`, `webhooks` and `workspaces`";
        let object = node.object(expected, &keys)?;
        let callers = object.read("callers", |node| {
            let callers = node.map("an object of callers", |name, node| {
                check_name(&node.path, "a caller", name)?;
                ServedCaller::read(node)
            })?;
            if callers.len() > MAX_CALLERS {
                return Err(node.error(format!("more than {MAX_CALLERS} callers")));
            }
            Ok(callers)
        })?;
        let tenants = object.read("tenants", read_tenants)?.unwrap_or_default();
        let names = |node: Node<'_>| {
            node.list("a list of functions and capabilities", |node| {
                node.filled_text("the name of a function or a capability").map(str::to_owned)
            })
        };
        let expose = object.read("expose", names)?.unwrap_or_default();
        let concurrency = object.read("concurrency", Concurrency::read)?.unwrap_or_default();
        let webhooks = object.read("webhooks", Webhooks::read)?.unwrap_or_default();
        let workspaces = object.read("workspaces", ServedWorkspaces::read)?.unwrap_or_default();
        Ok(Serve { callers: callers.unwrap_or_default(), tenants, expose, concurrency, webhooks, workspaces })
    }

    /// Refuses callers with a space or a tenant that is not configured, and tenants that share files.
    pub(super) fn check_spaces(&self, root: &ConfigPath<'_>, spaces: &BTreeMap<String, Space>) -> Result<()> {
        let serve = root.key("serve");
        let callers = serve.key("callers");
        for (name, caller) in &self.callers {
            let Some((index, unknown)) =
                caller.spaces.iter().enumerate().find(|(_, space)| !spaces.contains_key(*space))
            else {
                continue;
            };
            let error =
                callers.key(name).key("spaces").index(index).error(format!("unknown space {}", quoted(unknown)));
            return Err(error.with_fix(match nearest(unknown, spaces.keys().map(String::as_str)) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "add it to `spaces`".to_owned(),
            }));
        }
        let members = self.callers.iter().map(|(name, caller)| Member {
            name,
            tenant: caller.tenant.as_deref(),
            spaces: &caller.spaces,
        });
        let members: Vec<Member<'_>> = members.collect();
        check_tenants(&callers, &self.tenants, &members)?;
        match self.tenants.is_empty() {
            true => Ok(()),
            false => check_workspaces(&callers, &members, spaces),
        }
    }

    /// Applies `mcp.server.exposeHandlers`: exposes everything, unless `expose` lists functions.
    pub(super) fn expose_handlers(&mut self, root: &ConfigPath<'_>, is_exposed: Option<bool>) -> Result<()> {
        match is_exposed {
            Some(true) if self.expose.is_empty() => self.expose = vec!["*".to_owned()],
            Some(false) if !self.expose.is_empty() => {
                let message = "`mcp.server.exposeHandlers` is false, but this list exposes functions";
                return Err(root.key("serve").key("expose").error(message).with_fix("keep one"));
            }
            _ => {}
        }
        Ok(())
    }
}

impl ServedCaller {
    fn read(node: Node<'_>) -> Result<ServedCaller> {
        let object = node.object("a caller", &["token", "scopes", "mayApprove", "spaces", "tenant"])?;
        let scope = |node: Node<'_>| node.filled_text("a scope").map(str::to_owned);
        let scopes = object.read("scopes", |node| node.list("a list of scopes", scope))?.unwrap_or_default();
        let may_approve = object.read("mayApprove", |node| node.flag())?.unwrap_or(false);
        let token = object.need("token", TokenSource::read)?;
        let spaces = object.read("spaces", read_spaces)?.unwrap_or_default();
        let tenant = object.read("tenant", |node| node.filled_text("the name of a tenant").map(str::to_owned))?;
        Ok(ServedCaller { token, scopes: scopes.into_iter().collect(), may_approve, spaces, tenant })
    }
}

/// Reads the spaces of a caller; refuses an empty list, which would mean the served space, and duplicates.
fn read_spaces(node: Node<'_>) -> Result<Vec<String>> {
    let mut seen = BTreeSet::new();
    let spaces = node.list("a list of spaces", |item| {
        let name = item.filled_text("the name of a space")?;
        match seen.insert(name.to_owned()) {
            true => Ok(name.to_owned()),
            false => Err(item.error(format!("{} is already listed", quoted(name))).with_fix("keep one")),
        }
    })?;
    match spaces.len() {
        0 => Err(node.error("the list is empty").with_fix("name a space, or leave it out for the served one")),
        1..=MAX_SPACES => Ok(spaces),
        _ => Err(node.error(format!("more than {MAX_SPACES} spaces"))),
    }
}

impl TokenSource {
    fn read(node: Node<'_>) -> Result<TokenSource> {
        if node.value.is_string() {
            // It may be a token, so the error does not quote it.
            let error = node.error("a token cannot be written in a configuration");
            return Err(error.with_fix("write `{ \"env\": \"NAME\" }` or `{ \"file\": \"./path\" }`"));
        }
        let object = node.object("an object with `env` or `file`", &["env", "file"])?;
        TokenSource::of(&node, &object)
    }

    fn of(node: &Node<'_>, object: &Object<'_>) -> Result<TokenSource> {
        match (object.get("env"), object.get("file")) {
            (Some(env), None) => {
                let name = env.filled_text("the name of a variable")?;
                if name.contains(['=', '$', '{']) {
                    let error = env.error("expected the bare name of a variable");
                    return Err(error.with_fix("write `NAME` and not `${NAME}`"));
                }
                Ok(TokenSource::Env(name.to_owned()))
            }
            (None, Some(file)) => file.filled_text("a path").map(|path| TokenSource::File(path.to_owned())),
            _ => Err(node.error("a token has exactly one source").with_fix("keep one of `env` and `file`")),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::from_value;
    use crate::serve::TokenSource;
    use serde_json::{Value, json};

    fn read(callers: Value) -> Result<super::Serve, String> {
        let config = from_value("f", json!({ "serve": { "callers": callers } }));
        config.map(|config| config.serve).map_err(|error| error.to_string())
    }

    #[test]
    fn a_caller_has_a_token_source_and_scopes() {
        let serve = read(json!({
            "ci": { "token": { "env": "CI_TOKEN" }, "scopes": ["deploy", "deploy"] },
            "desk": { "token": { "file": "./desk.token" } },
        }));
        let callers = serve.unwrap().callers;
        assert_eq!(callers["ci"].token, TokenSource::Env("CI_TOKEN".into()));
        assert_eq!(callers["ci"].scopes, ["deploy".to_owned()].into());
        assert_eq!(callers["desk"].token, TokenSource::File("./desk.token".into()));
        assert!(callers["desk"].scopes.is_empty());
    }

    #[test]
    fn a_token_in_the_configuration_is_refused_and_not_quoted() {
        let message = read(json!({ "ci": { "token": "hunter2hunter2hunter2" } })).unwrap_err();
        assert!(message.contains("cannot be written in a configuration") && !message.contains("hunter2"), "{message}");
        for caller in [
            json!({}),
            json!({ "token": {} }),
            json!({ "token": { "env": "${X}" } }),
            json!({ "token": { "env": "X", "file": "y" } }),
            json!({ "token": { "env": "X" }, "scope": [] }),
        ] {
            assert!(read(json!({ "ci": caller })).is_err(), "{caller}");
        }
        assert!(read(json!({ "a b": { "token": { "env": "X" } } })).unwrap_err().contains("cannot be the name"));
    }

    #[test]
    fn concurrency_is_a_number_or_one_for_each_mode() {
        let read = |concurrency: Value| {
            let config = from_value("f", json!({ "serve": { "concurrency": concurrency } }));
            config.map(|config| config.serve.concurrency).map_err(|error| error.to_string())
        };
        let four = read(json!(4)).unwrap();
        assert_eq!((four.code, four.toolbox, four.proxy, four.rest), (Some(4), Some(4), Some(4), Some(4)));
        assert_eq!((four.all, read(json!({ "all": 64 })).unwrap().all), (None, Some(64)));
        assert_eq!(read(json!({ "rest": 7 })).unwrap().rest, Some(7));
        let some = read(json!({ "proxy": 1, "code": 1_000 })).unwrap();
        assert_eq!((some.code, some.toolbox, some.proxy), (Some(1_000), None, Some(1)));
        for wrong in [json!(0), json!(1_001), json!(1.5), json!("4"), json!({ "proxy": 0 }), json!([])] {
            assert!(read(wrong.clone()).unwrap_err().contains("$.serve.concurrency"), "{wrong}");
        }
        assert!(read(json!({ "proxi": 1 })).unwrap_err().contains("did you mean `proxy`?"));
    }

    #[test]
    fn spaces_of_a_caller_are_configured_ones() {
        let read = |spaces: Value| {
            let callers = json!({ "ci": { "token": { "env": "T" }, "spaces": spaces } });
            let config =
                from_value("f", json!({ "serve": { "callers": callers }, "spaces": { "support": {}, "sales": {} } }));
            config.map(|config| config.serve.callers["ci"].spaces.clone()).map_err(|error| error.to_string())
        };
        assert_eq!(read(json!(["support", "sales"])).unwrap(), ["support", "sales"], "in the order of the list");
        assert_eq!(
            read(json!(["sales", "suport"])).unwrap_err(),
            "f: $.serve.callers.ci.spaces[1]: unknown space `suport`; did you mean `support`?"
        );
        assert!(read(json!(["warehouse"])).unwrap_err().ends_with("add it to `spaces`"));
        for (wrong, why) in
            [(json!([]), "is empty"), (json!(["sales", "sales"]), "already listed"), (json!("sales"), "a list")]
        {
            assert!(read(wrong.clone()).unwrap_err().contains(why), "{wrong}");
        }
        let plain = from_value("f", json!({ "serve": { "callers": { "ci": { "token": { "env": "T" } } } } })).unwrap();
        assert!(plain.serve.callers["ci"].spaces.is_empty());
    }

    #[test]
    fn there_are_at_most_a_thousand_callers() {
        let callers = |count: usize| -> Value {
            let caller = |index: usize| (format!("c{index}"), json!({ "token": { "env": "T" } }));
            (0..count).map(caller).collect::<serde_json::Map<_, _>>().into()
        };
        assert_eq!(read(callers(1_000)).unwrap().callers.len(), 1_000);
        assert!(read(callers(1_001)).unwrap_err().contains("more than 1000 callers"));
    }

    #[test]
    fn webhooks_reach_no_private_address_by_default() {
        let read = |serve: Value| {
            let config = from_value("f", json!({ "serve": serve }));
            config.map(|config| config.serve.webhooks.allow_private).map_err(|error| error.to_string())
        };
        assert_eq!(read(json!({})), Ok(false));
        assert_eq!(read(json!({ "webhooks": {} })), Ok(false));
        assert_eq!(read(json!({ "webhooks": { "allowPrivate": true } })), Ok(true));
        assert!(
            read(json!({ "webhooks": { "allowPrivat": true } })).unwrap_err().contains("did you mean `allowPrivate`?")
        );
        assert!(read(json!({ "webhooks": true })).unwrap_err().contains("$.serve.webhooks"));
    }

    #[test]
    fn what_is_exposed_is_a_list_of_names() {
        let config = from_value("f", json!({ "serve": { "expose": ["crm.createTicket", "*"] } })).unwrap();
        assert_eq!(config.serve.expose, ["crm.createTicket", "*"]);
        let message = |serve| from_value("f", json!({ "serve": serve })).unwrap_err().to_string();
        assert!(message(json!({ "expose": [""] })).contains("$.serve.expose[0]"));
        assert!(message(json!({ "exposes": [] })).contains("did you mean `expose`?"));
    }
}
