//! Stored login.

use agent_spaces_secrets::{MIN_SECRET, Redactor, Secret};
use oauth2::TokenResponse;
use rmcp::transport::auth::{AuthorizationMetadata, StoredCredentials};
use serde::{Deserialize, Serialize};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Extra metadata that rmcp reads when it refreshes a token; the rest is dropped, because it may be of any size.
const KEPT_METADATA: &[&str] = &["token_endpoint_auth_methods_supported"];

/// Stored login. It contains secrets, so it does not implement `Debug`.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Record {
    /// The server's name in the configuration.
    pub(crate) name: String,
    /// Its URL, as in `Target::url`.
    pub(crate) url: String,
    /// OAuth grant of the login.
    pub(crate) grant: Grant,
    /// `resource` of the token requests.
    pub(crate) resource: String,
    /// Metadata of the authorization server.
    pub(crate) metadata: AuthorizationMetadata,
    /// True if the server was in a private network, so that the authorization server may be too.
    #[serde(default)]
    pub(crate) is_private: bool,
    /// Client id.
    pub(crate) client_id: String,
    /// Client secret of a dynamic registration; a configured one is not stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) client_secret: Option<String>,
    /// Scopes that the login requested.
    #[serde(default)]
    pub(crate) asked: Vec<String>,
    /// Scopes that the server required since.
    #[serde(default)]
    pub(crate) required: Vec<String>,
    /// The tokens, unless they were revoked.
    pub(crate) credentials: Option<StoredCredentials>,
}

/// OAuth grant of a login.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Grant {
    /// Authorization code, by a person in a browser.
    Person,
    /// Client credentials of the configured client.
    Client,
}

impl Record {
    pub(crate) fn is_of(&self, name: &str, url: &str) -> bool {
        self.name == name && self.url == url
    }

    /// Adds its secrets to the redactor.
    pub(crate) fn add_secrets_to(&self, redactor: &Redactor) {
        for secret in self.secrets().filter(|secret| secret.len() >= MIN_SECRET) {
            redactor.add_token(&Secret::new(secret));
        }
    }

    /// Returns true if every secret is long enough to be redacted.
    pub(crate) fn can_be_kept_secret(&self) -> bool {
        self.secrets().all(|secret| secret.len() >= MIN_SECRET)
    }

    fn secrets(&self) -> impl Iterator<Item = &str> {
        self.credentials.iter().flat_map(tokens_of).chain(self.client_secret.as_deref())
    }

    /// Returns the expiry of the access token, if known.
    pub(crate) fn expires(&self) -> Option<SystemTime> {
        let credentials = self.credentials.as_ref()?;
        let lifetime = credentials.token_response.as_ref()?.expires_in()?;
        UNIX_EPOCH.checked_add(Duration::from_secs(credentials.token_received_at?).checked_add(lifetime)?)
    }

    /// Returns true if the access token can be refreshed without a person.
    pub(crate) fn renews(&self) -> bool {
        let tokens = self.credentials.as_ref().and_then(|credentials| credentials.token_response.as_ref());
        self.grant == Grant::Client || tokens.is_some_and(|tokens| tokens.refresh_token().is_some())
    }
}

/// Returns the secret tokens of credentials.
fn tokens_of(credentials: &StoredCredentials) -> impl Iterator<Item = &str> {
    let tokens = credentials.token_response.as_ref();
    let access = tokens.map(|tokens| tokens.access_token().secret().as_str());
    let refresh = tokens.and_then(|tokens| tokens.refresh_token()).map(|token| token.secret().as_str());
    access.into_iter().chain(refresh)
}

/// Adds tokens that are not stored yet to the redactor, so that no error shows them.
pub(crate) fn add_tokens_to(credentials: &StoredCredentials, redactor: &Redactor) {
    for token in tokens_of(credentials).filter(|token| token.len() >= MIN_SECRET) {
        redactor.add_token(&Secret::new(token));
    }
}

/// Strips credentials of extra fields from the authorization server.
pub(crate) fn essential(mut credentials: StoredCredentials) -> StoredCredentials {
    if let Some(tokens) = &mut credentials.token_response {
        tokens.set_extra_fields(Default::default());
    }
    credentials
}

/// Strips metadata of fields that a token refresh does not need.
pub(crate) fn essential_metadata(metadata: &AuthorizationMetadata) -> AuthorizationMetadata {
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
