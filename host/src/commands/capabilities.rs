//! The folder of capabilities that a script is given.

use super::failure::Failure;
use super::script_file::ScriptFile;
use agent_spaces::providers::{capabilities_in, interfaces_in};
use agent_spaces::{Engine, Handlers, Interfaces};
use clap::Args;
use std::path::PathBuf;

/// Which folder of capabilities to use.
#[derive(Args)]
pub(super) struct CapabilityFolder {
    /// Folder of capabilities: each NAME.wit with the NAME.ts that answers it
    /// [default: `capabilities` beside the script, if there is one]
    #[arg(long, value_name = "DIR")]
    capabilities: Option<PathBuf>,
}

impl CapabilityFolder {
    /// The folder that was named, or the script's own.
    fn find(&self, script: &ScriptFile) -> Option<PathBuf> {
        let beside = || Some(script.folder.as_ref()?.join("capabilities")).filter(|folder| folder.is_dir());
        self.capabilities.clone().or_else(beside)
    }

    /// The capabilities and what answers them.
    pub(super) fn load(&self, script: &ScriptFile, engine: &Engine) -> Result<(Interfaces, Handlers), Failure> {
        match self.find(script) {
            Some(folder) => Ok(capabilities_in(&folder, engine)?),
            None => Ok((Interfaces::new()?, Handlers::new())),
        }
    }

    /// The interfaces alone: a compiled program brings nobody to answer them.
    pub(super) fn interfaces(&self, script: &ScriptFile) -> Result<Interfaces, Failure> {
        match self.find(script) {
            Some(folder) => Ok(interfaces_in(&folder)?),
            None => Ok(Interfaces::new()?),
        }
    }
}
