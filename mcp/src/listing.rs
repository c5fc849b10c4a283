//! All that a server offers.

use crate::connection::Connection;
use crate::error::CallError;
use crate::lock::{LockedEndpoint, LockedServer, Offer, OfferError, ServerIdentity};
use crate::secrets::Redactor;
use rmcp::model::*;
use serde_json::Value;
use std::collections::HashSet;

/// More of a kind than this is not taken from one server.
pub const MAX_ITEMS: usize = 5_000;
const MAX_PAGES: usize = 500;
/// More than what the lock takes of a server, in bytes of JSON.
const MAX_LISTED: usize = 16 << 20;
/// Cursors are kept to see whether one comes again.
const MAX_CURSOR: usize = 4 << 10;

/// What a server said of itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Identity {
    /// Its own name, which is not the one in the configuration.
    pub name: Option<String>,
    /// Its version.
    pub version: Option<String>,
    /// A name for people.
    pub title: Option<String>,
    /// The version of the protocol that is spoken.
    pub protocol: String,
    /// How to use it.
    pub instructions: Option<String>,
}

/// All that a server offers, each thing as it sent it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Listing {
    /// What it said of itself.
    pub identity: Identity,
    /// Its tools.
    pub tools: Vec<Value>,
    /// Its prompts.
    pub prompts: Vec<Value>,
    /// Its resources.
    pub resources: Vec<Value>,
    /// Templates of resources.
    pub resource_templates: Vec<Value>,
    /// Whether it has resources at all, listed or not.
    pub has_resources: bool,
    /// Whether it has prompts at all.
    pub has_prompts: bool,
}

impl Listing {
    /// A server may have put what it was given anywhere.
    pub(crate) fn redact(&mut self, redactor: &Redactor) {
        let Listing { identity, tools, prompts, resources, resource_templates, .. } = self;
        for item in [tools, prompts, resources, resource_templates].into_iter().flatten() {
            redactor.value(item);
        }
        let Identity { name, version, title, instructions, protocol } = identity;
        for text in [name, version, title, instructions].into_iter().flatten().chain([protocol]) {
            *text = redactor.text(text).into_owned();
        }
    }

    /// What of it the lock records.
    pub fn locked(&self, endpoint: LockedEndpoint, redactor: &Redactor) -> Result<LockedServer, OfferError> {
        let Identity { name, version, title, protocol, instructions } = &self.identity;
        let identity = name.as_ref().map(|name| ServerIdentity {
            name: name.clone(),
            version: version.clone().unwrap_or_default(),
            title: title.clone(),
        });
        let offer = Offer {
            identity: identity.as_ref(),
            protocol: Some(protocol.as_str()).filter(|version| !version.is_empty()),
            instructions: instructions.as_deref(),
            has_resources: self.has_resources,
            tools: &self.tools,
            prompts: &self.prompts,
        };
        LockedServer::of(endpoint, &offer, redactor)
    }
}

impl Connection {
    /// What the server said of itself.
    pub fn identity(&self) -> Identity {
        let Some(info) = self.info() else { return Identity::default() };
        let server = info.server_info.as_ref();
        Identity {
            name: server.map(|server| server.name.clone()),
            version: server.map(|server| server.version.clone()),
            title: server.and_then(|server| server.title.clone()),
            protocol: info.protocol_version.to_string(),
            instructions: info.instructions.clone().filter(|text| !text.trim().is_empty()),
        }
    }

    /// All that it offers. Only tools must be listed without fault; the rest is a courtesy.
    pub async fn list(&self) -> Result<Listing, CallError> {
        let capabilities = self.info().map(|info| info.capabilities.clone()).unwrap_or_default();
        let mut listing = Listing { identity: self.identity(), tools: self.list_tools().await?, ..Listing::default() };
        listing.has_prompts = capabilities.prompts.is_some();
        listing.has_resources = capabilities.resources.is_some();
        if listing.has_prompts {
            listing.prompts = self.optional("prompts", self.list_prompts().await);
        }
        if listing.has_resources {
            listing.resources = self.optional("resources", self.list_resources().await);
            listing.resource_templates = self.optional("resource templates", self.list_resource_templates().await);
        }
        Ok(listing)
    }

    pub(crate) async fn list_prompts(&self) -> Result<Vec<Value>, CallError> {
        self.pages("prompts", |params| ClientRequest::ListPromptsRequest(with_params(params))).await
    }

    pub(crate) async fn list_resources(&self) -> Result<Vec<Value>, CallError> {
        self.pages("resources", |params| ClientRequest::ListResourcesRequest(with_params(params))).await
    }

    pub(crate) async fn list_resource_templates(&self) -> Result<Vec<Value>, CallError> {
        let make = |params| ClientRequest::ListResourceTemplatesRequest(with_params(params));
        self.pages("resourceTemplates", make).await
    }

    /// Its tools, as it sent them.
    pub async fn list_tools(&self) -> Result<Vec<Value>, CallError> {
        // A server without tools may still be worth its resources.
        if self.info().is_some_and(|info| info.capabilities.tools.is_none() && info.capabilities.resources.is_some()) {
            return Ok(Vec::new());
        }
        self.pages("tools", |params| ClientRequest::ListToolsRequest(with_params(params))).await
    }

    fn optional(&self, what: &str, listed: Result<Vec<Value>, CallError>) -> Vec<Value> {
        listed.unwrap_or_else(|error| {
            self.context.trace.line(&self.settings.name, || format!("it did not list its {what}: {error}"));
            Vec::new()
        })
    }

    /// All pages of a list, within the time that connecting may take.
    async fn pages(
        &self,
        member: &str,
        make: impl Fn(Option<PaginatedRequestParams>) -> ClientRequest,
    ) -> Result<Vec<Value>, CallError> {
        let after = self.settings.connect_timeout;
        let listed = tokio::time::timeout(after, self.turn_pages(member, make)).await;
        listed.unwrap_or_else(|_| Err(CallError::Malformed(format!("its list of {member} takes too long"))))
    }

    async fn turn_pages(
        &self,
        member: &str,
        make: impl Fn(Option<PaginatedRequestParams>) -> ClientRequest,
    ) -> Result<Vec<Value>, CallError> {
        let endless = |why: String| Err(CallError::Malformed(format!("its list of {member} {why}")));
        let (mut items, mut size) = (Vec::new(), 0);
        let mut cursor: Option<String> = None;
        let mut seen = HashSet::new();
        for _ in 0..MAX_PAGES {
            let params = cursor.take().map(|cursor| PaginatedRequestParams::default().with_cursor(Some(cursor)));
            let result = self.request(make(params), self.deadline(self.settings.timeout), None).await?;
            let mut page = serde_json::to_value(result).map_err(|error| CallError::Malformed(error.to_string()))?;
            size += page.to_string().len();
            match page.get_mut(member).map(Value::take) {
                Some(Value::Array(listed)) => items.extend(listed),
                _ => return Err(CallError::Malformed(format!("its list has no `{member}`"))),
            }
            if items.len() > MAX_ITEMS || size > MAX_LISTED {
                return endless(format!("is larger than {MAX_ITEMS} items or {MAX_LISTED} bytes"));
            }
            match page.get("nextCursor").and_then(Value::as_str) {
                None | Some("") => return Ok(items),
                Some(next) if next.len() > MAX_CURSOR => {
                    return endless(format!("has a cursor of more than {MAX_CURSOR} bytes"));
                }
                Some(next) if !seen.insert(next.to_owned()) => return endless("never ends: a page comes again".into()),
                Some(next) => cursor = Some(next.to_owned()),
            }
        }
        endless(format!("has more than {MAX_PAGES} pages"))
    }
}

fn with_params<M: Default>(params: Option<PaginatedRequestParams>) -> RequestOptionalParam<M, PaginatedRequestParams> {
    RequestOptionalParam { method: M::default(), params, extensions: Extensions::default() }
}
