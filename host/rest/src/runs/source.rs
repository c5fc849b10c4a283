//! Source of a run.

use super::create::INPUT_MODULE;
use crate::path::Path;
use crate::problem::Problem;
use crate::query::NoQuery;
use crate::service::Service;
use crate::source::Assembled;
use crate::who::Who;
use agent_spaces_durable::DurableError;
use agent_spaces_durable::source::{RunSource, source};
use agent_spaces_journal::RunRow;
use axum::Json;
use axum::extract::State;
use serde::Serialize;
use serde_json::Value;
use std::borrow::Cow;
use std::sync::Arc;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(super) fn router() -> OpenApiRouter<Service> {
    OpenApiRouter::new().routes(routes!(get))
}

/// Source of a run, as its author wrote it.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RunSource)]
pub(crate) struct RunSourceView {
    /// File name of the script.
    name: String,
    /// The script. Secrets that the server knows are shown as stars.
    source: String,
    /// Modules that it imports, directly or not.
    modules: Vec<String>,
    /// Value that the program got; missing if it got none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Value>)]
    input: Option<Value>,
}

impl RunSourceView {
    fn of(source: RunSource, space: Option<&Assembled>) -> RunSourceView {
        let RunSource { name, text, modules } = source;
        let input = modules.given(INPUT_MODULE).and_then(|text| serde_json::from_str(text).ok());
        let mut input = input.filter(|input: &Value| !input.is_null());
        let redactor = space.map(|space| space.space.redactor());
        if let (Some(redactor), Some(input)) = (redactor, &mut input) {
            redactor.value(input);
        }
        // Stars keep every position.
        let starred = redactor.and_then(|redactor| match redactor.starred(&text) {
            Cow::Owned(starred) => Some(starred),
            Cow::Borrowed(_) => None,
        });
        RunSourceView {
            name,
            source: starred.unwrap_or(text),
            modules: modules.names().filter(|name| *name != INPUT_MODULE).map(str::to_owned).collect(),
            input,
        }
    }
}

/// Get the source of a run
///
/// The script as its author wrote it, the names of its modules, and its input.
#[utoipa::path(
    get, path = "/v1/runs/{run}/source", tag = "runs", operation_id = "getRunSource",
    params(("run" = String, Path, description = "Id of the run")),
    responses((status = 200, description = "The source", body = RunSourceView)),
)]
async fn get(
    State(service): State<Service>,
    who: Who,
    _: NoQuery,
    Path(run): Path<String>,
) -> Result<Json<RunSourceView>, Problem> {
    let row = service.run_row(&who, &run).await?;
    let _permit = service.0.callers.view_permit(who.owner()).await;
    let read = source(&**service.store(), &run).await.map_err(unreadable)?;
    let space = service.space_of(&who, &row).await;
    Ok(Json(RunSourceView::of(read, space.as_deref())))
}

/// Returns the problem of a run whose program cannot be read.
pub(super) fn unreadable(error: DurableError) -> Problem {
    match error {
        // Its host died before all of it was stored.
        DurableError::Missing { .. } => Problem::not_found("source"),
        error => error.into(),
    }
}

impl Service {
    /// Returns the space of a run, if it is still there. It knows the secrets that are not shown.
    pub(super) async fn space_of(&self, who: &Who, row: &RunRow) -> Option<Arc<Assembled>> {
        let space = self.space(who, &row.summary.space).await.ok()?;
        self.assembled(&space).await.ok()
    }
}

#[cfg(test)]
mod tests {
    use super::RunSourceView;
    use agent_spaces_durable::source::RunSource;
    use agent_spaces_sandbox::modules::{ModuleSource, Modules};
    use serde_json::json;

    #[test]
    fn the_input_is_apart_from_the_modules() {
        let mut modules = Modules::default();
        modules.insert("@capabilities/bank".to_owned(), ModuleSource::Bindings(Vec::new()));
        let source = |modules: Modules| RunSource { name: "pay.ts".to_owned(), text: "1".to_owned(), modules };
        let shown = |modules: Modules| serde_json::to_value(RunSourceView::of(source(modules), None)).unwrap();
        let expected = json!({ "name": "pay.ts", "source": "1", "modules": ["@capabilities/bank"] });
        assert_eq!(shown(modules.clone()), expected);
        modules.insert(super::INPUT_MODULE.to_owned(), ModuleSource::Json("null".to_owned()));
        assert_eq!(shown(modules.clone()), expected);
        modules.insert(super::INPUT_MODULE.to_owned(), ModuleSource::Json("{\"to\":\"ada\"}".to_owned()));
        let mut expected = expected;
        expected["input"] = json!({ "to": "ada" });
        assert_eq!(shown(modules), expected);
    }
}
