//! Workspaces of hosts that share a store (`serve.workspaces`): on a file system that they share too, or on one host each.

use super::names::check_name;
use super::reader::{Node, Result};

/// Most bytes of a path, which names the folder in the store.
const MAX_PATH: usize = 255;

/// Places of workspaces. Without any, a space that is made at run time has its files on the host that made it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServedWorkspaces {
    /// Folder that all hosts have at this path, for the spaces that are made at run time. Those of the configuration are on
    /// all hosts too.
    pub shared: Option<String>,
    /// Host that has the workspaces of the configuration.
    pub host: Option<String>,
}

impl ServedWorkspaces {
    pub(super) fn read(node: Node<'_>) -> Result<ServedWorkspaces> {
        let object = node.object("an object with `shared` or `host`", &["shared", "host"])?;
        let shared = object.read("shared", read_path)?;
        let host = object.read("host", |node| {
            let name = node.filled_text("the name of a host")?;
            check_name(&node.path, "a host", name)?;
            Ok(name.to_owned())
        })?;
        match shared.is_some() && host.is_some() {
            true => Err(node
                .error("workspaces that all hosts share are not those of one host")
                .with_fix("keep one of `shared` and `host`")),
            false => Ok(ServedWorkspaces { shared, host }),
        }
    }
}

fn read_path(node: Node<'_>) -> Result<String> {
    let path = node.filled_text("an absolute path")?;
    let is_path = path.starts_with('/') && path.len() <= MAX_PATH && !path.chars().any(char::is_control);
    match is_path {
        true => Ok(path.to_owned()),
        false => Err(node
            .error(format!("expected an absolute path of at most {MAX_PATH} bytes"))
            .with_fix("name the folder that all hosts have, such as `/mnt/agent-spaces`")),
    }
}

#[cfg(test)]
mod tests {
    use crate::{ServedWorkspaces, from_value};
    use serde_json::{Value, json};

    fn read(workspaces: Value) -> Result<ServedWorkspaces, String> {
        let config = from_value("f", json!({ "serve": { "workspaces": workspaces } }));
        config.map(|config| config.serve.workspaces).map_err(|error| error.to_string())
    }

    #[test]
    fn workspaces_are_shared_or_on_a_host() {
        assert_eq!(read(json!({})), Ok(ServedWorkspaces::default()));
        let shared = ServedWorkspaces { shared: Some("/mnt/spaces".to_owned()), host: None };
        assert_eq!(read(json!({ "shared": "/mnt/spaces" })), Ok(shared));
        let pinned = ServedWorkspaces { shared: None, host: Some("files-1.internal".to_owned()) };
        assert_eq!(read(json!({ "host": "files-1.internal" })), Ok(pinned));
        assert!(read(json!({ "shared": "/mnt/spaces", "host": "files-1" })).unwrap_err().contains("keep one of"));
    }

    #[test]
    fn places_that_cannot_be_meant_are_refused() {
        for (wrong, place) in [
            (json!({ "shared": "spaces" }), "$.serve.workspaces.shared"),
            (json!({ "shared": "" }), "$.serve.workspaces.shared"),
            (json!({ "shared": "${SPACES}/a" }), "$.serve.workspaces.shared"),
            (json!({ "shared": format!("/{}", "x".repeat(255)) }), "$.serve.workspaces.shared"),
            (json!({ "shared": "/a\nb" }), "$.serve.workspaces.shared"),
            (json!({ "host": "a b" }), "$.serve.workspaces.host"),
            (json!({ "host": 1 }), "$.serve.workspaces.host"),
            (json!("shared"), "$.serve.workspaces"),
            (json!({ "hosts": "a" }), "did you mean `host`?"),
        ] {
            let error = read(wrong.clone()).unwrap_err();
            assert!(error.contains(place), "{wrong}: {error}");
        }
    }
}
