//! Source of a run, as its author wrote it.

use crate::details::header;
use crate::error::DurableError;
use crate::stored::image;
use agent_spaces_journal::Store;
use agent_spaces_linker::failure::ProgramSource;
use agent_spaces_sandbox::modules::Modules;
use agent_spaces_sandbox::program::ProgramImage;

/// Source of a run.
#[derive(Debug)]
pub struct RunSource {
    /// File name of the script.
    pub name: String,
    /// The author's text. If another version of this program wrote the run, the JavaScript that it became, at the same
    /// lines.
    pub text: String,
    /// Modules that it imports, directly or not.
    pub modules: Modules,
}

/// Reads the source of a run.
///
/// # Errors
/// The journal of the run cannot be read, or has no program.
pub async fn source(store: &dyn Store, run: &str) -> Result<RunSource, DurableError> {
    let image = image(store, &header(store, run).await?).await?;
    let name = image.name().to_owned();
    let text = written(&image, &name).unwrap_or_else(|| image.code().to_owned());
    Ok(RunSource { name, text, modules: image.modules().clone() })
}

/// Returns the author's text of a script.
fn written(image: &ProgramImage, name: &str) -> Option<String> {
    let mut source = ProgramSource::from_bytes(image.source()?)?;
    source.sources.0.remove(name).map(|source| source.text)
}
