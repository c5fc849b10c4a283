//! OAuth client credentials grant: login of the configured client itself, without a person.

use crate::OAuthClient;
use rmcp::transport::auth::{AuthError, AuthorizationManager, AuthorizationMetadata, ClientCredentialsConfig};
use serde_json::Value;

/// Returns true if the authorization server supports client credentials and no authorization code.
pub(super) fn is_only_way(metadata: &AuthorizationMetadata) -> bool {
    let Some(Value::Array(grants)) = metadata.additional_fields.get("grant_types_supported") else { return false };
    let offers = |name: &str| grants.iter().any(|grant| grant == name);
    offers("client_credentials") && !offers("authorization_code")
}

/// Requests a token for the client itself; it is saved in the manager's store.
pub(super) async fn exchange(
    manager: &mut AuthorizationManager,
    client: &OAuthClient,
    scopes: &[String],
    resource: &str,
) -> Result<(), AuthError> {
    let (Some(client_id), Some(client_secret)) = (&client.client_id, &client.client_secret) else {
        return Err(AuthError::AuthorizationRequired);
    };
    let config = ClientCredentialsConfig::ClientSecret {
        client_id: client_id.clone(),
        client_secret: client_secret.expose().to_owned(),
        scopes: scopes.to_vec(),
        resource: Some(resource.to_owned()),
    };
    manager.validate_client_credentials_metadata(&config)?;
    manager.configure_client_credentials(&config)?;
    manager.exchange_client_credentials(&config).await.map(drop)
}
