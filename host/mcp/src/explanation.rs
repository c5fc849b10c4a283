//! Explanation of transport errors to the operator.

use crate::advice::unauthorized;
use crate::auth;
use crate::context::Context;
use crate::error::ConnectError;
use crate::settings::ServerSettings;
use crate::transport::{RemoteError, failure};
use rmcp::transport::DynamicTransportError;
use rmcp::transport::streamable_http_client::StreamableHttpError;

/// Converts a transport error to one for the operator.
pub(crate) async fn explain(
    error: &DynamicTransportError,
    settings: &ServerSettings,
    context: &Context,
) -> ConnectError {
    match error.error.downcast_ref::<StreamableHttpError<RemoteError>>() {
        Some(StreamableHttpError::AuthRequired(_)) => unauthorized(settings),
        Some(StreamableHttpError::InsufficientScope(error)) => {
            auth::insufficient_scope(settings, error.required_scope.as_deref(), context).await
        }
        Some(StreamableHttpError::Auth(error)) => auth::refused(settings, error, context),
        _ if failure::status(error) == Some(401) => unauthorized(settings),
        _ => ConnectError::Failed(crate::trace::one_line(&context.redactor.text(&failure::reason(error)))),
    }
}
