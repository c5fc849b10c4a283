//! rmcp's credential store for one login: read before each request, written after each token refresh.

use super::{TokenStore, TokenStoreError, add_tokens_to, essential};
use agent_spaces_secrets::Redactor;
use async_trait::async_trait;
use oauth2::TokenResponse;
use rmcp::transport::auth::{AuthError, CredentialRefreshGuard, CredentialStore, StoredCredentials};

/// One login of a [`TokenStore`].
pub(crate) struct Entry {
    store: TokenStore,
    redactor: Redactor,
    name: String,
    url: String,
}

impl Entry {
    pub(super) fn new(store: TokenStore, (name, url): (&str, &str), redactor: Redactor) -> Entry {
        Entry { store, redactor, name: name.to_owned(), url: url.to_owned() }
    }
}

#[async_trait]
impl CredentialStore for Entry {
    async fn load(&self) -> Result<Option<StoredCredentials>, AuthError> {
        let record = self.store.get(&self.name, &self.url, &self.redactor).map_err(failed)?;
        Ok(record.and_then(|record| record.credentials))
    }

    async fn save(&self, credentials: StoredCredentials) -> Result<(), AuthError> {
        add_tokens_to(&credentials, &self.redactor);
        let kept = essential(credentials);
        self.store.update(&self.name, &self.url, |record| record.credentials = Some(kept)).await.map_err(failed)
    }

    async fn clear(&self) -> Result<(), AuthError> {
        self.store.update(&self.name, &self.url, |record| record.credentials = None).await.map_err(failed)
    }

    async fn on_refresh_token_rejected(&self, rejected: &StoredCredentials) -> Result<(), AuthError> {
        let refresh_token = |credentials: &StoredCredentials| {
            Some(credentials.token_response.as_ref()?.refresh_token()?.secret().clone())
        };
        let rejected = refresh_token(rejected);
        self.store
            .update(&self.name, &self.url, |record| {
                // A newer login has other tokens.
                if record.credentials.as_ref().and_then(refresh_token) == rejected {
                    record.credentials = None;
                }
            })
            .await
            .map_err(failed)
    }

    async fn acquire_refresh_guard(&self) -> Result<Option<CredentialRefreshGuard>, AuthError> {
        self.store.refresh_guard(&self.name, &self.url).await.map(Some).map_err(failed)
    }
}

fn failed(error: TokenStoreError) -> AuthError {
    AuthError::CredentialStoreError(error.to_string())
}
