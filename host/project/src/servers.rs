//! MCP servers of a project, from its configuration and from the files of other MCP clients.

use super::error::ProjectError;
use super::self_detection::is_ourselves;
use super::{Surroundings, text};
use crate::mcp::ConfiguredServer;
use crate::trust::{Acceptance, Status};
use agent_spaces_config::{Config, McpServer, ServerSource, foreign};
use agent_spaces_protected_paths::clients::Platform;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// MCP servers of a project, with warnings about the files that configure them.
#[derive(Clone, Debug, Default)]
pub(super) struct Servers {
    pub(super) by_name: BTreeMap<String, Arc<ConfiguredServer>>,
    pub(super) warnings: Vec<String>,
}

impl Servers {
    /// Collects the servers of the configuration, of the files that it names, and of the project's folder, in this
    /// order. The first server with a name wins.
    pub(super) fn gather(
        folder: &Path,
        config: &Config,
        configuration: Option<&Acceptance>,
        surroundings: &Surroundings,
    ) -> Result<Servers, ProjectError> {
        let mut servers = Servers::default();
        if let Some(acceptance) = configuration {
            let own = own_folder(&acceptance.file).unwrap_or_else(|| folder.to_owned());
            servers.add(config.mcp_servers.clone(), &acceptance.file, &own, acceptance);
            for source in &config.mcp_servers_from {
                servers.add_source(source, &own, acceptance, surroundings)?;
            }
        }
        for name in foreign::PROJECT_FILES {
            let file = super::find::join(folder, name);
            if file.is_file() && !super::find::is_of_user(&file, surroundings.home.as_deref()) {
                servers.add_project_file(&file, name, folder, surroundings);
            }
        }
        for server in servers.by_name.values_mut().map(Arc::make_mut) {
            server.config.timeout = server.config.timeout.or(config.defaults.tool_timeout);
            server.config.confine = server.config.confine.take().or_else(|| config.confine_of_servers());
            if let Some(place) = &config.mcp.client_off {
                server.config.enabled = false;
                server.config.off_at = Some(format!("{}: {place}", config.file));
            }
        }
        Ok(servers)
    }

    fn add(&mut self, servers: BTreeMap<String, McpServer>, file: &Path, folder: &Path, acceptance: &Acceptance) {
        for (name, config) in servers {
            if let Some(first) = self.by_name.get(&name) {
                let (first, second) = (first.file.display(), file.display());
                self.warnings.push(format!("duplicate MCP server `{name}` in {first} and {second}; the first is used"));
                continue;
            }
            let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
            let (file, acceptance) = (file.to_owned(), acceptance.clone());
            let server = ConfiguredServer { name: name.clone(), config, file, folder, acceptance };
            self.by_name.insert(name, Arc::new(server));
        }
    }

    fn add_source(
        &mut self,
        source: &ServerSource,
        folder: &Path,
        configuration: &Acceptance,
        surroundings: &Surroundings,
    ) -> Result<(), ProjectError> {
        let candidates = match source {
            ServerSource::File(path) => vec![super::find::join(folder, path)],
            ServerSource::Client(client) => match &surroundings.home {
                Some(home) => foreign::well_known(*client, home, Platform::of(std::env::consts::OS)),
                None => Vec::new(),
            },
        };
        let Some(file) = candidates.iter().find(|file| file.is_file()) else {
            if let ServerSource::Client(_) = source {
                // A shared configuration may name clients that this user does not have.
                let place = format!("{}: $.mcpServersFrom", configuration.file.display());
                self.warnings.push(format!("{place}: no configuration file found for a listed program"));
                return Ok(());
            }
            let shown: Vec<String> = candidates.iter().map(|file| file.display().to_string()).collect();
            return Err(ProjectError::Unknown {
                place: format!("{}: $.mcpServersFrom", configuration.file.display()),
                message: format!("file not found: {}", shown.join(" or ")),
                fix: "Correct the path, or remove it".into(),
            });
        };
        self.add_foreign(file, folder, |text| match source {
            // Both the configuration and the named file must have been accepted.
            ServerSource::File(_) if configuration.status == Status::Accepted => surroundings.acceptance(file, text),
            // Client files of the user have the permissions of the configuration.
            _ => Ok(configuration.clone()),
        });
        Ok(())
    }

    fn add_project_file(&mut self, file: &Path, name: &str, folder: &Path, surroundings: &Surroundings) {
        let here = folder.canonicalize().map(|folder| folder.join(name)).ok();
        if here.is_none() || file.canonicalize().ok() != here {
            // A file accepted elsewhere would start programs of this folder.
            let warning = format!("{} is a symbolic link and is not read", file.display());
            self.warnings.push(warning);
            return;
        }
        self.add_foreign(file, folder, |text| surroundings.acceptance(file, text));
    }

    /// Adds the servers of another client's file. Errors in it become warnings.
    fn add_foreign(
        &mut self,
        file: &Path,
        folder: &Path,
        acceptance: impl FnOnce(&str) -> Result<Acceptance, ProjectError>,
    ) {
        let read = || -> Result<(), ProjectError> {
            let text = text::read(file, foreign::MAX_BYTES)?;
            let mut found = foreign::read(&file.display().to_string(), &text)?;
            // This program must not serve itself.
            found.servers.retain(|_, server| !is_ourselves(server));
            self.warnings.extend(found.warnings.iter().map(ToString::to_string));
            self.add(found.servers, file, folder, &acceptance(&text)?);
            Ok(())
        };
        if let Err(error) = read() {
            self.warnings.push(error.to_string());
        }
    }
}

/// Folder of a file after resolving symlinks: a link to an accepted file must not start the programs of another folder.
pub(super) fn own_folder(file: &Path) -> Option<PathBuf> {
    file.canonicalize().ok()?.parent().map(Path::to_owned)
}

impl Surroundings {
    /// Acceptance of a file with this text.
    pub(super) fn acceptance(&self, file: &Path, text: &str) -> Result<Acceptance, ProjectError> {
        Ok(Acceptance { file: file.to_owned(), text: text.into(), status: self.status(file, text)? })
    }

    /// Trust status of a file with this text. Files in the user's own configuration folder count as accepted.
    fn status(&self, file: &Path, text: &str) -> Result<Status, ProjectError> {
        let is_own = |folder: &PathBuf| {
            let parent = file.parent().and_then(|parent| parent.canonicalize().ok());
            parent.is_some() && parent == folder.canonicalize().ok()
        };
        if self.user_folder.as_ref().is_some_and(is_own) {
            return Ok(Status::Accepted);
        }
        self.trust.status(file, text.as_bytes()).map_err(|error| ProjectError::Unknown {
            place: file.display().to_string(),
            message: error.to_string(),
            fix: "The file is not used until this is fixed".into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::mcp::McpClients;
    use crate::servers::*;
    use crate::trust::Trust;
    use agent_spaces_config::from_value;
    use serde_json::json;

    #[test]
    fn a_call_timeout_comes_from_the_tool_the_server_or_the_default() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(".mcp.json");
        let text = json!({ "mcpServers": { "theirs": { "command": "x" } } }).to_string();
        std::fs::write(&file, &text).unwrap();
        let config = json!({
            "defaults": { "toolTimeout": "7s" },
            "mcpServers": {
                "own": { "command": "x", "timeout": "5s", "toolTimeouts": { "slow": "1min" } },
                "plain": { "command": "x" },
            }
        });
        let config = from_value("f", config).unwrap();
        let surroundings = Surroundings { trust: Arc::new(Trust::in_memory()), ..Surroundings::default() };
        surroundings.trust.accept(&file, text.as_bytes()).unwrap();
        let acceptance = Acceptance { file: "f".into(), text: "".into(), status: Status::Accepted };
        let servers = Servers::gather(folder.path(), &config, Some(&acceptance), &surroundings).unwrap();
        let clients = McpClients::new(Default::default());
        let time = |server: &str, tool: &str| {
            clients.settings(&servers.by_name[server], None).unwrap().timeout_of(tool).as_secs()
        };
        assert_eq!([time("own", "slow"), time("own", "quick")], [60, 5]);
        assert_eq!([time("plain", "slow"), time("theirs", "slow")], [7, 7]);
    }
}
