//! Change of the webhook of a space. It is a part of the space, with the space's entity tag.

use super::record::StoredSpace;
use super::routes::{changeable, store_change};
use super::view::SpaceView;
use crate::audit::{Action, ApiAction, Subject};
use crate::body::JsonBody;
use crate::path::Path;
use crate::problem::Problem;
use crate::query::NoQuery;
use crate::service::Service;
use crate::time::now_ms;
use crate::webhooks::WebhookChange;
use crate::who::Who;
use axum::extract::State;
use axum::response::Response;
use http::HeaderMap;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(super) fn router() -> OpenApiRouter<Service> {
    OpenApiRouter::new().routes(routes!(change))
}

/// Change the webhook of a space
///
/// Messages that wait are sent to the new address. Those of events that are no longer sent are given up; what happened
/// before an event was asked for, or while the webhook was disabled, is not sent later. The secret stays.
#[utoipa::path(
    patch, path = "/v1/spaces/{space}/webhook", tag = "spaces", operation_id = "updateWebhook",
    params(
        ("space" = String, Path, description = "Id of the space"),
        ("If-Match" = Option<String>, Header, description = "ETag of the space that the change is for"),
    ),
    request_body = WebhookChange,
    responses((status = 200, description = "The space, with its webhook", body = SpaceView, headers(("ETag" = String)))),
)]
async fn change(
    State(service): State<Service>,
    who: Who,
    _: NoQuery,
    Path(id): Path<String>,
    headers: HeaderMap,
    JsonBody(change): JsonBody<WebhookChange>,
) -> Result<Response, Problem> {
    let space = service.space(&who, &id).await?;
    let made = changeable(&space, &headers)?;
    let webhook = made.part.webhook.as_ref().ok_or_else(|| Problem::not_found("webhook"))?;
    let webhook = webhook.changed(change, service.0.webhooks.client(), now_ms())?;
    let part = StoredSpace { webhook: Some(webhook), ..made.part.clone() };
    let action = ApiAction::new(&who, Action::WebhookChanged, Subject::space(&id));
    store_change(&service, action, &id, made, &part).await
}
