//! Module in its own space, with a provider that records its arguments.

use agent_spaces::{Handlers, Interfaces, Limits, Package, RunOptions, Space};
use agent_spaces_tests::engine;
use capability_gen::model::Module;
use serde_json::{Value, json};
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Bytes of values that one script passes.
const BATCH_BYTES: usize = 200_000;
/// Calls of one script.
const BATCH_CALLS: usize = 400;

pub(super) struct Exchange {
    space: Space,
    specifier: String,
    export: String,
    is_single_function: bool,
    provider: Arc<Mutex<Provider>>,
}

#[derive(Default)]
struct Provider {
    /// By the function's own name; used in turn.
    answers: HashMap<String, VecDeque<Value>>,
    arrivals: Vec<Arrival>,
}

/// A call that reached the provider.
#[derive(Clone, Debug)]
pub(super) struct Arrival {
    pub(super) source_name: String,
    pub(super) params: Value,
    pub(super) answer: Value,
}

/// A call that the script is to make.
#[derive(Clone, Debug)]
pub(super) struct Attempt {
    /// The JavaScript name.
    pub(super) function: String,
    pub(super) value: Value,
}

/// Outcome of an attempt.
#[derive(Clone, Debug)]
pub(super) enum Outcome {
    /// The provider's arguments and answer, and the JSON of what the script saw.
    Answered(Arrival, Option<Value>),
    /// Refused before the provider heard of it.
    Refused { code: String, message: String, paths: Vec<String> },
    /// The provider heard of it, and the script caught an error.
    Failed(Arrival, String),
    /// The whole run ended.
    Ended(String),
}

impl Exchange {
    pub(super) fn new(module: Module) -> Result<Exchange, String> {
        let capability = &module.capabilities[0];
        let (export, is_single_function) = (capability.export.clone(), capability.is_single_function);
        let specifier = module.specifier.clone();
        let mut interfaces = Interfaces::new().map_err(|error| error.to_string())?;
        interfaces.add_package(Package::new(module)).map_err(|error| error.to_string())?;
        let provider = Arc::new(Mutex::new(Provider::default()));
        let mut handlers = Handlers::new();
        for name in interfaces.names() {
            let provider = provider.clone();
            handlers.add_interface(name, move |call| {
                let answer = provider.lock().unwrap().take(&call.source_name, call.params);
                async move { Ok(answer) }
            });
        }
        let space =
            Space::builder(&engine()).interfaces(interfaces, handlers).build().map_err(|error| error.to_string())?;
        Ok(Exchange { space, specifier, export, is_single_function, provider })
    }

    pub(super) fn answer_with(&self, source_name: &str, answers: Vec<Value>) {
        self.provider.lock().unwrap().answers.insert(source_name.to_owned(), answers.into());
    }

    /// Makes all calls, some of them in one run; what came of each.
    pub(super) async fn make(&self, attempts: &[Attempt]) -> Vec<Outcome> {
        let mut outcomes = Vec::new();
        let mut rest = attempts;
        while !rest.is_empty() {
            let (mut count, mut bytes) = (0, 0);
            while count < rest.len() && count < BATCH_CALLS && bytes < BATCH_BYTES {
                bytes += rest[count].value.to_string().len();
                count += 1;
            }
            let (batch, later) = rest.split_at(count);
            outcomes.extend(Box::pin(self.batch(batch)).await);
            rest = later;
        }
        outcomes
    }

    async fn batch(&self, attempts: &[Attempt]) -> Vec<Outcome> {
        let calls: Vec<Value> = attempts.iter().map(|attempt| json!([attempt.function, attempt.value])).collect();
        let calls = Value::from(Value::from(calls).to_string());
        match self.run(&format!("JSON.parse({calls})")).await {
            Ok(outcomes) => outcomes,
            Err(message) if attempts.len() < 2 => attempts.iter().map(|_| Outcome::Ended(message.clone())).collect(),
            // Which of them ends the run?
            Err(_) => {
                let (first, second) = attempts.split_at(attempts.len() / 2);
                let mut outcomes = Box::pin(self.batch(first)).await;
                outcomes.extend(Box::pin(self.batch(second)).await);
                outcomes
            }
        }
    }

    /// Makes the calls of a JavaScript expression, an array of `[function, value]`, in one run.
    pub(super) async fn run(&self, calls: &str) -> Result<Vec<Outcome>, String> {
        self.provider.lock().unwrap().arrivals.clear();
        let (export, specifier) = (&self.export, &self.specifier);
        let function = if self.is_single_function { export.clone() } else { format!("{export}[name]") };
        let script = format!(
            "import {{ {export} }} from '{specifier}';
            const seen = [];
            for (const [name, value] of {calls}) {{
                try {{
                    seen.push({{ json: JSON.stringify(await {function}(value)) }});
                }} catch (error) {{
                    const paths = error.details?.issues?.map(issue => issue.path);
                    seen.push({{ code: error.code ?? 'thrown', message: String(error.message), paths }});
                }}
            }}
            return seen"
        );
        let program = self.space.prepare("script.ts", &script).map_err(|error| format!("prepare: {error}"))?;
        let limits = Limits {
            fuel: 1 << 40,
            time: Duration::from_secs(60),
            calls: 1 << 20,
            result: 64 << 20,
            memory: 256 << 20,
            ..Limits::default()
        };
        let report = program.run(RunOptions { limits: Some(limits), ..RunOptions::default() }).await;
        let seen = report.outcome.map_err(|error| format!("run: {}: {}", error.code, error.message))?;
        let arrivals = std::mem::take(&mut self.provider.lock().unwrap().arrivals);
        read(seen.as_array().map_or(&[], Vec::as_slice), arrivals)
    }
}

impl Provider {
    fn take(&mut self, source_name: &str, params: Value) -> Value {
        let answers = self.answers.entry(source_name.to_owned()).or_default();
        let answer = answers.pop_front().unwrap_or_default();
        answers.push_back(answer.clone());
        self.arrivals.push(Arrival { source_name: source_name.to_owned(), params, answer: answer.clone() });
        answer
    }
}

/// The script called one after another, so what was not refused arrived in the same order.
fn read(seen: &[Value], arrivals: Vec<Arrival>) -> Result<Vec<Outcome>, String> {
    let mut arrivals = arrivals.into_iter();
    let mut outcomes = Vec::new();
    for each in seen {
        let text = |key: &str| each[key].as_str().unwrap_or_default().to_owned();
        let is_answered = each.get("code").is_none();
        if !is_answered && text("code") != "call.failed" {
            let paths = each["paths"].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned);
            outcomes.push(Outcome::Refused { code: text("code"), message: text("message"), paths: paths.collect() });
            continue;
        }
        let arrival = arrivals.next().ok_or("the script saw more answers than the provider gave")?;
        outcomes.push(match is_answered {
            true => Outcome::Answered(arrival, serde_json::from_str(&text("json")).ok()),
            false => Outcome::Failed(arrival, text("message")),
        });
    }
    match arrivals.next() {
        Some(arrival) => Err(format!("the provider was given what was refused: {arrival:?}")),
        None => Ok(outcomes),
    }
}
