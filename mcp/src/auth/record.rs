//! What is kept of one login.

use crate::secrets::{MIN_SECRET, Redactor, Secret};
use oauth2::TokenResponse;
use rmcp::transport::auth::{AuthorizationMetadata, StoredCredentials};
use serde::{Deserialize, Serialize};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Parts of a server's metadata that rmcp reads when it renews a token; the rest may be of any size.
const KEPT_METADATA: &[&str] = &["token_endpoint_auth_methods_supported"];

/// What is kept of one login. It holds secrets and therefore cannot be printed.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Record {
    /// The server's name in the configuration.
    pub(super) name: String,
    /// Its address, as `Target::url` spells it.
    pub(super) url: String,
    /// Who logged in.
    pub(super) grant: Grant,
    /// What the tokens are for, as the authorization server was told.
    pub(super) resource: String,
    /// Where tokens are renewed.
    pub(super) metadata: AuthorizationMetadata,
    /// Whether the server was in a private network, where that may be too.
    #[serde(default)]
    pub(super) is_private: bool,
    /// Who we are there.
    pub(super) client_id: String,
    /// The secret that came with a registration; one from the configuration stays there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) client_secret: Option<String>,
    /// The scopes that the login asked for.
    #[serde(default)]
    pub(super) asked: Vec<String>,
    /// The scopes that the server found missing since.
    #[serde(default)]
    pub(super) required: Vec<String>,
    /// The tokens, unless they were taken back.
    pub(super) credentials: Option<StoredCredentials>,
}

/// Who logged in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Grant {
    /// A person, in a browser.
    Person,
    /// The configured client itself.
    Client,
}

impl Record {
    pub(super) fn is_of(&self, name: &str, url: &str) -> bool {
        self.name == name && self.url == url
    }

    /// Makes its secrets known.
    pub(super) fn tell(&self, redactor: &Redactor) {
        for secret in self.secrets().filter(|secret| secret.len() >= MIN_SECRET) {
            redactor.add_token(&Secret::new(secret));
        }
    }

    /// Whether every secret is long enough to be kept out of what is shown.
    pub(super) fn can_be_kept_secret(&self) -> bool {
        self.secrets().all(|secret| secret.len() >= MIN_SECRET)
    }

    fn secrets(&self) -> impl Iterator<Item = &str> {
        self.credentials.iter().flat_map(tokens_of).chain(self.client_secret.as_deref())
    }

    /// When the access token ends, where that was said.
    pub(super) fn expires(&self) -> Option<SystemTime> {
        let credentials = self.credentials.as_ref()?;
        let lifetime = credentials.token_response.as_ref()?.expires_in()?;
        UNIX_EPOCH.checked_add(Duration::from_secs(credentials.token_received_at?).checked_add(lifetime)?)
    }

    /// Whether a new access token can be had without a person.
    pub(super) fn renews(&self) -> bool {
        let tokens = self.credentials.as_ref().and_then(|credentials| credentials.token_response.as_ref());
        self.grant == Grant::Client || tokens.is_some_and(|tokens| tokens.refresh_token().is_some())
    }
}

/// The secrets among what an authorization server gave.
fn tokens_of(credentials: &StoredCredentials) -> impl Iterator<Item = &str> {
    let tokens = credentials.token_response.as_ref();
    let access = tokens.map(|tokens| tokens.access_token().secret().as_str());
    let refresh = tokens.and_then(|tokens| tokens.refresh_token()).map(|token| token.secret().as_str());
    access.into_iter().chain(refresh)
}

/// Makes tokens known that are not kept yet: an error on the way must not show them.
pub(super) fn tell_tokens(credentials: &StoredCredentials, redactor: &Redactor) {
    for token in tokens_of(credentials).filter(|token| token.len() >= MIN_SECRET) {
        redactor.add_token(&Secret::new(token));
    }
}

/// Tokens without what else the authorization server sent along.
pub(super) fn essential(mut credentials: StoredCredentials) -> StoredCredentials {
    if let Some(tokens) = &mut credentials.token_response {
        tokens.set_extra_fields(Default::default());
    }
    credentials
}

/// Metadata without what renewing a token does not need.
pub(super) fn essential_metadata(metadata: &AuthorizationMetadata) -> AuthorizationMetadata {
    let mut kept = AuthorizationMetadata::default();
    kept.authorization_endpoint = metadata.authorization_endpoint.clone();
    kept.token_endpoint = metadata.token_endpoint.clone();
    kept.issuer = metadata.issuer.clone();
    kept.scopes_supported = metadata
        .scopes_supported
        .as_ref()
        .map(|scopes| scopes.iter().filter(|scope| *scope == "offline_access").cloned().collect());
    kept.additional_fields = KEPT_METADATA
        .iter()
        .filter_map(|key| Some(((*key).to_owned(), metadata.additional_fields.get(*key)?.clone())))
        .collect();
    kept
}
