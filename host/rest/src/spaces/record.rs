//! Spaces in the store.

use crate::ids;
use crate::limits::RunLimits;
use crate::problem::Problem;
use crate::service::Service;
use crate::time::now_ms;
use crate::webhooks::StoredWebhook;
use crate::who::Who;
use agent_spaces_journal::{Document, Expected, NewDocument, Put};
use agent_spaces_types::caller::Caller;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub(crate) use crate::space_documents::{KIND, PREFIX};

/// Time for which a space that has expired stays in the store at least, so that what it started is ended first.
pub(crate) const REMOVAL_TIME_MS: i64 = 24 * 60 * 60 * 1_000;

/// A space that runs execute in.
#[derive(Clone, Debug)]
pub(crate) struct SpaceRecord {
    pub(crate) id: String,
    /// Caller who made it; `None` for one of the configuration.
    pub(crate) made: Option<Made>,
    /// Configured space that it is, or is a part of; `None` is the space of the global capabilities.
    pub(crate) base: Option<String>,
}

/// Space that a caller made.
#[derive(Clone, Debug)]
pub(crate) struct Made {
    pub(crate) owner: String,
    pub(crate) part: StoredSpace,
    pub(crate) version: u64,
    pub(crate) created: i64,
    pub(crate) updated: i64,
}

/// Space as the store keeps it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct StoredSpace {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) base: Option<String>,
    /// Capabilities; `None` for all of the configured space.
    #[serde(default)]
    pub(crate) capabilities: Option<Vec<String>>,
    #[serde(default)]
    pub(crate) policy: Option<Value>,
    #[serde(default)]
    pub(crate) limits: RunLimits,
    /// Time at which it ends, in milliseconds since the Unix epoch.
    #[serde(default)]
    pub(crate) expires_at: Option<i64>,
    #[serde(default)]
    pub(crate) webhook: Option<StoredWebhook>,
    /// Host that has its files; `None` if all hosts have them, or it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) host: Option<String>,
    /// True while it is being removed.
    #[serde(default)]
    pub(crate) is_ending: bool,
}

/// Part of its base that a made space takes. Runs keep the one that their space had when they started.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct GivenPart {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    capabilities: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    policy: Option<Value>,
}

impl StoredSpace {
    /// Returns true if it can be used.
    pub(crate) fn is_alive(&self) -> bool {
        !self.is_ending && self.expires_at.is_none_or(|at| now_ms() < at)
    }

    /// Returns the text by which a repeated request is known: everything that its caller chose.
    pub(crate) fn keyed(&self) -> String {
        let webhook = self.webhook.as_ref().map(StoredWebhook::without_secret);
        serde_json::to_string(&StoredSpace { webhook, ..self.clone() }).unwrap_or_default()
    }

    /// Returns the document to store.
    pub(crate) fn document(&self, id: &str, owner: &str) -> Result<NewDocument, Problem> {
        let body = serde_json::to_string(self).map_err(|error| Problem::internal(&error))?;
        let expires = match self.is_ending {
            true => Some(now_ms()),
            false => self.expires_at,
        };
        let expires = expires.map(|at| at.saturating_add(REMOVAL_TIME_MS));
        Ok(NewDocument { kind: KIND.to_owned(), id: id.to_owned(), owner: owner.to_owned(), body, expires })
    }
}

impl SpaceRecord {
    /// Reads a space that a caller made.
    pub(crate) fn read(document: Document) -> Result<SpaceRecord, Problem> {
        let Document { id, owner, body, version, created, updated, .. } = document;
        let part: StoredSpace = serde_json::from_str(&body).map_err(|error| Problem::internal(&error))?;
        let base = part.base.clone();
        Ok(SpaceRecord { id, base, made: Some(Made { owner, part, version, created, updated }) })
    }

    /// Returns a space that ended, of which only the id is known.
    pub(super) fn ended(document: Document) -> SpaceRecord {
        let Document { id, owner, version, created, updated, .. } = document;
        let part = StoredSpace { is_ending: true, ..StoredSpace::default() };
        SpaceRecord { id, base: None, made: Some(Made { owner, part, version, created, updated }) }
    }

    /// Returns a hash of what it is made of.
    pub(super) fn shape(&self) -> String {
        let part = self.made.as_ref().map(|made| (&made.part.capabilities, &made.part.policy));
        let text = serde_json::json!([self.base, part]).to_string();
        blake3::hash(text.as_bytes()).to_hex().to_string()
    }

    /// Returns what it takes of its base; `None` for one of the configuration.
    pub(crate) fn given(&self) -> Option<GivenPart> {
        let StoredSpace { capabilities, policy, .. } = &self.made.as_ref()?.part;
        Some(GivenPart { capabilities: capabilities.clone(), policy: policy.clone() })
    }

    /// Returns it with another part of its base, if it is one that a caller made.
    pub(crate) fn with_given(mut self, given: GivenPart) -> SpaceRecord {
        if let Some(made) = &mut self.made {
            made.part.capabilities = given.capabilities;
            made.part.policy = given.policy;
        }
        self
    }

    /// Returns the resource limits that its maker chose.
    pub(crate) fn limits(&self) -> RunLimits {
        self.made.as_ref().map(|made| made.part.limits).unwrap_or_default()
    }

    /// Returns true if it has a webhook. What that is told of may change while a run is in progress.
    pub(crate) fn has_webhook(&self) -> bool {
        self.made.as_ref().is_some_and(|made| made.part.webhook.is_some())
    }
}

impl Service {
    /// Returns the id of a configured space.
    pub(crate) fn configured_id(&self, base: Option<&str>) -> String {
        let is_named = if base.is_some() { "named" } else { "global" };
        ids::derived(PREFIX, &[&self.0.settings.config, is_named, base.unwrap_or_default()])
    }

    /// Returns the configured spaces that a caller may use.
    pub(crate) fn configured(&self, caller: &Caller) -> Vec<SpaceRecord> {
        let bases = self.0.source.bases(caller).into_iter();
        bases.map(|base| SpaceRecord { id: self.configured_id(base.as_deref()), base, made: None }).collect()
    }

    /// Returns a space that a caller may use.
    pub(crate) async fn space(&self, who: &Who, id: &str) -> Result<SpaceRecord, Problem> {
        let found = self.find_space(who.0.caller(), id).await?;
        let is_seen = |space: &SpaceRecord| space.made.as_ref().is_none_or(|made| who.owns(&made.owner));
        found.filter(is_seen).ok_or_else(|| Problem::not_found("space"))
    }

    /// Returns a space that can be used, whoever made it. A configured one must be among those of the caller.
    pub(crate) async fn find_space(&self, caller: &Caller, id: &str) -> Result<Option<SpaceRecord>, Problem> {
        if !ids::is_id(id, PREFIX) {
            return Ok(None);
        }
        if let Some(configured) = self.configured(caller).into_iter().find(|space| space.id == id) {
            return Ok(Some(configured));
        }
        let space = self.stored_space(id).await?;
        let is_usable = |made: &Made| made.part.is_alive() && self.is_given(&made.owner, &made.part);
        Ok(space.filter(|space| space.made.as_ref().is_some_and(is_usable)))
    }

    /// Returns true if a space exists, whoever may use it now.
    pub(crate) async fn is_kept(&self, id: &str) -> Result<bool, Problem> {
        if self.configured(&Caller::default()).iter().any(|space| space.id == id) {
            return Ok(true);
        }
        let stored = self.stored_space(id).await?.and_then(|space| space.made);
        Ok(stored.is_some_and(|made| made.part.is_alive()))
    }

    /// Returns a space that a caller made, also one that ends.
    pub(crate) async fn stored_space(&self, id: &str) -> Result<Option<SpaceRecord>, Problem> {
        match ids::is_id(id, PREFIX) {
            true => self.store().document(KIND, id).await?.map(SpaceRecord::read).transpose(),
            false => Ok(None),
        }
    }

    /// Returns true if a caller is still given the configured space that theirs is made of.
    pub(crate) fn is_given(&self, owner: &str, part: &StoredSpace) -> bool {
        let name = Some(owner.to_owned()).filter(|owner| !owner.is_empty());
        self.0.source.bases(&Caller { name, ..Caller::default() }).contains(&part.base)
    }

    /// Stores a space that a caller made.
    pub(crate) async fn put_space(
        &self,
        id: &str,
        owner: &str,
        part: &StoredSpace,
        expected: Expected,
    ) -> Result<SpaceRecord, Problem> {
        match self.store().put_document(part.document(id, owner)?, expected).await? {
            Put::Stored(document) => SpaceRecord::read(document),
            Put::Conflict(_) => Err(changed_meanwhile()),
            Put::Missing => Err(Problem::not_found("space")),
        }
    }
}

/// Creates the problem of a change of a space that another request changed before.
pub(super) fn changed_meanwhile() -> Problem {
    let detail = "The space was changed meanwhile: read it again, and send its new ETag";
    Problem::new(http::StatusCode::PRECONDITION_FAILED, "precondition", detail)
}

#[cfg(test)]
mod tests {
    use super::{Made, SpaceRecord, StoredSpace};
    use serde_json::{Value, json};

    fn space(part: Value) -> SpaceRecord {
        let part: StoredSpace = serde_json::from_value(part).unwrap();
        let made = Made { owner: "ann".to_owned(), part, version: 1, created: 0, updated: 0 };
        SpaceRecord { id: "spc_1".to_owned(), base: None, made: Some(made) }
    }

    #[test]
    fn a_space_is_made_again_if_its_capabilities_or_policy_change() {
        let plain = space(json!({ "name": "a" }));
        assert_eq!(plain.shape(), space(json!({ "name": "b", "limits": { "calls": 3 } })).shape());
        let less = space(json!({ "name": "a", "capabilities": ["mcp:slack"] }));
        let strict = space(json!({ "name": "a", "policy": { "functions": { "*": "deny" } } }));
        assert!(plain.shape() != less.shape() && plain.shape() != strict.shape() && less.shape() != strict.shape());
        let configured = SpaceRecord { made: None, ..plain.clone() };
        assert!(configured.shape() != plain.shape() && configured.given().is_none());
        // A run goes on with what it started with.
        let before = strict.with_given(less.given().unwrap());
        assert_eq!((before.shape(), before.given()), (less.shape(), less.given()));
    }
}
