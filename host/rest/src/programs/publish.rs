//! New versions of programs.

use super::request::{NewProgram, version_number};
use super::stored::{KIND, SOURCE_KIND, StoredProgram, StoredVersion, id};
use super::view::ProgramVersion;
use crate::audit::{Action, ApiAction, Subject};
use crate::idempotency::{Claimed, IdempotencyKey};
use crate::ids;
use crate::problem::Problem;
use crate::service::Service;
use crate::time;
use crate::who::Who;
use agent_spaces_journal::{Expected, NewDocument, Put};

/// Most versions of a program, and most programs of a caller.
const MAX_VERSIONS: usize = 1_000;
pub(super) const MAX_PROGRAMS: usize = 1_000;

/// Attempts to store a version while others store theirs.
const MAX_ATTEMPTS: usize = 8;

/// Kind of requests whose keys publish programs.
const KEYED: &str = "program";

/// Version that a request published, or that has its source already.
pub(super) struct Published {
    pub(super) version: ProgramVersion,
    /// True if it was made by this request.
    pub(super) is_new: bool,
    /// Key of the program: one that is deleted and published again has another.
    program: String,
}

impl Published {
    /// Returns the id by which a repeated request finds the version.
    fn effect(&self) -> String {
        format!("{}@{}", self.program, self.version.version)
    }
}

impl Service {
    /// Publishes a program once for each idempotency key.
    pub(super) async fn publish_once(
        &self,
        who: &Who,
        new: &NewProgram,
        key: Option<&IdempotencyKey>,
    ) -> Result<Published, Problem> {
        let Some(key) = key else { return self.publish(who, new, None).await };
        let publication = ids::new("pub_")?;
        let publication = match key.claim(self, who, KEYED, &new.keyed(), &publication).await? {
            Claimed::New => publication,
            Claimed::Before { id, is_done: true } => return self.published_before(who, new, &id).await,
            // The server stopped before it had stored this, or the other request is in progress.
            Claimed::Before { id, is_done: false } => id,
        };
        let published = self.publish(who, new, Some(&publication)).await?;
        key.finish_with(self, who, KEYED, &published.effect()).await?;
        Ok(published)
    }

    /// Returns the version that an earlier request with the same key got.
    async fn published_before(&self, who: &Who, new: &NewProgram, effect: &str) -> Result<Published, Problem> {
        let gone = || {
            let detail =
                "The version that this Idempotency-Key published is deleted: use a new key to publish it again";
            Problem::conflict("request.idempotency", detail)
        };
        let (key, number) = effect.rsplit_once('@').ok_or_else(gone)?;
        let number = version_number(number).ok_or_else(gone)?;
        let document = self.store().document(KIND, &id(who, &new.name)).await?.ok_or_else(gone)?;
        let program = StoredProgram::read(&document)?;
        let version = program.version(number, Some(new.source.clone())).filter(|_| program.key == key);
        Ok(Published { version: version.ok_or_else(gone)?, is_new: false, program: program.key })
    }

    /// Publishes a program. The id of a publication is that of a request that may be repeated.
    pub(super) async fn publish(
        &self,
        who: &Who,
        new: &NewProgram,
        publication: Option<&str>,
    ) -> Result<Published, Problem> {
        for _ in 0..MAX_ATTEMPTS {
            if let Some(published) = self.try_publish(who, new, publication).await? {
                return Ok(published);
            }
        }
        Err(Problem::conflict("conflict", "Others publish this program now: try again"))
    }

    /// Publishes a program; `None` if somebody else published it meanwhile.
    async fn try_publish(
        &self,
        who: &Who,
        new: &NewProgram,
        publication: Option<&str>,
    ) -> Result<Option<Published>, Problem> {
        let hash = blake3::hash(new.source.as_bytes()).to_hex().to_string();
        let before = self.store().document(KIND, &id(who, &new.name)).await?;
        // Until a new one is stored: two at once do not both pass the check.
        let (mut program, expected, _making) = match &before {
            Some(document) => (StoredProgram::read(document)?, Expected::Version(document.version), None),
            None => {
                let making = self.0.callers.making(who.owner()).await;
                self.check_programs(who).await?;
                let (name, versions) = (new.name.clone(), Vec::new());
                let program = StoredProgram { key: ids::new("src_")?, name, description: None, versions };
                (program, Expected::Absent, Some(making))
            }
        };
        let latest = program.versions.last().filter(|latest| latest.hash == hash).map(|_| program.latest());
        let known = publication.and_then(|publication| program.published_by(publication)).or(latest);
        if let Some(number) = known {
            return published(&program, number, new, false).map(Some);
        }
        if program.versions.len() >= MAX_VERSIONS {
            return Err(Problem::busy(
                "program.too_many",
                format!("More than {MAX_VERSIONS} versions: delete the program"),
            ));
        }
        let subject = Subject::program(format!("{}@{}", program.name, program.latest().saturating_add(1)));
        self.record(ApiAction::new(who, Action::ProgramPublished, subject)).await?;
        // Before the list of versions names it. Its id is its hash, so that others who publish do not replace it.
        let source_id = program.source_id(&hash);
        let source = document(who, SOURCE_KIND, source_id.clone(), new.source.clone());
        self.store().put_document(source, Expected::Any).await?;
        let publication = publication.map(str::to_owned);
        program.versions.push(StoredVersion { hash, created: time::now_ms(), publication });
        program.description = new.description.clone().or(program.description);
        let body = serde_json::to_string(&program).map_err(|error| Problem::internal(&error))?;
        match self.store().put_document(document(who, KIND, id(who, &new.name), body), expected).await? {
            Put::Stored(_) => published(&program, program.latest(), new, true).map(Some),
            Put::Conflict(_) | Put::Missing => {
                // Of a new program, nothing else has its sources.
                if expected == Expected::Absent {
                    self.store().delete_document(SOURCE_KIND, &source_id, None).await?;
                }
                Ok(None)
            }
        }
    }

    /// Refuses another program of a caller that has as many as it may.
    async fn check_programs(&self, who: &Who) -> Result<(), Problem> {
        match self.has_as_many(who, KIND, MAX_PROGRAMS).await? {
            true => {
                Err(Problem::busy("program.too_many", format!("More than {MAX_PROGRAMS} programs: delete some first")))
            }
            false => Ok(()),
        }
    }
}

/// Returns a version with its source, which is that of the request.
fn published(program: &StoredProgram, number: u32, new: &NewProgram, is_new: bool) -> Result<Published, Problem> {
    let version = program.version(number, Some(new.source.clone())).ok_or_else(|| Problem::not_found("program"))?;
    Ok(Published { version, is_new, program: program.key.clone() })
}

/// Returns a document of a caller.
fn document(who: &Who, kind: &str, id: String, body: String) -> NewDocument {
    NewDocument { kind: kind.to_owned(), id, owner: who.owner().to_owned(), body, expires: None }
}
