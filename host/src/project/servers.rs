//! The MCP servers of a project, from its configuration and from the files that other programs read.

use super::error::ProjectError;
use super::{Surroundings, text};
use crate::config::foreign::{self, Platform};
use crate::config::{self, Config, McpServer, ServerSource};
use crate::mcp::ConfiguredServer;
use crate::trust::Status;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The servers of a project, and what its user should know about where they come from.
#[derive(Clone, Debug, Default)]
pub(super) struct Servers {
    pub(super) by_name: BTreeMap<String, Arc<ConfiguredServer>>,
    pub(super) warnings: Vec<String>,
}

impl Servers {
    /// Those of a configuration, then those of the files that it names, then those of the project's folder. Of one
    /// name the first counts.
    pub(super) fn gather(
        folder: &Path,
        config: &Config,
        config_file: Option<(&Path, Status)>,
        surroundings: &Surroundings,
    ) -> Result<Servers, ProjectError> {
        let mut servers = Servers::default();
        if let Some((file, trust)) = config_file {
            servers.add(config.mcp_servers.clone(), file, folder, trust);
            for source in &config.mcp_servers_from {
                servers.add_source(source, folder, file, trust, surroundings)?;
            }
        }
        for name in foreign::PROJECT_FILES {
            let file = super::find::join(folder, name);
            if file.is_file() {
                servers.add_foreign(&file, folder, |text| surroundings.status(&file, text));
            }
        }
        Ok(servers)
    }

    fn add(&mut self, servers: BTreeMap<String, McpServer>, file: &Path, folder: &Path, trust: Status) {
        for (name, config) in servers {
            let entry = self.by_name.entry(name.clone());
            entry.or_insert_with(|| {
                let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
                Arc::new(ConfiguredServer { name, config, file: file.to_owned(), folder, trust })
            });
        }
    }

    /// A file that the configuration names may do what the configuration may.
    fn add_source(
        &mut self,
        source: &ServerSource,
        folder: &Path,
        config_file: &Path,
        trust: Status,
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
            let shown: Vec<String> = candidates.iter().map(|file| file.display().to_string()).collect();
            return Err(ProjectError::Unknown {
                place: format!("{}: $.mcpServersFrom", config_file.display()),
                message: format!("it names {}, and there is no such file", shown.join(" or ")),
                fix: "Correct it, or remove it".into(),
            });
        };
        self.add_foreign(file, folder, |_| Ok(trust));
        Ok(())
    }

    /// Such a file is somebody else's: what is wrong with it stops nothing here.
    fn add_foreign(&mut self, file: &Path, folder: &Path, status: impl FnOnce(&str) -> Result<Status, ProjectError>) {
        let read = || -> Result<(), ProjectError> {
            let text = text::read(file, config::MAX_BYTES)?;
            let found = foreign::read(&file.display().to_string(), &text)?;
            self.warnings.extend(found.warnings.iter().map(ToString::to_string));
            self.add(found.servers, file, folder, status(&text)?);
            Ok(())
        };
        if let Err(error) = read() {
            self.warnings.push(error.to_string());
        }
    }
}

impl Surroundings {
    /// Whether a file with this text was accepted. The user's own folder needs no acceptance.
    pub(super) fn status(&self, file: &Path, text: &str) -> Result<Status, ProjectError> {
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
            fix: "Nothing of it is used until then".into(),
        })
    }
}
