//! Check of a program before it runs: its syntax, its imports, its types, and what it can reach.
//!
//! - `diagnostic`: mistakes in responses; `manifest`: functions that the program can call

mod diagnostic;
mod manifest;

use crate::body::JsonBody;
use crate::limits::RunLimits;
use crate::path::Path;
use crate::problem::Problem;
use crate::query::NoQuery;
use crate::runs::{check_run_name, file_name};
use crate::service::Service;
use crate::source::Assembled;
use crate::who::Who;
use agent_spaces_sandbox::error::PrepareError;
use agent_spaces_sandbox::program::Program;
use agent_spaces_serve::check::{Checked, Unavailable};
use agent_spaces_serve::program_check::check_program;
use agent_spaces_serve::{Card, Catalogue};
use axum::Json;
use axum::extract::State;
use diagnostic::{DiagnosticView, all};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) fn router() -> OpenApiRouter<Service> {
    OpenApiRouter::new().routes(routes!(check))
}

/// Program to check.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = NewCheck)]
pub(crate) struct CheckRequest {
    /// TypeScript or JavaScript module.
    source: String,
    /// Name of the run, as it would be started.
    #[serde(default, deserialize_with = "crate::body::given")]
    #[schema(min_length = 1, max_length = 100)]
    name: Option<String>,
}

/// Findings about a program.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Check)]
pub(crate) struct CheckView {
    /// Mistakes: those that refuse the program first, then misuse of capabilities, then warnings.
    diagnostics: Vec<DiagnosticView>,
    /// Mistakes that were left out.
    more: usize,
    /// Result of the type check.
    types: TypesView,
    /// Functions that the program can call, as `agent-spaces manifest --json` shows them; missing if it cannot run. Only
    /// the operator sees rules, providers and folders.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    manifest: Option<Value>,
}

/// Result of the type check.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = CheckedTypes)]
pub(crate) struct TypesView {
    /// True if a TypeScript compiler checked them. Otherwise only names of functions were checked.
    checked: bool,
    /// Reason why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

impl CheckView {
    /// A program that is refused.
    fn refused(diagnostic: DiagnosticView) -> CheckView {
        let reason = Some("the program cannot run".to_owned());
        CheckView {
            diagnostics: vec![diagnostic],
            more: 0,
            types: TypesView { checked: false, reason },
            manifest: None,
        }
    }
}

/// Check a program
///
/// Reports what is wrong with a program before it runs, and what it can reach. It is not executed, and nothing is stored.
#[utoipa::path(
    post, path = "/v1/spaces/{space}/check", tag = "spaces", operation_id = "checkProgram",
    params(("space" = String, Path, description = "Id of the space")),
    request_body = CheckRequest,
    responses((status = 200, description = "Findings", body = CheckView)),
)]
async fn check(
    State(service): State<Service>,
    who: Who,
    _: NoQuery,
    Path(space): Path<String>,
    JsonBody(request): JsonBody<CheckRequest>,
) -> Result<Json<CheckView>, Problem> {
    let space = service.space(&who, &space).await?;
    check_run_name(request.name.as_deref())?;
    let assembled = service.assembled(&space).await?;
    let limits = space.limits().within(&assembled.limits, assembled.longest)?;
    let permit = service.turn(&who).await?;
    let (making, name, text) = (assembled.clone(), file_name(request.name.as_deref(), None), request.source.clone());
    let prepared = service.compute(&who, move || {
        let program = making.space.prepare(&name, &text);
        let catalogue = making.functions.catalogue().map_err(|error| Problem::internal(&error));
        // The permit goes through here: a client that disconnects does not end this.
        (program, catalogue, permit)
    });
    let (prepared, catalogue, _permit) = prepared.await?;
    let redactor = assembled.space.redactor();
    let program = match prepared {
        Ok(program) => program.seen_by(who.0.caller()),
        Err(PrepareError::Script(error)) => {
            return Ok(Json(CheckView::refused(DiagnosticView::of_script(error, redactor))));
        }
        Err(PrepareError::Host(error)) => return Err(Problem::internal(&error)),
    };
    let refusal = program.source().and_then(|source| source.refused_import(&program, who.0.caller()));
    if let Some(error) = refusal {
        return Ok(Json(CheckView::refused(DiagnosticView::of_run(error, redactor))));
    }
    let (checked, types) = checked(&service, &who, &assembled, &catalogue?, &program, &request.source).await;
    let (diagnostics, more) = all(&program, checked.findings, redactor);
    let manifest = manifest::shown(&assembled, &program, &RunLimits::of(&limits), who.is_operator());
    Ok(Json(CheckView { diagnostics, more, types, manifest: Some(manifest) }))
}

/// Checks the types of a program, or else its names.
async fn checked(
    service: &Service,
    who: &Who,
    assembled: &Arc<Assembled>,
    catalogue: &Arc<Catalogue>,
    program: &Program,
    source: &str,
) -> (Checked, TypesView) {
    let unchecked = |reason: String| TypesView { checked: false, reason: Some(reason) };
    let Some(checker) = service.0.source.checker().filter(|checker| !checker.is_off()) else {
        return (Checked::default(), unchecked("the server does not check types".to_owned()));
    };
    let _turn = service.0.callers.check_permit(who.owner()).await;
    let (space, caller) = (assembled.clone(), who.0.caller().clone());
    let is_visible = move |card: &Card| space.space.is_open(&card.known(), &caller);
    let checked = check_program(&checker, catalogue, is_visible, who.0.caller(), program, source).await;
    let types = match &checked.unavailable {
        None => TypesView { checked: true, reason: None },
        Some(unavailable) => unchecked(reason(unavailable, who.is_operator())),
    };
    (checked, types)
}

/// Returns the reason why types were not checked. Paths and programs of the machine are for the operator.
fn reason(unavailable: &Unavailable, is_operator: bool) -> String {
    match unavailable {
        Unavailable::TooLarge { .. } | Unavailable::TooSlow { .. } | Unavailable::Unread => unavailable.to_string(),
        _ if is_operator => unavailable.to_string(),
        _ => "the server has no TypeScript compiler that works: ask the operator".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::reason;
    use agent_spaces_serve::check::Unavailable;

    #[test]
    fn callers_do_not_learn_where_the_compiler_is() {
        let missing = Unavailable::NotAProgram("/home/ann/bin/tsc".into());
        assert!(reason(&missing, true).contains("/home/ann"));
        assert!(!reason(&missing, false).contains("/home/ann"));
        assert_eq!(reason(&Unavailable::Unread, false), Unavailable::Unread.to_string());
    }
}
