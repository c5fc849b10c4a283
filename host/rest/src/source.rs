//! Source of the spaces that runs execute in.

use agent_spaces_project::{DefinitionFile, Narrowing, Outlines, ProjectError, SpaceReach};
use agent_spaces_sandbox::engine::Engine;
use agent_spaces_serve::check::TypeChecker;
use agent_spaces_serve::{Catalogue, OfferError};
use agent_spaces_space::space::Space;
use agent_spaces_std::fs::Files;
use agent_spaces_types::caller::Caller;
use agent_spaces_types::limits::Limits;
use agent_spaces_types::standard::SPECIFIER;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Configured spaces, and spaces made of a part of one.
pub trait SpaceSource: Send + Sync + 'static {
    /// Returns the spaces that a caller may use, the default first; `None` is the space of the global capabilities.
    fn bases(&self, caller: &Caller) -> Vec<Option<String>>;

    /// Makes a space: all of a configured one, or a part. Blocks.
    ///
    /// # Errors
    /// The part asks for more than the configured space has, or something cannot be loaded.
    fn assemble(&self, base: Option<&str>, part: Option<&Narrowing>) -> Result<Assembled, AssembleError>;

    /// Describes a space without making it: no folder, no provider. Blocks.
    ///
    /// # Errors
    /// The part asks for more than the configured space has, or a definition cannot be read.
    fn outline(&self, base: Option<&str>, part: Option<&Narrowing>) -> Result<SpaceOutline, AssembleError>;

    /// Removes what is kept for a part that ended: its counts, its sessions with MCP servers and their folders. Blocks,
    /// and is called in a runtime, where blocking is allowed.
    fn forget(&self, base: Option<&str>, part: &Narrowing);

    /// Returns a number that changes whenever spaces have to be made again, because the tools of a server became known.
    fn version(&self) -> u64;

    /// Returns the engine of its spaces, which replays runs whose space is gone; `None` if there is none.
    fn engine(&self) -> Option<Engine>;

    /// Returns the type checker; `None` if types are not checked.
    fn checker(&self) -> Option<TypeChecker>;
}

/// Space that runs execute in.
pub struct Assembled {
    /// The space.
    pub space: Space,
    /// Resource limits of a run.
    pub limits: Limits,
    /// Longest time limit that a run may ask for.
    pub longest: Duration,
    /// Capabilities, as the configuration names them.
    pub capabilities: Vec<String>,
    /// Files of its workspace.
    pub files: Option<Files>,
    /// Functions of its modules.
    pub functions: Functions,
    /// Files and network that its programs reach.
    pub reach: SpaceReach,
}

impl Assembled {
    /// Returns what is shown of the space.
    pub(crate) fn outline(&self) -> SpaceOutline {
        SpaceOutline {
            limits: self.limits.clone(),
            longest: self.longest,
            capabilities: self.capabilities.clone(),
            modules: self.space.modules().map(str::to_owned).collect(),
            has_files: self.files.is_some(),
        }
    }
}

/// Description of a space.
#[derive(Clone, Debug)]
pub struct SpaceOutline {
    /// Resource limits of a run.
    pub limits: Limits,
    /// Longest time limit that a run may ask for.
    pub longest: Duration,
    /// Capabilities, as the configuration names them.
    pub capabilities: Vec<String>,
    /// Modules that programs can import, in the order of their names.
    pub modules: Vec<String>,
    /// True if its programs have files.
    pub has_files: bool,
}

/// Functions of a space. Their catalogue is made when somebody asks for it.
pub struct Functions {
    /// Definitions of the modules.
    definitions: Vec<DefinitionFile>,
    /// Cache of compiled definitions.
    outlines: Outlines,
    /// Parts of the standard library that programs cannot use.
    without: Vec<&'static str>,
    catalogue: OnceLock<Arc<Catalogue>>,
    /// Entries of the configuration, by module.
    entries: OnceLock<Arc<BTreeMap<String, String>>>,
}

impl Functions {
    /// Functions of these definitions, and of the standard library without some of its parts.
    pub fn new(definitions: Vec<DefinitionFile>, outlines: Outlines, without: Vec<&'static str>) -> Functions {
        Functions { definitions, outlines, without, catalogue: OnceLock::new(), entries: OnceLock::new() }
    }

    /// Returns the catalogue. Blocks while it is made.
    pub(crate) fn catalogue(&self) -> Result<Arc<Catalogue>, OfferError> {
        if let Some(known) = self.catalogue.get() {
            return Ok(known.clone());
        }
        let has_part = |part: &str| !self.without.contains(&part);
        let made = Arc::new(Catalogue::of(self.definitions.clone(), has_part, &self.outlines)?);
        Ok(self.catalogue.get_or_init(|| made).clone())
    }

    /// Returns the entry that gives a space a module, for each module. Blocks while hand-written interfaces are parsed.
    pub(crate) fn entries(&self) -> Result<Arc<BTreeMap<String, String>>, ProjectError> {
        if let Some(known) = self.entries.get() {
            return Ok(known.clone());
        }
        let mut entries = BTreeMap::from([(SPECIFIER.to_owned(), SPECIFIER.to_owned())]);
        for definition in &self.definitions {
            let Some(entry) = definition.entry_name() else { continue };
            entries.extend(definition.modules()?.into_iter().map(|module| (module, entry.clone())));
        }
        Ok(self.entries.get_or_init(|| Arc::new(entries)).clone())
    }
}

/// Reason why a space cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AssembleError {
    /// There is no such configured space.
    #[error("there is no such space")]
    Unknown,
    /// A part asks for more than the configured space has.
    #[error("{pointer}: {detail}")]
    Denied {
        /// JSON pointer to the member of the request.
        pointer: String,
        /// The fault.
        detail: String,
    },
    /// A member cannot be read.
    #[error("{pointer}: {detail}")]
    Invalid {
        /// JSON pointer to the member of the request.
        pointer: String,
        /// Its fault.
        detail: String,
    },
    /// Something cannot be loaded. For the operator's log: it may name files.
    #[error("{0}")]
    Host(String),
}

/// Source without spaces, for tests.
#[cfg(test)]
pub(crate) struct NoSpaces;

#[cfg(test)]
impl SpaceSource for NoSpaces {
    fn bases(&self, _: &Caller) -> Vec<Option<String>> {
        Vec::new()
    }

    fn assemble(&self, _: Option<&str>, _: Option<&Narrowing>) -> Result<Assembled, AssembleError> {
        Err(AssembleError::Unknown)
    }

    fn outline(&self, _: Option<&str>, _: Option<&Narrowing>) -> Result<SpaceOutline, AssembleError> {
        Err(AssembleError::Unknown)
    }

    fn forget(&self, _: Option<&str>, _: &Narrowing) {}

    fn version(&self) -> u64 {
        0
    }

    fn engine(&self) -> Option<Engine> {
        None
    }

    fn checker(&self) -> Option<TypeChecker> {
        None
    }
}
