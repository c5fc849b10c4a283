//! Server settings (`serve`) of `agent-spaces mcp serve`.

use super::config_path::ConfigPath;
use super::names::check_name;
use super::reader::{Node, Object, Result};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of callers: each has its own sessions.
const MAX_CALLERS: usize = 100;

/// Server settings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Serve {
    /// Callers over HTTP, by name.
    pub callers: BTreeMap<String, ServedCaller>,
    /// Functions exposed as tools in proxy mode: by function, capability, module, or `*`.
    pub expose: Vec<String>,
    /// Concurrency limits of one caller.
    pub concurrency: Concurrency,
}

/// Maximum concurrency limit of one caller: the host has slots for some hundred runs.
pub const MAX_CONCURRENCY: u16 = 1_000;

/// Concurrency limits of one caller by mode; `None` for the default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Concurrency {
    /// Runs in code mode.
    pub code: Option<u16>,
    /// Calls in toolbox mode.
    pub toolbox: Option<u16>,
    /// Calls in proxy mode.
    pub proxy: Option<u16>,
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
            return Ok(Concurrency { code: all, toolbox: all, proxy: all });
        }
        let object = node.object("a number, or an object of modes and numbers", &["code", "toolbox", "proxy"])?;
        Ok(Concurrency {
            code: object.read("code", count)?,
            toolbox: object.read("toolbox", count)?,
            proxy: object.read("proxy", count)?,
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
        let keys = ["callers", "expose", "concurrency"];
        let object = node.object("an object with `callers`, `expose` and `concurrency`", &keys)?;
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
        let names = |node: Node<'_>| {
            node.list("a list of functions and capabilities", |node| {
                node.filled_text("the name of a function or a capability").map(str::to_owned)
            })
        };
        let expose = object.read("expose", names)?.unwrap_or_default();
        let concurrency = object.read("concurrency", Concurrency::read)?.unwrap_or_default();
        Ok(Serve { callers: callers.unwrap_or_default(), expose, concurrency })
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
        let object = node.object("a caller", &["token", "scopes", "mayApprove"])?;
        let scope = |node: Node<'_>| node.filled_text("a scope").map(str::to_owned);
        let scopes = object.read("scopes", |node| node.list("a list of scopes", scope))?.unwrap_or_default();
        let may_approve = object.read("mayApprove", |node| node.flag())?.unwrap_or(false);
        let token = object.need("token", TokenSource::read)?;
        Ok(ServedCaller { token, scopes: scopes.into_iter().collect(), may_approve })
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
        assert_eq!((four.code, four.toolbox, four.proxy), (Some(4), Some(4), Some(4)));
        let some = read(json!({ "proxy": 1, "code": 1_000 })).unwrap();
        assert_eq!((some.code, some.toolbox, some.proxy), (Some(1_000), None, Some(1)));
        for wrong in [json!(0), json!(1_001), json!(1.5), json!("4"), json!({ "proxy": 0 }), json!([])] {
            assert!(read(wrong.clone()).unwrap_err().contains("$.serve.concurrency"), "{wrong}");
        }
        assert!(read(json!({ "proxi": 1 })).unwrap_err().contains("did you mean `proxy`?"));
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
