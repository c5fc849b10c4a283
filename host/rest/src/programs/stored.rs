//! Programs in the store.

use super::request::{is_name, version_number};
use super::view::{ProgramVersion, ProgramView};
use crate::ids;
use crate::problem::Problem;
use crate::runs::Source;
use crate::service::Service;
use crate::time;
use crate::who::Who;
use agent_spaces_journal::Document;
use serde::{Deserialize, Serialize};

/// Kinds of the documents: one for a program with the list of its versions, one for each source.
pub(super) const KIND: &str = "program";
pub(super) const SOURCE_KIND: &str = "program_source";

/// Program, as the store keeps it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct StoredProgram {
    /// Random part of the ids of its sources: one that is deleted and published again has others.
    pub(super) key: String,
    pub(super) name: String,
    pub(super) description: Option<String>,
    pub(super) versions: Vec<StoredVersion>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct StoredVersion {
    pub(super) hash: String,
    pub(super) created: i64,
    /// Id of the request that published it, if it had an idempotency key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) publication: Option<String>,
}

impl StoredProgram {
    pub(super) fn read(document: &Document) -> Result<StoredProgram, Problem> {
        serde_json::from_str(&document.body).map_err(|error| Problem::internal(&error))
    }

    /// Returns the number of its latest version.
    pub(super) fn latest(&self) -> u32 {
        u32::try_from(self.versions.len()).unwrap_or(u32::MAX)
    }

    /// Returns the number of the version that a request with an idempotency key published.
    pub(super) fn published_by(&self, publication: &str) -> Option<u32> {
        let is_it = |version: &StoredVersion| version.publication.as_deref() == Some(publication);
        let index = self.versions.iter().position(is_it)?;
        u32::try_from(index).ok()?.checked_add(1)
    }

    /// Returns the id of the source with this hash.
    pub(super) fn source_id(&self, hash: &str) -> String {
        format!("{}_{hash}", self.key)
    }

    pub(super) fn view(&self, document: &Document) -> ProgramView {
        ProgramView {
            name: self.name.clone(),
            description: self.description.clone(),
            version: self.latest(),
            created_at: time::format(document.created),
            updated_at: time::format(document.updated),
        }
    }

    /// Shows a version; `None` if there is none with this number.
    pub(super) fn version(&self, number: u32, source: Option<String>) -> Option<ProgramVersion> {
        let index = usize::try_from(number.checked_sub(1)?).ok()?;
        let StoredVersion { hash, created, .. } = self.versions.get(index)?;
        let (name, hash, created_at) = (self.name.clone(), hash.clone(), time::format(*created));
        Some(ProgramVersion { name, version: number, hash, created_at, source })
    }
}

/// Returns the id of a program's document.
pub(super) fn id(who: &Who, name: &str) -> String {
    ids::derived("prg_", &[who.owner(), name])
}

impl Service {
    /// Returns a program of a caller.
    pub(super) async fn program(&self, who: &Who, name: &str) -> Result<(Document, StoredProgram), Problem> {
        let missing = || Problem::not_found("program");
        if !is_name(name) {
            return Err(missing());
        }
        let document = self.store().document(KIND, &id(who, name)).await?.ok_or_else(missing)?;
        let program = StoredProgram::read(&document)?;
        Ok((document, program))
    }

    /// Returns the source of a version.
    pub(super) async fn source(&self, program: &StoredProgram, version: u32) -> Result<String, Problem> {
        let missing = || Problem::not_found("version");
        let hash = program.version(version, None).ok_or_else(missing)?.hash;
        let document = self.store().document(SOURCE_KIND, &program.source_id(&hash)).await?;
        document.map(|document| document.body).ok_or_else(missing)
    }

    /// Returns the source of `report` or `report@3`.
    pub(crate) async fn program_source(&self, who: &Who, text: &str) -> Result<Source, Problem> {
        let wrong = || Problem::invalid("/program", "expected a name, or a name and a version: `report@3`");
        let (name, version) = match text.split_once('@') {
            Some((name, version)) => (name, Some(version_number(version).ok_or_else(wrong)?)),
            None => (text, None),
        };
        let (_, program) = self.program(who, name).await?;
        let version = version.unwrap_or_else(|| program.latest());
        let text = self.source(&program, version).await?;
        Ok(Source { text, program: Some(format!("{name}@{version}")) })
    }
}
