//! Explanation of the policy's decision about a function.
//!
//! - `lack`: files and network that a function needs and the space lacks

mod lack;

use crate::body::JsonBody;
use crate::path::Path;
use crate::policy_decision::PolicyDecision;
use crate::problem::Problem;
use crate::query::NoQuery;
use crate::service::Service;
use crate::source::Assembled;
use crate::who::Who;
use agent_spaces_policy::{Decision, Explained, Explanation, FunctionId};
use agent_spaces_serve::Card;
use agent_spaces_types::code::Code;
use agent_spaces_types::shown::Shown;
use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// Longest name of a function, in characters.
const MAX_NAME: usize = 1_000;

/// Maximum length of a text of several lines, and of one, in characters.
const MAX_TEXT: usize = 64 << 10;
const MAX_LINE: usize = 2_000;

/// Place of conditions that a definition makes, which its callers may read anyway.
const OF_DEFINITION: &str = "the definition of ";

pub(crate) fn router() -> OpenApiRouter<Service> {
    OpenApiRouter::new().routes(routes!(explain))
}

/// Function to explain, or one call of it.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = NewExplanation)]
pub(crate) struct ExplainRequest {
    /// Name, as programs write it (`bank.pay`), or id.
    #[schema(min_length = 1, max_length = 1000)]
    function: String,
    /// Parameters of a call, to check them too.
    #[serde(default, deserialize_with = "crate::body::given")]
    #[schema(value_type = Option<Object>)]
    params: Option<Map<String, Value>>,
}

/// Decision of the policy about a function, or about one call of it.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Explanation)]
pub(crate) struct ExplanationView {
    /// Name, as programs write it.
    function: String,
    /// Id.
    function_id: String,
    /// Decision, with all conditions that can be checked without a call.
    decision: PolicyDecision,
    /// Explanation for people.
    text: String,
    /// Rule that decides. Only the operator sees it.
    #[serde(skip_serializing_if = "Option::is_none")]
    because: Option<String>,
    /// Other conditions. Those of the policy are for the operator.
    rules: Vec<ExplainedRule>,
}

/// Condition on calls of a function.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExplainedRule {
    /// Condition, in words.
    text: String,
    /// Its place in the configuration, or in the definition.
    place: String,
    /// True if the call passes it; missing if that is known only when it is made.
    #[serde(skip_serializing_if = "Option::is_none")]
    passes: Option<bool>,
    /// Reason for which it does not pass.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

impl ExplainedRule {
    fn of(rule: &Explained) -> ExplainedRule {
        let Explained { text, place, passes, why } = rule;
        ExplainedRule { text: line(text), place: line(place), passes: *passes, why: why.as_deref().map(line) }
    }
}

impl ExplanationView {
    /// Shows an explanation. Rules of the policy are for the operator: they say how it could be got around.
    fn of(explanation: &Explanation, is_operator: bool) -> ExplanationView {
        let decision = PolicyDecision::from(explanation.outcome);
        let is_told = |place: &str| place.starts_with(OF_DEFINITION) || lack::is_place(place);
        let is_shown = |rule: &&Explained| is_operator || is_told(&rule.place);
        let rules: Vec<ExplainedRule> = explanation.checks.iter().filter(is_shown).map(ExplainedRule::of).collect();
        let text = match is_operator {
            true => Shown::text(&explanation.to_string(), MAX_TEXT).to_string(),
            false => told(&line(&explanation.function), decision, &rules),
        };
        ExplanationView {
            function: line(&explanation.function),
            function_id: explanation.function_id.to_string(),
            decision,
            text,
            because: is_operator.then(|| line(&explanation.because.to_string())),
            rules,
        }
    }
}

/// Explains a decision to a caller.
fn told(function: &str, decision: PolicyDecision, rules: &[ExplainedRule]) -> String {
    let how = match decision {
        PolicyDecision::Allow => "is allowed",
        PolicyDecision::Approval => "waits for a person to approve it",
        PolicyDecision::Deny => "is refused",
    };
    let mut text = format!("A call of {function} {how}");
    for rule in rules.iter().filter(|rule| rule.passes == Some(false)) {
        text.push_str(&format!("\n  fails: {}", rule.text));
        rule.why.iter().for_each(|why| text.push_str(&format!(": {why}")));
    }
    text
}

/// Sanitizes untrusted text and keeps it on one line.
fn line(text: &str) -> String {
    Shown::line(text, MAX_LINE).to_string()
}

/// Explain the decision about a function
///
/// Decision of the space's policy about calls of a function; with `params`, about that call, whose parameters are
/// checked too. Functions of `fs` and `http` are denied if the space lacks the files or the network that they need. No
/// call is made, and nothing is counted.
#[utoipa::path(
    post, path = "/v1/spaces/{space}/explain", tag = "spaces", operation_id = "explainFunction",
    params(("space" = String, Path, description = "Id of the space")),
    request_body = ExplainRequest,
    responses((status = 200, description = "The decision", body = ExplanationView)),
)]
async fn explain(
    State(service): State<Service>,
    who: Who,
    _: NoQuery,
    Path(space): Path<String>,
    JsonBody(request): JsonBody<ExplainRequest>,
) -> Result<Json<ExplanationView>, Problem> {
    let space = service.space(&who, &space).await?;
    if !(1..=MAX_NAME).contains(&request.function.chars().count()) {
        return Err(Problem::invalid("/function", format!("expected 1 to {MAX_NAME} characters")));
    }
    let assembled = service.assembled(&space).await?;
    let permit = service.turn(&who).await?;
    let caller = who.clone();
    let explained = service.compute(&caller, move || {
        // Held here: a client that disconnects does not end this.
        let _permit = permit;
        let function = identify(&assembled, &who, &request.function)?;
        let params = request.params.map(Value::Object);
        let explained = assembled.space.explain(&function, params);
        let mut explanation = explained.map_err(|error| match error.code == Code::CallDenied {
            true => Problem::not_found("function"),
            false => Problem::internal(&error.message),
        })?;
        let policy = assembled.reach.policy();
        let files = assembled.files.as_ref().map(|_| *policy.files());
        if let Some(lack) = lack::of(&function, files, policy.network()) {
            explanation.outcome = Decision::Deny;
            explanation.checks.push(lack);
        }
        let redactor = assembled.space.redactor();
        for rule in &mut explanation.checks {
            rule.why.iter_mut().for_each(|why| *why = redactor.text(why).into_owned());
        }
        Ok(Json(ExplanationView::of(&explanation, who.is_operator())))
    });
    explained.await?
}

/// Finds a function by its name or id, among those that the caller may call. The operator finds all. Blocks while the
/// catalogue is made.
fn identify(assembled: &Assembled, who: &Who, name: &str) -> Result<FunctionId, Problem> {
    let catalogue = assembled.functions.catalogue().map_err(|error| Problem::internal(&error))?;
    let is_visible = |card: &Card| who.is_operator() || assembled.space.is_open(&card.known(), who.0.caller());
    let is_meant = |card: &Card| card.label == name || card.id.to_string() == name;
    let mut meant = catalogue.cards(|card| is_meant(card) && is_visible(card)).map(|card| &card.id);
    match (meant.next(), meant.next()) {
        (Some(_), Some(_)) => {
            Err(Problem::invalid("/function", "more than one function has this name: give the id of one"))
        }
        (Some(id), None) => Ok(id.clone()),
        // Definitions that nobody accepted are not in the catalogue.
        (None, _) if who.is_operator() => assembled.space.identify(name).map_err(|_| Problem::not_found("function")),
        (None, _) => Err(Problem::not_found("function")),
    }
}

#[cfg(test)]
mod tests {
    use super::{ExplanationView, lack};
    use agent_spaces_policy::{Because, Decision, Explained, Explanation, FunctionId, NetworkPolicy};
    use serde_json::json;

    fn explanation() -> Explanation {
        let check = |text: &str, place: &str, passes: Option<bool>, why: Option<&str>| Explained {
            text: text.to_owned(),
            place: place.to_owned(),
            passes,
            why: why.map(str::to_owned),
        };
        Explanation {
            function: "bank.pay".to_owned(),
            function_id: FunctionId::new("capabilities:bank/bank@1.0.0", "pay"),
            outcome: Decision::Deny,
            decision: Decision::Approve,
            because: Because::Rule { place: "$.policy.functions[\"bank.*\"]".to_owned() },
            checks: vec![
                check(
                    "the parameters must fit their schema",
                    "the definition of bank.pay",
                    Some(false),
                    Some("no `to`"),
                ),
                check("the argument `amount` is at most 5", "$.policy.functions", Some(true), None),
            ],
            made: Vec::new(),
        }
    }

    #[test]
    fn the_operator_sees_the_rules() {
        let shown = serde_json::to_value(ExplanationView::of(&explanation(), true)).unwrap();
        assert_eq!((&shown["decision"], &shown["function"]), (&json!("deny"), &json!("bank.pay")), "{shown}");
        assert_eq!(shown["because"], "$.policy.functions[\"bank.*\"]");
        assert_eq!(shown["rules"].as_array().unwrap().len(), 2, "{shown}");
        assert!(shown["text"].as_str().unwrap().contains("so the outcome is deny"), "{shown}");
    }

    #[test]
    fn a_caller_learns_the_decision_and_the_faults_of_its_parameters_alone() {
        let shown = serde_json::to_value(ExplanationView::of(&explanation(), false)).unwrap();
        assert_eq!(shown["decision"], "deny");
        assert!(!shown.to_string().contains("policy") && shown.get("because").is_none(), "{shown}");
        let expected = "A call of bank.pay is refused\n  fails: the parameters must fit their schema: no `to`";
        assert_eq!(shown["text"], expected);
    }

    #[test]
    fn a_caller_is_told_what_the_space_lacks() {
        let get = FunctionId::new("agent-spaces:std/http@1.0.0", "get");
        let checks: Vec<Explained> = lack::of(&get, None, &NetworkPolicy::default()).into_iter().collect();
        let shown = serde_json::to_value(ExplanationView::of(&Explanation { checks, ..explanation() }, false)).unwrap();
        assert_eq!(shown["rules"][0]["place"], "the network of the space", "{shown}");
        assert!(shown["text"].as_str().unwrap().ends_with("fails: programs must have a network"), "{shown}");
    }
}
