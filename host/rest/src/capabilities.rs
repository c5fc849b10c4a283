//! Capabilities of a space: modules that its programs can import, with schemas and declarations.

use crate::pages::{Page, PageRequest};
use crate::path::Path;
use crate::policy_decision::PolicyDecision;
use crate::problem::Problem;
use crate::query::{Query, RawQuery};
use crate::service::Service;
use crate::source::Assembled;
use crate::spaces::SpaceRecord;
use crate::who::Who;
use agent_spaces_serve::{Card, Catalogue, FunctionDetails};
use agent_spaces_types::caller::Caller;
use axum::Json;
use axum::extract::State;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// Default and maximum number of search results.
const DEFAULT_FOUND: usize = 10;
const MAX_FOUND: usize = 50;

/// Longest search text, in characters.
const MAX_QUERY: usize = 1_000;

pub(crate) fn router() -> OpenApiRouter<Service> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(search)).routes(routes!(get))
}

/// Capability, with the functions that the caller may call.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Capability)]
pub(crate) struct CapabilityView {
    /// Name that programs import: `trainSchedule`.
    name: String,
    /// Module that exports it: `@capabilities/train-schedule`.
    module: String,
    /// Entry of `capabilities` that gives a space this module: `mcp:slack`, `@capabilities/train-schedule`. `capabilities`
    /// of the space has it too.
    #[serde(skip_serializing_if = "Option::is_none")]
    entry: Option<String>,
    /// Functions.
    functions: Vec<FunctionView>,
    /// TypeScript declarations of its module; missing in lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    declarations: Option<String>,
    /// WIT of its module; missing in lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    wit: Option<String>,
}

/// Function of a capability.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Function)]
pub(crate) struct FunctionView {
    /// Name, as programs write it: `trainSchedule.getSchedule`.
    name: String,
    /// Id: `capabilities:train-schedule/train-schedule@1.0.0#get-schedule`.
    id: String,
    /// Module that it is imported from.
    module: String,
    /// TypeScript signature.
    signature: String,
    /// Description; text of whoever wrote the capability.
    description: String,
    /// JSON Schema of the parameters object; missing in lists, and if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Value>)]
    parameters: Option<Value>,
    /// JSON Schema of the result; missing in lists, and if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Value>)]
    returns: Option<Value>,
    /// Hints about its effects; missing in lists, and if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    annotations: Option<AnnotationsView>,
    /// Decision of the policy about its calls, before their arguments are known; missing in lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<PolicyDecision>,
}

/// Hints about the effects of a function, by whoever wrote it: nobody verifies them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Annotations)]
pub(crate) struct AnnotationsView {
    /// It changes nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    read_only_hint: Option<bool>,
    /// It may delete or overwrite something.
    #[serde(skip_serializing_if = "Option::is_none")]
    destructive_hint: Option<bool>,
    /// Calling it twice has the same effect as calling it once.
    #[serde(skip_serializing_if = "Option::is_none")]
    idempotent_hint: Option<bool>,
    /// It reaches things outside its server.
    #[serde(skip_serializing_if = "Option::is_none")]
    open_world_hint: Option<bool>,
}

impl AnnotationsView {
    /// Returns the hints of a function; `None` if it has none.
    fn of(details: &FunctionDetails) -> Option<AnnotationsView> {
        let hints = &details.annotations;
        let view = AnnotationsView {
            read_only_hint: hints.read_only_hint,
            destructive_hint: hints.destructive_hint,
            idempotent_hint: hints.idempotent_hint,
            open_world_hint: hints.open_world_hint,
        };
        Some(view).filter(|view| *view != AnnotationsView::default())
    }
}

/// Functions that a search found.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct FoundFunctions {
    /// Functions, best first.
    items: Vec<FunctionView>,
}

impl FunctionView {
    fn of(card: &Card) -> FunctionView {
        FunctionView {
            name: card.label.clone(),
            id: card.id.to_string(),
            module: card.module.clone(),
            signature: card.signature.clone(),
            description: card.summary(),
            parameters: None,
            returns: None,
            annotations: None,
            decision: None,
        }
    }

    /// Adds what lists leave out.
    fn complete(&mut self, details: Option<FunctionDetails>, decision: Option<PolicyDecision>) {
        self.decision = decision;
        if let Some(details) = details {
            self.annotations = AnnotationsView::of(&details);
            self.parameters = Some(details.parameters);
            self.returns = details.returns;
        }
    }
}

/// List capabilities
///
/// Those that programs of the space can import, with the functions that the caller may call.
#[utoipa::path(
    get, path = "/v1/capabilities", tag = "capabilities", operation_id = "listCapabilities",
    params(
        ("space" = Option<String>, Query, description = "Id of the space; by default the caller's first one"),
        ("limit" = Option<u32>, Query, description = "Maximum number of items", minimum = 1, maximum = 100),
        ("cursor" = Option<String>, Query, description = "`next` of the page before"),
    ),
    responses((status = 200, description = "One page", body = Page<CapabilityView>)),
)]
async fn list(
    State(service): State<Service>,
    who: Who,
    query: RawQuery,
) -> Result<Json<Page<CapabilityView>>, Problem> {
    let query = query.with(&["space", "limit", "cursor"])?;
    let request: PageRequest<(String, String)> = PageRequest::read(&query)?;
    let known = known(&service, &who, &query).await?;
    let all = capabilities(&known, who.0.caller());
    let rest = all.into_iter().filter(|(key, _)| request.after.as_ref().is_none_or(|after| key > after));
    let items: Vec<_> = rest.take(request.read_limit()).collect();
    Ok(Json(request.page(items, |(key, _)| key.clone(), |(_, view)| view)))
}

/// Get a capability
///
/// With the TypeScript declarations and the WIT of its module, and with the schemas of its functions and what the policy
/// decides about their calls.
#[utoipa::path(
    get, path = "/v1/capabilities/{name}", tag = "capabilities", operation_id = "getCapability",
    params(
        ("name" = String, Path, description = "Name of the capability"),
        ("space" = Option<String>, Query, description = "Id of the space; by default the caller's first one"),
    ),
    responses((status = 200, description = "The capability", body = CapabilityView)),
)]
async fn get(
    State(service): State<Service>,
    who: Who,
    Path(name): Path<String>,
    query: RawQuery,
) -> Result<Json<CapabilityView>, Problem> {
    let query = query.with(&["space"])?;
    let known = known(&service, &who, &query).await?;
    let caller = who.0.caller().clone();
    let described = service.compute(&who, move || {
        let found = capabilities(&known, &caller).into_values().find(|view| view.name == name);
        let mut view = found.ok_or_else(|| Problem::not_found("capability"))?;
        let is_visible = |card: &Card| known.assembled.space.is_open(&card.known(), &caller);
        let failed = |error: agent_spaces_project::ProjectError| Problem::internal(&error);
        view.declarations = known.catalogue.declarations(&view.module, is_visible).map_err(failed)?;
        view.wit = known.catalogue.wit(&view.module, is_visible).map_err(failed)?;
        let mut details = known.catalogue.details(&view.module, is_visible).map_err(failed)?;
        let cards = known.catalogue.cards(|card| card.module == view.module && is_visible(card));
        let mut decisions: BTreeMap<String, PolicyDecision> = cards
            .map(|card| (card.id.to_string(), PolicyDecision::from(known.assembled.space.decision(&card.known()))))
            .collect();
        for function in &mut view.functions {
            function.complete(details.remove(&function.name), decisions.remove(&function.id));
        }
        Ok(Json(view))
    });
    described.await?
}

/// Search for functions
#[utoipa::path(
    get, path = "/v1/capabilities/search", tag = "capabilities", operation_id = "searchCapabilities",
    params(
        ("q" = String, Query, description = "Words that describe what is needed", min_length = 1, max_length = 1000),
        ("space" = Option<String>, Query, description = "Id of the space; by default the caller's first one"),
        ("limit" = Option<u32>, Query, description = "Maximum number of items", minimum = 1, maximum = 50),
    ),
    responses((status = 200, description = "Functions, best first", body = FoundFunctions)),
)]
async fn search(State(service): State<Service>, who: Who, query: RawQuery) -> Result<Json<FoundFunctions>, Problem> {
    let query = query.with(&["q", "space", "limit"])?;
    let limit = query.count("limit", 1, MAX_FOUND)?.unwrap_or(DEFAULT_FOUND);
    let words = query.text("q")?.filter(|text| (1..=MAX_QUERY).contains(&text.chars().count()));
    let words =
        words.ok_or_else(|| Problem::parameter("q", format!("expected 1 to {MAX_QUERY} characters")))?.to_owned();
    let known = known(&service, &who, &query).await?;
    let caller = who.0.caller().clone();
    let found = service.compute(&who, move || {
        let is_visible = |card: &Card| known.assembled.space.is_open(&card.known(), &caller);
        let found = known.catalogue.search(&words, limit, is_visible);
        found.into_iter().map(FunctionView::of).collect()
    });
    Ok(Json(FoundFunctions { items: found.await? }))
}

/// A space with the catalogue of its functions.
struct Known {
    assembled: Arc<Assembled>,
    catalogue: Arc<Catalogue>,
    /// Entries of the configuration, by module.
    entries: Arc<BTreeMap<String, String>>,
}

/// Returns the space that a request is about.
async fn known(service: &Service, who: &Who, query: &Query) -> Result<Known, Problem> {
    let space: SpaceRecord = match query.text("space")? {
        Some(id) => service.space(who, id).await?,
        None => {
            let first = service.configured(who.0.caller()).into_iter().next();
            first.ok_or_else(|| Problem::not_found("space"))?
        }
    };
    let assembled = service.assembled(&space).await?;
    let made = service.compute(who, move || {
        let catalogue = assembled.functions.catalogue().map_err(|error| Problem::internal(&error))?;
        let entries = assembled.functions.entries().map_err(|error| Problem::internal(&error))?;
        Ok(Known { catalogue, entries, assembled })
    });
    made.await?
}

/// Returns the capabilities that a caller may see, by module and name.
fn capabilities(known: &Known, caller: &Caller) -> BTreeMap<(String, String), CapabilityView> {
    let mut all: BTreeMap<(String, String), CapabilityView> = BTreeMap::new();
    let is_visible = |card: &Card| known.assembled.space.is_open(&card.known(), caller);
    for card in known.catalogue.cards(is_visible) {
        let new = |(module, name): &(String, String)| CapabilityView {
            name: name.clone(),
            module: module.clone(),
            entry: known.entries.get(module).cloned(),
            functions: Vec::new(),
            declarations: None,
            wit: None,
        };
        let key = (card.module.clone(), card.export().to_owned());
        all.entry(key).or_insert_with_key(new).functions.push(FunctionView::of(card));
    }
    all
}
