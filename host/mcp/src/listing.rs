//! Lists of a server's tools, prompts and resources.

use crate::connection::Connection;
use crate::error::CallError;
use crate::lock::{LockedEndpoint, LockedServer, Offer, OfferError, ServerIdentity};
use agent_spaces_secrets::Redactor;
use rmcp::model::*;
use serde_json::Value;
use std::collections::HashSet;

/// Limit on tools, prompts and resources of one server, each.
pub const MAX_ITEMS: usize = 5_000;
const MAX_PAGES: usize = 500;
/// Size limit of a list, in bytes of JSON. Larger than what a lock entry may hold.
const MAX_LISTED: usize = 16 << 20;
/// Length limit of a cursor: all are kept to detect a repeated one.
const MAX_CURSOR: usize = 4 << 10;

/// Identity of a server, as it reports it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Identity {
    /// Its own name, not the one in the configuration.
    pub name: Option<String>,
    /// Its version.
    pub version: Option<String>,
    /// Display name.
    pub title: Option<String>,
    /// Negotiated protocol version.
    pub protocol: String,
    /// Instructions for its use.
    pub instructions: Option<String>,
}

/// Everything a server offers, each item as it sent it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Listing {
    /// Identity of the server.
    pub identity: Identity,
    /// Its tools.
    pub tools: Vec<Value>,
    /// Its prompts.
    pub prompts: Vec<Value>,
    /// Its resources.
    pub resources: Vec<Value>,
    /// Its resource templates.
    pub resource_templates: Vec<Value>,
    /// True if it has the `resources` capability, whether or not any are listed.
    pub has_resources: bool,
    /// True if it has the `prompts` capability.
    pub has_prompts: bool,
}

impl Listing {
    /// Redacts secrets anywhere in the listing: a server may echo what it was given.
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

    /// Returns the lock entry for the listing.
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
    /// Returns the identity of the server.
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

    /// Lists everything the server offers. Only a failure to list tools is an error.
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

    /// Lists the tools, as the server sent them.
    pub async fn list_tools(&self) -> Result<Vec<Value>, CallError> {
        // A server may have resources and no tools.
        if self.info().is_some_and(|info| info.capabilities.tools.is_none() && info.capabilities.resources.is_some()) {
            return Ok(Vec::new());
        }
        self.pages("tools", |params| ClientRequest::ListToolsRequest(with_params(params))).await
    }

    fn optional(&self, what: &str, listed: Result<Vec<Value>, CallError>) -> Vec<Value> {
        listed.unwrap_or_else(|error| {
            self.context.trace.line(&self.settings.name, || format!("listing its {what} failed: {error}"));
            Vec::new()
        })
    }

    /// Reads all pages of a list, within the connect timeout.
    async fn pages(
        &self,
        member: &str,
        make: impl Fn(Option<PaginatedRequestParams>) -> ClientRequest,
    ) -> Result<Vec<Value>, CallError> {
        let after = self.settings.connect_timeout;
        let listed = tokio::time::timeout(after, self.read_pages(member, make)).await;
        listed.unwrap_or_else(|_| Err(CallError::Malformed(format!("listing its {member} timed out"))))
    }

    async fn read_pages(
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
                Some(next) if !seen.insert(next.to_owned()) => {
                    return endless("never ends: a page cursor was repeated".into());
                }
                Some(next) => cursor = Some(next.to_owned()),
            }
        }
        endless(format!("has more than {MAX_PAGES} pages"))
    }
}

fn with_params<M: Default>(params: Option<PaginatedRequestParams>) -> RequestOptionalParam<M, PaginatedRequestParams> {
    RequestOptionalParam { method: M::default(), params, extensions: Extensions::default() }
}
