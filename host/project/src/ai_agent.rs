//! Models of `.ai-agent.json`, a file of another program. Its MCP servers are read with those of other clients.

use super::{ProjectError, Surroundings, text};
use crate::trust::{Acceptance, Status};
use agent_spaces_config::foreign::{AiAgent, MAX_BYTES, read_ai_agent};
use std::path::Path;

/// An `.ai-agent.json` that was read.
#[derive(Clone, Debug)]
pub struct AiAgentFile {
    /// Its models and defaults. They count only if the file is accepted.
    pub settings: AiAgent,
    /// Its acceptance.
    pub acceptance: Acceptance,
}

/// Reads an `.ai-agent.json`. The one in the home folder is the user's own and needs no acceptance.
pub fn ai_agent_file(file: &Path, surroundings: &Surroundings) -> Result<AiAgentFile, ProjectError> {
    let text = text::read(file, MAX_BYTES)?;
    let settings = read_ai_agent(&file.display().to_string(), &text)?;
    let mut acceptance = surroundings.acceptance(file, &text)?;
    let is_own = surroundings.home.as_ref().is_some_and(|home| {
        let parent = file.canonicalize().ok().and_then(|file| Some(file.parent()?.to_owned()));
        parent.is_some() && parent == home.canonicalize().ok()
    });
    if is_own {
        acceptance.status = Status::Accepted;
    }
    Ok(AiAgentFile { settings, acceptance })
}
