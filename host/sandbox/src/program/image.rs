//! Program image: the portable form of a program, without its engine.

use super::{Program, Script, ScriptText, SourceInfo};
use crate::error::HostError;
use crate::imports::Hidden;
use crate::modules::Modules;
use crate::sandbox::Sandbox;
use agent_spaces_types::call_site::ProgramCall;
use agent_spaces_types::function::Description;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Version of the serialized forms.
const VERSION: u32 = 1;

/// Portable form of a program, without its engine. Another host restores the same program from it.
#[derive(Serialize, Deserialize)]
pub struct ProgramImage {
    script: ScriptText,
    modules: Modules,
    description: Description,
    /// The component, as Wasm.
    component: Vec<u8>,
    calls: Vec<ProgramCall>,
    /// Serialized [`SourceInfo`].
    source: Option<Vec<u8>>,
}

impl ProgramImage {
    /// Serializes it.
    pub fn to_bytes(&self) -> Result<Vec<u8>, HostError> {
        postcard::to_allocvec(&(VERSION, self)).map_err(HostError::engine)
    }

    /// Deserializes it.
    ///
    /// # Errors
    /// The bytes are damaged, or of another version.
    pub fn from_bytes(bytes: &[u8]) -> Result<ProgramImage, HostError> {
        let rest = versioned("program image", bytes)?;
        postcard::from_bytes(rest).map_err(HostError::engine)
    }

    /// Adds the documents that [`Program::given`] returned.
    ///
    /// # Errors
    /// The bytes are damaged, or of another version.
    pub fn give(&mut self, documents: &[u8]) -> Result<(), HostError> {
        let rest = versioned("input", documents)?;
        self.modules.give(postcard::from_bytes(rest).map_err(HostError::engine)?);
        Ok(())
    }

    /// Returns the script's file name.
    pub fn name(&self) -> &str {
        &self.script.name
    }

    /// Returns the script as it runs: JavaScript, types already stripped.
    pub fn code(&self) -> &str {
        &self.script.code
    }

    /// Returns the modules that it imports, directly or not.
    pub fn modules(&self) -> &Modules {
        &self.modules
    }

    /// Returns the description of the interfaces that it imports.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// Returns the component, as Wasm.
    pub fn component(&self) -> &[u8] {
        &self.component
    }

    /// Returns the serialized information about its source.
    pub fn source(&self) -> Option<&[u8]> {
        self.source.as_deref()
    }
}

impl Program {
    /// Returns its serialized image without the documents that [one run was given](Program::given), made on the first call; `None` for a program that starts from a snapshot, or was
    /// loaded as native code.
    ///
    /// # Errors
    /// It cannot be serialized.
    pub fn image(&self) -> Result<Option<Arc<[u8]>>, HostError> {
        if let Some(image) = self.image.get() {
            return Ok(Some(image.clone()));
        }
        let Some(image) = self.new_image() else { return Ok(None) };
        let bytes = image.to_bytes()?.into();
        Ok(Some(self.image.get_or_init(|| bytes).clone()))
    }

    /// Returns the serialized documents that one run was given, such as its input; `None` without any. They are apart from
    /// the image, so that one image serves all runs of a program.
    ///
    /// # Errors
    /// They cannot be serialized.
    pub fn given(&self) -> Result<Option<Vec<u8>>, HostError> {
        let documents = self.modules.given_documents();
        let bytes = || postcard::to_allocvec(&(VERSION, &documents)).map_err(HostError::engine);
        (documents.iter().next().is_some()).then(bytes).transpose()
    }

    fn new_image(&self) -> Option<ProgramImage> {
        if self.start.is_some() {
            return None;
        }
        Some(ProgramImage {
            component: self.sandbox.wasm()?.to_vec(),
            script: self.script.text.clone(),
            modules: self.modules.without_given().flat(),
            description: self.sandbox.description().clone(),
            calls: self.script.calls.to_vec(),
            source: self.source().and_then(|source| source.to_bytes()),
        })
    }

    /// Restores a program in a sandbox that is linked for the image's component.
    pub fn from_image(image: ProgramImage, sandbox: Sandbox, source: Option<Arc<dyn SourceInfo>>) -> Program {
        let script = Script {
            text: image.script,
            source,
            calls: image.calls.into(),
            has_more_calls: false,
            uses_fetch: false,
            warnings: Vec::new(),
        };
        Program::of(script, image.modules, sandbox)
    }

    /// Returns the program with these functions hidden, whoever its caller is.
    #[must_use]
    pub fn with_hidden(&self, hidden: Hidden) -> Program {
        let hidden = Arc::new(hidden);
        let hot_script = self.hot_scripts.as_ref().and_then(|hot_scripts| hot_scripts.of(&hidden));
        Program { hidden, hot_script, is_hidden_fixed: true, ..self.clone() }
    }
}

/// Returns what comes after the version.
fn versioned<'a>(what: &str, bytes: &'a [u8]) -> Result<&'a [u8], HostError> {
    let (version, rest) = postcard::take_from_bytes::<u32>(bytes).map_err(HostError::engine)?;
    if version != VERSION {
        let message = format!("the {what} has version {version}, this program reads version {VERSION}");
        return Err(HostError::Engine(message));
    }
    Ok(rest)
}
