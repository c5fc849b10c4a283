//! Spaces in requests and responses.

use super::SpaceRecord;
use crate::limits::RunLimits;
use crate::problem::Problem;
use crate::source::SpaceOutline;
use crate::time;
use crate::webhooks::{NewWebhook, Webhook};
use agent_spaces_types::shown::Shown;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// Longest name of a space, in characters.
const MAX_NAME: usize = 100;
/// Most capabilities that a request lists.
const MAX_CAPABILITIES: usize = 1_000;
/// Longest life of a space, in seconds: a year.
const MAX_TTL: u64 = 366 * 24 * 60 * 60;

/// Space to make. It has at most what the configured space that it is made of has.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NewSpace {
    /// Name, for people.
    #[schema(min_length = 1, max_length = 100)]
    pub(crate) name: String,
    /// Configured space that it is made of; by default the caller's first one.
    #[serde(default, deserialize_with = "crate::body::given")]
    pub(crate) base: Option<String>,
    /// Capabilities, as the configuration names them (`mcp:slack`, `@company/internal-sdk`); by default all of the base.
    #[serde(default, deserialize_with = "crate::body::given")]
    #[schema(max_items = 1000)]
    pub(crate) capabilities: Option<Vec<String>>,
    /// Policy, in the format of the configuration. It can only be stricter than that of the base.
    #[serde(default, deserialize_with = "crate::body::given")]
    #[schema(value_type = Option<Object>)]
    pub(crate) policy: Option<Map<String, Value>>,
    /// Resource limits of its runs.
    #[serde(default, deserialize_with = "crate::body::object")]
    pub(crate) limits: RunLimits,
    /// Seconds until the space ends, with everything that it started; by default it has no end.
    #[serde(default, deserialize_with = "crate::body::optional_whole")]
    #[schema(minimum = 1, maximum = 31622400)]
    pub(crate) ttl_seconds: Option<u64>,
    /// Address that is told of ended runs and of calls that need approval.
    #[serde(default, deserialize_with = "crate::body::optional_object")]
    pub(crate) webhook: Option<NewWebhook>,
}

/// Change of a space. Members that are missing stay as they are.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct SpaceChange {
    /// New name.
    #[serde(default, deserialize_with = "crate::body::given")]
    #[schema(min_length = 1, max_length = 100)]
    pub(crate) name: Option<String>,
    /// New capabilities, all of them, as the configuration names them.
    #[serde(default, deserialize_with = "crate::body::given")]
    #[schema(max_items = 1000)]
    pub(crate) capabilities: Option<Vec<String>>,
    /// New policy, all of it, in the format of the configuration. It can only be stricter than that of the base.
    #[serde(default, deserialize_with = "crate::body::given")]
    #[schema(value_type = Option<Object>)]
    pub(crate) policy: Option<Map<String, Value>>,
    /// New resource limits, all of them.
    #[serde(default, deserialize_with = "crate::body::optional_object")]
    pub(crate) limits: Option<RunLimits>,
    /// Seconds from now until the space ends.
    #[serde(default, deserialize_with = "crate::body::optional_whole")]
    #[schema(minimum = 1, maximum = 31622400)]
    pub(crate) ttl_seconds: Option<u64>,
}

/// Origin of a space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = SpaceSource)]
pub(crate) enum SpaceSourceKind {
    /// The configuration defines it; it cannot be changed here.
    Configuration,
    /// A caller made it.
    Api,
}

/// Space.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Space)]
pub(crate) struct SpaceView {
    /// Id: `spc_…`.
    id: String,
    /// Name.
    name: String,
    /// Origin.
    source: SpaceSourceKind,
    /// Configured space that it is, or is made of; missing for that of the global capabilities.
    #[serde(skip_serializing_if = "Option::is_none")]
    base: Option<String>,
    /// Capabilities.
    capabilities: Vec<String>,
    /// Modules that programs can import.
    modules: Vec<String>,
    /// Policy that the request gave.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    policy: Option<Value>,
    /// Resource limits of its runs.
    limits: RunLimits,
    /// True if its programs have files.
    has_files: bool,
    /// Webhook.
    #[serde(skip_serializing_if = "Option::is_none")]
    webhook: Option<Webhook>,
    /// Time of creation.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    created_at: Option<String>,
    /// Time of the last change.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    updated_at: Option<String>,
    /// Time at which it ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    expires_at: Option<String>,
    /// Entity tag, as in the header `ETag`.
    #[serde(skip_serializing_if = "Option::is_none")]
    etag: Option<String>,
}

impl SpaceView {
    /// Shows a space, with the secret of its webhook only to the request that made it.
    pub(crate) fn new(space: &SpaceRecord, outline: &SpaceOutline, shows_secret: bool) -> Result<SpaceView, Problem> {
        let limits = space.limits().within(&outline.limits, outline.longest)?;
        let made = space.made.as_ref();
        let part = made.map(|made| &made.part);
        let configured = || space.base.clone().unwrap_or_else(|| "global".to_owned());
        Ok(SpaceView {
            id: space.id.clone(),
            name: part.map_or_else(configured, |part| part.name.clone()),
            source: if made.is_some() { SpaceSourceKind::Api } else { SpaceSourceKind::Configuration },
            base: space.base.clone(),
            capabilities: outline.capabilities.clone(),
            modules: outline.modules.clone(),
            policy: part.and_then(|part| part.policy.clone()),
            limits: RunLimits::of(&limits),
            has_files: outline.has_files,
            webhook: part.and_then(|part| part.webhook.as_ref()).map(|webhook| Webhook::of(webhook, shows_secret)),
            created_at: made.map(|made| time::format(made.created)),
            updated_at: made.map(|made| time::format(made.updated)),
            expires_at: part.and_then(|part| part.expires_at).map(time::format),
            etag: etag(space),
        })
    }

    /// Returns the entity tag.
    pub(crate) fn etag(&self) -> Option<&str> {
        self.etag.as_deref()
    }
}

/// Returns the entity tag of a space that a caller made.
pub(crate) fn etag(space: &SpaceRecord) -> Option<String> {
    space.made.as_ref().map(|made| format!("\"{}\"", made.version))
}

/// Checks a name.
pub(crate) fn check_name(name: &str) -> Result<(), Problem> {
    // Without characters that hide others.
    let is_printable = *Shown::line(name, MAX_NAME) == *name;
    match name.chars().count() {
        1..=MAX_NAME if is_printable && !name.trim().is_empty() => Ok(()),
        _ => Err(Problem::invalid("/name", format!("expected 1 to {MAX_NAME} printable characters"))),
    }
}

/// Checks the number of capabilities.
pub(crate) fn check_capabilities(capabilities: Option<&Vec<String>>) -> Result<(), Problem> {
    match capabilities.is_some_and(|list| list.len() > MAX_CAPABILITIES) {
        true => Err(Problem::invalid("/capabilities", format!("more than {MAX_CAPABILITIES} capabilities"))),
        false => Ok(()),
    }
}

/// Returns the end of a space.
pub(crate) fn end(ttl_seconds: Option<u64>) -> Result<Option<i64>, Problem> {
    let Some(seconds) = ttl_seconds else { return Ok(None) };
    if !(1..=MAX_TTL).contains(&seconds) {
        return Err(Problem::invalid("/ttlSeconds", format!("expected a number from 1 to {MAX_TTL}")));
    }
    let ms = i64::try_from(seconds.saturating_mul(1_000)).unwrap_or(i64::MAX);
    Ok(Some(time::now_ms().saturating_add(ms)))
}
