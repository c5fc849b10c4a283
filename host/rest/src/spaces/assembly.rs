//! Making of the spaces that runs execute in.

use super::SpaceRecord;
use crate::problem::Problem;
use crate::service::Service;
use crate::source::{AssembleError, Assembled, SpaceOutline};
use agent_spaces_project::Narrowing;
use std::path::PathBuf;
use std::sync::Arc;

impl Service {
    /// Returns a space that runs can execute in.
    pub(crate) async fn assembled(&self, space: &SpaceRecord) -> Result<Arc<Assembled>, Problem> {
        let key = (space.id.clone(), space.shape(), self.0.source.version());
        if let Some(known) = self.0.spaces.get(&key) {
            return Ok(known);
        }
        let (service, space) = (self.clone(), space.clone());
        // Requests that ask for the same space meanwhile wait for this one.
        let made = tokio::task::spawn_blocking(move || service.0.spaces.get_or_make(key, || service.assemble(&space)));
        Ok(made.await.map_err(|error| Problem::internal(&error))??)
    }

    /// Makes a space. Blocks.
    fn assemble(&self, space: &SpaceRecord) -> Result<Assembled, AssembleError> {
        let Some(part) = self.part(space) else { return self.0.source.assemble(space.base.as_deref(), None) };
        if let Some(workspace) = &part.workspace {
            std::fs::create_dir_all(workspace).map_err(|error| AssembleError::Host(error.to_string()))?;
        }
        self.0.source.assemble(space.base.as_deref(), Some(&part))
    }

    /// Returns these spaces with their outlines. Those that cannot be made are left out.
    pub(super) async fn outlines(
        &self,
        spaces: Vec<SpaceRecord>,
    ) -> Result<Vec<(SpaceRecord, Arc<SpaceOutline>)>, Problem> {
        let service = self.clone();
        let outlined = tokio::task::spawn_blocking(move || {
            let outline = |space: SpaceRecord| service.outline(&space).ok().map(|outline| (space, outline));
            spaces.into_iter().filter_map(outline).collect::<Vec<_>>()
        });
        outlined.await.map_err(|error| Problem::internal(&error))
    }

    /// Returns the outline of a space. Blocks.
    fn outline(&self, space: &SpaceRecord) -> Result<Arc<SpaceOutline>, AssembleError> {
        let part = self.part(space);
        let key = (space.shape(), self.0.source.version());
        self.0.spaces.outline(key, || self.0.source.outline(space.base.as_deref(), part.as_ref()))
    }

    /// Returns the part of a configured space that a space is; `None` for a configured one.
    pub(super) fn part(&self, space: &SpaceRecord) -> Option<Narrowing> {
        let made = space.made.as_ref()?;
        Some(Narrowing {
            id: space.id.clone(),
            capabilities: made.part.capabilities.clone(),
            policy: made.part.policy.clone(),
            limits: None,
            workspace: Some(self.workspace(&space.id)),
        })
    }

    /// Returns the workspace folder of a space that a caller made. Ids are hexadecimal.
    pub(crate) fn workspace(&self, id: &str) -> PathBuf {
        self.0.settings.workspaces.join(id)
    }
}

impl From<AssembleError> for Problem {
    fn from(error: AssembleError) -> Problem {
        match error {
            AssembleError::Unknown => Problem::not_found("space"),
            AssembleError::Denied { pointer, detail } => {
                Problem::denied("space.denied", format!("{pointer}: {detail}"))
            }
            AssembleError::Invalid { pointer, detail } => Problem::invalid(pointer, detail),
            AssembleError::Host(error) => Problem::internal(&error),
        }
    }
}
