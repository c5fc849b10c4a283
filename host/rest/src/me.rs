//! `GET /v1/me`: the caller of the request.

use crate::query::NoQuery;
use crate::service::Service;
use crate::who::Who;
use axum::Json;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// Name of the operator in responses.
const OPERATOR: &str = "the operator";

pub(crate) fn router() -> OpenApiRouter<Service> {
    OpenApiRouter::new().routes(routes!(get))
}

/// Caller of a request.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Me {
    /// Name in the configuration, or `the operator`.
    name: String,
    /// True for the operator, who sees everything of all callers.
    operator: bool,
    /// True if it may decide on calls of its runs.
    may_approve: bool,
    /// Version of the server.
    version: String,
}

impl Me {
    fn of(who: &Who) -> Me {
        let operator = who.is_operator();
        Me {
            name: if operator { OPERATOR.to_owned() } else { who.owner().to_owned() },
            operator,
            may_approve: who.check_may_approve().is_ok(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }
}

/// Get the caller
///
/// Whose token the request has, and what it may do.
#[utoipa::path(
    get, path = "/v1/me", tag = "callers", operation_id = "getMe",
    responses((status = 200, description = "The caller", body = Me)),
)]
async fn get(who: Who, _: NoQuery) -> Json<Me> {
    Json(Me::of(&who))
}

#[cfg(test)]
mod tests {
    use super::Me;
    use crate::who::Who;
    use agent_spaces_http_server::Client;
    use agent_spaces_types::caller::Caller;
    use serde_json::{Value, json};

    fn me(client: Client) -> Value {
        let mut me = serde_json::to_value(Me::of(&Who(client))).unwrap();
        assert!(me.as_object_mut().unwrap().remove("version").is_some_and(|version| version.is_string()));
        me
    }

    #[test]
    fn a_caller_has_a_name_and_rights() {
        let operator = me(Client::of_process(Caller::default()));
        assert_eq!(operator, json!({ "name": "the operator", "operator": true, "mayApprove": true }));
        let ann = me(Client::named("ann", Caller::default()));
        assert_eq!(ann, json!({ "name": "ann", "operator": false, "mayApprove": false }));
        let bob = me(Client::named("bob", Caller::default()).approving());
        assert_eq!(bob, json!({ "name": "bob", "operator": false, "mayApprove": true }));
    }
}
