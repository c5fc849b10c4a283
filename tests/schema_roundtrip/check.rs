//! Round-trip check of every function of a module.

use super::exchange::{Arrival, Attempt, Exchange, Outcome};
use super::faults::{self, Fault, broken};
use super::random::Random;
use super::statistics::Statistics;
use super::{setting, values};
use capability_gen::model::{Function, Module};
use capability_gen::validate::Validator;
use serde_json::Value;

const NO_VALUE: &str = "skipped: functions whose parameters no valid value was found for";
const NO_ANSWER: &str = "skipped: functions whose result no valid value was found for";
const NO_FAULT: &str = "skipped: valid values beside which no invalid one was found";

/// Expected outcome of an attempt.
enum Expectation {
    /// These parameters reach the provider.
    Arrives(Value),
    Refused(Fault),
}

struct Case<'m> {
    function: &'m Function,
    attempt: Attempt,
    expectation: Expectation,
}

/// Numbers by what they are, members in any order.
pub(super) fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => left == right || left.as_f64() == right.as_f64(),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            let is_same = |(name, left): (&String, &Value)| right.get(name).is_some_and(|right| same(left, right));
            left.len() == right.len() && left.iter().all(is_same)
        }
        (left, right) => left == right,
    }
}

/// The answers that a function's provider is to give, each of them valid.
fn answers(function: &Function, count: u64, random: &mut Random, statistics: &mut Statistics) -> Vec<Value> {
    let Some(schema) = &function.result_schema else {
        return (0..count).map(|_| values::anything(random)).collect();
    };
    let Ok(validator) = Validator::new(schema) else {
        statistics.fail(&function.place.to_string(), "its result's schema cannot be used");
        return Vec::new();
    };
    let answers: Vec<Value> = (0..count).filter_map(|_| values::valid(schema, &validator, true, random)).collect();
    if answers.is_empty() {
        statistics.count(NO_ANSWER, 1);
    }
    answers
}

fn attempts<'m>(function: &'m Function, count: u64, random: &mut Random, statistics: &mut Statistics) -> Vec<Case<'m>> {
    let schema = &function.params_schema;
    let Ok(validator) = Validator::new(schema) else {
        statistics.fail(&function.place.to_string(), "its parameters' schema cannot be used");
        return Vec::new();
    };
    let mut tried = Vec::new();
    let mut add = |value: Value, expectation| {
        let attempt = Attempt { function: function.js_name.clone(), value };
        tried.push(Case { function, attempt, expectation });
    };
    for _ in 0..count {
        let Some(value) = values::valid(schema, &validator, false, random) else {
            statistics.count(NO_VALUE, 1);
            break;
        };
        match broken(&value, &validator, random) {
            Some(fault) => add(fault.value.clone(), Expectation::Refused(fault)),
            None => statistics.count(NO_FAULT, 1),
        }
        let mut filled = value.clone();
        validator.apply_defaults(&mut filled);
        add(value, Expectation::Arrives(filled));
    }
    tried
}

/// Checks the round trip of every function of a module.
pub(super) async fn check_module(name: &str, module: Module, count: u64, statistics: &mut Statistics) {
    let exchange = match Exchange::new(module.clone()) {
        Ok(exchange) => exchange,
        Err(error) => return statistics.fail(name, &error),
    };
    statistics.count("servers", 1);
    for skipped in [NO_VALUE, NO_ANSWER, NO_FAULT] {
        statistics.count(skipped, 0);
    }
    let mut random = Random::new(setting("AGENT_SPACES_LAW_SEED", 1), name);
    let mut tried = Vec::new();
    for function in module.capabilities.iter().flat_map(|capability| &capability.functions) {
        statistics.count("functions", 1);
        let answers = answers(function, count, &mut random, statistics);
        exchange.answer_with(&function.name, answers);
        tried.extend(attempts(function, count, &mut random, statistics));
    }
    let calls: Vec<Attempt> = tried.iter().map(|tried| tried.attempt.clone()).collect();
    let outcomes = exchange.make(&calls).await;
    assert_eq!(outcomes.len(), calls.len(), "{name}: one outcome per call");
    for (tried, outcome) in tried.iter().zip(outcomes) {
        judge(name, tried, &outcome, statistics);
    }
}

fn judge(name: &str, tried: &Case<'_>, outcome: &Outcome, statistics: &mut Statistics) {
    let function = tried.function;
    let has_answers = |arrival: &Arrival| !(arrival.answer.is_null() && function.result_schema.is_some());
    let problem = match (&tried.expectation, outcome) {
        (Expectation::Arrives(expected), Outcome::Answered(arrival, seen)) => {
            statistics.count("values passed to a provider", 1);
            let is_seen = seen.as_ref().is_some_and(|seen| same(&arrival.answer, seen));
            if arrival.source_name != function.name {
                Some(format!("another function was called: {}", arrival.source_name))
            } else if !same(expected, &arrival.params) {
                Some(format!("arrived changed: {}", arrival.params))
            } else if !is_seen {
                let schema = function.result_schema.as_ref().unwrap_or(&Value::Null);
                let seen = seen.as_ref().map(Value::to_string);
                Some(format!("the answer came back changed: {} as {seen:?}; result schema {schema}", arrival.answer))
            } else {
                statistics.count("answers passed back", 1);
                None
            }
        }
        (Expectation::Arrives(expected), Outcome::Failed(arrival, message)) => {
            if !same(expected, &arrival.params) {
                Some(format!("arrived changed: {}", arrival.params))
            } else if !has_answers(arrival) {
                statistics.count("values passed to a provider", 1);
                None
            } else {
                let schema = function.result_schema.as_ref().unwrap_or(&Value::Null);
                Some(format!("the answer failed: {message}: {}; result schema {schema}", arrival.answer))
            }
        }
        (Expectation::Arrives(_), Outcome::Refused { code, message, .. }) => {
            Some(format!("refused though valid: {code}: {message}"))
        }
        (_, Outcome::Ended(message)) => Some(format!("ended the run: {message}")),
        (Expectation::Refused(fault), Outcome::Refused { code, message, paths }) if code == "call.invalid" => {
            match fault.naming(&function.params_schema, paths) {
                Some(naming) => {
                    statistics.count(format!("values refused; path named: {naming:?}"), 1);
                    None
                }
                None => Some(format!(
                    "refused, and {:?} at {} is not among {paths:?}: {message}",
                    fault.kind,
                    faults::render(&fault.path)[0]
                )),
            }
        }
        (Expectation::Refused(fault), other) => Some(format!(
            "{:?} at {}: expected call.invalid, got {other:?}",
            fault.kind,
            faults::render(&fault.path)[0]
        )),
    };
    if let Some(problem) = problem {
        let (value, schema) = (&tried.attempt.value, &function.params_schema);
        let problem = format!("{problem}\n  value  {value}\n  schema {schema}");
        statistics.fail(&format!("{name} {}", function.name), &problem);
    }
}
