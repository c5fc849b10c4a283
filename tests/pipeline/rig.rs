//! Test space with one provider of every kind, whose calls are recorded.

use agent_spaces::{
    Accounting, Call, Caller, CapabilityError, Event, Handlers, Interfaces, Limits, Package, PackageOutline,
    RunOptions, Space, StandardLibrary,
};
use agent_spaces_approvals::{Answer, Channel, ChannelError, Decision, Request};
use agent_spaces_mcp::secrets::Redactor;
use agent_spaces_policy::{Policy, Settings};
use agent_spaces_tests::engine;
use capability_gen::compile::{ModuleSource, compile};
use capability_gen::model::Module;
use capability_gen::sources::{Format, parse_value};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

/// Handwritten WIT, without a schema for its parameters.
const POST: &str = "package test:post@1.0.0;
interface post {
    use agent-spaces:host/types@0.1.0.{capability-error};
    record letter { repo: option<string>, amount: option<f64>, mode: option<string>, n: option<u32> }
    send: async func(letter: letter) -> result<string, capability-error>;
    // A module of which everything is denied is not there.
    fetch: async func() -> result<string, capability-error>;
}";

const POST_INTERFACE: &str = "test:post/post@1.0.0";

/// Parameters of every function.
fn parameters() -> Value {
    json!({
        "type": "object",
        "properties": {
            "repo": { "type": "string" },
            "amount": { "type": "number", "maximum": 1000 },
            "mode": { "type": "string" },
            "n": { "type": "integer", "default": 1 }
        }
    })
}

/// Capability with handlers, some of which set `requiresApproval`.
fn crm() -> Value {
    let function = |name: &str, more: Value| {
        let mut function = json!({ "name": name, "description": name, "parameters": parameters() });
        function.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        function
    };
    json!({ "name": "crm", "description": "Customers", "functions": [
        function("find", json!({})),
        function("remove", json!({ "requiresApproval": true, "approvalMessage": "Remove {{repo}}?" })),
        function("note", json!({ "requiresApproval": false })),
        function("pay", json!({ "config": { "scopes": ["money"] } })),
        function("ping", json!({ "config": { "rateLimit": { "requests": 2, "period": "minute" } } })),
    ] })
}

/// Capability whose functions share a rate limit.
fn mail() -> Value {
    let functions = ["first", "second"].map(|name| json!({ "name": name, "description": name, "parameters": {} }));
    json!({ "name": "mail", "description": "Letters", "functions": functions,
        "config": { "rateLimit": { "requests": 2, "period": "hour" } } })
}

/// Capability with constraints beyond types, and required parameters.
fn shop() -> Value {
    let mut painted = parameters();
    let properties = painted["properties"].as_object_mut().unwrap();
    properties.insert("colour".into(), json!({ "type": "string", "enum": ["red", "green"] }));
    properties.insert("icon".into(), json!({ "type": "string", "contentEncoding": "base64" }));
    properties.insert("tags".into(), json!({ "type": "array", "items": { "type": "string" }, "maxItems": 3 }));
    painted["additionalProperties"] = json!(false);
    let mut sold = parameters();
    sold["required"] = json!(["repo"]);
    json!({ "name": "shop", "description": "Goods", "functions": [
        { "name": "paint", "description": "paint", "parameters": painted },
        { "name": "sell", "description": "sell", "parameters": sold },
    ] })
}

/// Tools of an MCP server, one of them read-only.
fn github() -> Value {
    json!({ "tools": [
        { "name": "list_issues", "inputSchema": parameters(), "annotations": { "readOnlyHint": true } },
        { "name": "create_issue", "inputSchema": parameters(), "annotations": { "readOnlyHint": false } },
        { "name": "close_issue", "inputSchema": parameters() },
    ] })
}

fn module(name: &str, source: &Value, format: Option<Format>) -> Module {
    let definitions = parse_value(name, source, format.is_some().then_some(name), format).unwrap();
    compile(ModuleSource { specifier: None, stem: None, definitions }).unwrap()
}

/// Parses the policy of a configuration.
pub(super) fn settings(policy: Value) -> Settings {
    let config = agent_spaces::config::from_value("test", json!({ "policy": policy }));
    config.unwrap_or_else(|error| panic!("{error}")).policy
}

/// The same for a space with its own policy, whose rules have another configuration path.
pub(super) fn settings_of_space(policy: Value) -> Settings {
    let config = agent_spaces::config::from_value("test", json!({ "spaces": { "desk": { "policy": policy } } }));
    config.unwrap_or_else(|error| panic!("{error}")).spaces["desk"].policy.clone()
}

/// Settings with only these function rules.
pub(super) fn rules(functions: Value) -> Settings {
    settings(json!({ "functions": functions }))
}

/// List with several writers.
pub(super) type Shared<T> = Arc<Mutex<Vec<T>>>;

/// Test space, with its recorded calls, operator messages and events.
pub(super) struct Rig {
    pub(super) space: Space,
    /// The calls that reached a provider: the function and its parameters.
    pub(super) provided: Shared<(String, Value)>,
    /// Messages to the operator.
    pub(super) operator_notices: Shared<String>,
    /// Events seen by the observer.
    pub(super) events: Shared<Event>,
    /// Concurrent provider calls: now, and at most.
    pub(super) at_once: Arc<Mutex<(usize, usize)>>,
}

/// Settings of a space besides its policy.
#[derive(Default)]
pub(super) struct Extras {
    pub(super) redactor: Redactor,
    pub(super) accounting: Accounting,
    pub(super) days: Option<Arc<dyn agent_spaces_policy::DayCounts>>,
    pub(super) audit: Option<agent_spaces::AuditHandle>,
    pub(super) rates: Option<agent_spaces_policy::RateFile>,
}

impl Rig {
    pub(super) fn new(settings: Settings) -> Rig {
        Rig::with(settings, Extras::default())
    }

    pub(super) fn with(settings: Settings, extras: Extras) -> Rig {
        let (provided, at_once) = (Shared::default(), Arc::default());
        let mut handlers = Handlers::new();
        let mut interfaces = Interfaces::new().unwrap();
        let modules = [
            module("crm", &crm(), None),
            module("mail", &mail(), None),
            module("shop", &shop(), None),
            module("github", &github(), Some(Format::Mcp)),
        ];
        for module in modules {
            for interface in PackageOutline::of(&module).interfaces {
                answer_all(&mut handlers, &interface.name, &provided, &at_once);
            }
            interfaces.add_package(Package::new(module)).unwrap();
        }
        interfaces.add("post.wit", POST).unwrap();
        answer_all(&mut handlers, POST_INTERFACE, &provided, &at_once);
        let policy = Arc::new(Policy::new(settings));
        let library = StandardLibrary::new(&policy, None, None).unwrap();
        let (operator_notices, events): (Shared<String>, Shared<Event>) = Default::default();
        let mut space = Space::builder(&engine())
            .interfaces(interfaces, handlers)
            .capability(library)
            .policy(policy)
            .operator(listener(&operator_notices, |text: &agent_spaces::Shown| text.to_string()))
            .observer(listener(&events, Event::clone))
            .redactor(extras.redactor)
            .accounting(extras.accounting);
        if let Some(days) = extras.days {
            space = space.day_counts(days);
        }
        if let Some(audit) = extras.audit {
            space = space.audit(audit);
        }
        if let Some(rates) = extras.rates {
            space = space.rate_file(rates);
        }
        Rig { space: space.build().unwrap(), provided, operator_notices, events, at_once }
    }

    /// Returns the number of provider calls.
    pub(super) fn count(&self) -> usize {
        self.provided.lock().unwrap().len()
    }

    /// Returns all messages to the operator.
    pub(super) fn operator_notices(&self) -> Vec<String> {
        self.operator_notices.lock().unwrap().clone()
    }

    /// Calls from the host.
    pub(super) async fn host(&self, label: &str, params: Value) -> Result<Value, CapabilityError> {
        self.host_as(Caller::default(), label, params).await
    }

    /// Calls from the host, on behalf of a caller.
    pub(super) async fn host_as(&self, caller: Caller, label: &str, params: Value) -> Result<Value, CapabilityError> {
        let (capability, function) = label.split_once('.').unwrap();
        self.space.call_value(capability, function, params, caller).await
    }

    /// Sequential calls from one run of a script.
    pub(super) async fn script(&self, calls: &[(&str, Value)]) -> Vec<Result<Value, CapabilityError>> {
        self.script_as(Caller::default(), calls).await
    }

    /// Calls from a script that runs on behalf of a caller.
    pub(super) async fn script_as(
        &self,
        caller: Caller,
        calls: &[(&str, Value)],
    ) -> Vec<Result<Value, CapabilityError>> {
        let caller = Arc::new(caller);
        // A module without callable functions cannot be imported: leave it out of the script.
        let mut gone: Vec<String> = Vec::new();
        loop {
            let is_there = |label: &str| !gone.iter().any(|module| import(capability_of(label)).contains(module));
            let there: Vec<(&str, Value)> = calls.iter().filter(|(label, _)| is_there(label)).cloned().collect();
            let options = RunOptions { caller: caller.clone(), ..RunOptions::default() };
            let message = match self.space.prepare("agent.js", &sequential_script(&there)) {
                Ok(program) => match program.run(options).await.outcome {
                    Ok(outcomes) => {
                        let mut outcomes = outcomes.as_array().unwrap().iter().map(outcome);
                        let mut all = Vec::new();
                        for (label, params) in calls {
                            all.push(match is_there(label) {
                                true => outcomes.next().unwrap(),
                                // The host gets the same refusal.
                                false => self.host_as(Caller::clone(&caller), label, params.clone()).await,
                            });
                        }
                        return all;
                    }
                    Err(error) if error.code == "import.unknown" => error.message,
                    Err(error) => panic!("{error:?}"),
                },
                Err(error) => error.to_string(),
            };
            let module = message.strip_prefix("Cannot find module ").unwrap_or_else(|| panic!("{message}"));
            gone.push(module.to_owned());
        }
    }

    /// One call by a script.
    pub(super) async fn script_one(&self, label: &str, params: Value) -> Result<Value, CapabilityError> {
        self.script(&[(label, params)]).await.remove(0)
    }

    /// Returns the outcome of a script under these limits.
    pub(super) async fn run(&self, source: &str, limits: Limits) -> agent_spaces::RunReport {
        let program = self.space.prepare("agent.js", source).unwrap_or_else(|error| panic!("{error}"));
        program.run(RunOptions { limits: Some(limits), ..RunOptions::default() }).await
    }
}

fn listener<T: ?Sized + 'static, U: Send + 'static>(
    list: &Shared<U>,
    keep: fn(&T) -> U,
) -> impl Fn(&T) + Send + Sync + 'static {
    let list = list.clone();
    move |item| list.lock().unwrap().push(keep(item))
}

/// Registers a handler that records calls and behaves as their `mode` says.
fn answer_all(
    handlers: &mut Handlers,
    interface: &str,
    provided: &Shared<(String, Value)>,
    at_once: &Arc<Mutex<(usize, usize)>>,
) {
    let (provided, at_once) = (provided.clone(), at_once.clone());
    handlers.add_interface(interface, move |call: Call| {
        let label = format!("{}.{}", call.capability, call.function);
        provided.lock().unwrap().push((label, call.params.clone()));
        let at_once = at_once.clone();
        async move {
            {
                let mut now = at_once.lock().unwrap();
                now.0 += 1;
                now.1 = now.1.max(now.0);
            }
            let _guard = DecrementOnDrop(at_once);
            answer(&call).await
        }
    });
}

struct DecrementOnDrop(Arc<Mutex<(usize, usize)>>);

impl Drop for DecrementOnDrop {
    fn drop(&mut self) {
        self.0.lock().unwrap().0 -= 1;
    }
}

async fn answer(call: &Call) -> Result<Value, CapabilityError> {
    let mode = call.params["mode"].as_str().unwrap_or_default();
    let (kind, text) = mode.split_once(' ').unwrap_or((mode, ""));
    match kind {
        "say" => Ok(json!(text)),
        "fail" => Err(CapabilityError::failed(text)),
        "code" => Err(CapabilityError::new(text, "no")),
        "long" => Ok(json!("x".repeat(text.parse().unwrap()))),
        "number" => Ok(json!(5)),
        "busy" => Err(CapabilityError { retryable: true, ..CapabilityError::new("call.unavailable", "busy") }),
        "detail" => Err(CapabilityError { details: Some(json!({ "seen": [text] })), ..CapabilityError::failed("no") }),
        "tell" => {
            call.progress.tell(1.0, Some(2.0), Some(text.to_owned()));
            Ok(json!("told"))
        }
        "sleep" => {
            tokio::time::sleep(std::time::Duration::from_millis(text.parse().unwrap())).await;
            Ok(json!("slept"))
        }
        _ => Ok(json!("done")),
    }
}

/// Import statement for the functions of a capability.
pub(super) fn import(capability: &str) -> String {
    let module = match capability {
        "post" => "@test/post",
        "github" => "@capabilities/mcp-github",
        "json" | "time" | "crypto" => "@agent-spaces/std",
        other => return format!("import {{ {other} }} from '@capabilities/{other}';\n"),
    };
    format!("import {{ {capability} }} from '{module}';\n")
}

fn capability_of(label: &str) -> &str {
    label.split_once('.').map_or(label, |(capability, _)| capability)
}

/// Returns a script that makes these calls one after the other and exports their outcomes.
fn sequential_script(calls: &[(&str, Value)]) -> String {
    let mut capabilities: Vec<&str> = calls.iter().filter_map(|(label, _)| Some(label.split_once('.')?.0)).collect();
    capabilities.sort_unstable();
    capabilities.dedup();
    let mut source: String = capabilities.into_iter().map(import).collect();
    source.push_str(
        "const tried = async (call) => { try { return { value: (await call()) ?? null } } catch (e) { return { error: {
            code: e.code, message: e.message, retryable: e.retryable, details: e.details ?? null } } } };
        const all = [];\n",
    );
    for (label, params) in calls {
        let is_standard = import(label.split_once('.').unwrap().0).contains("agent-spaces/std");
        let arguments = if is_standard { format!("...Object.values({params})") } else { params.to_string() };
        source.push_str(&format!("all.push(await tried(() => {label}({arguments})));\n"));
    }
    source + "export default all;"
}

fn outcome(shown: &Value) -> Result<Value, CapabilityError> {
    match shown.get("error") {
        Some(error) => {
            Err(serde_json::from_value(error.clone()).unwrap_or_else(|_| panic!("no error of a call: {error}")))
        }
        None => Ok(shown["value"].clone()),
    }
}

/// A caller with these scopes.
pub(super) fn with_scopes(scopes: &[&str]) -> Caller {
    Caller { scopes: scopes.iter().map(|scope| (*scope).to_owned()).collect(), ..Caller::default() }
}

/// A caller of this name.
pub(super) fn named(name: &str) -> Caller {
    Caller { name: Some(name.to_owned()), ..Caller::default() }
}

/// Approver with prepared decisions; afterwards it is unavailable.
#[derive(Default)]
pub(super) struct ScriptedApprover {
    pub(super) decisions: Mutex<VecDeque<Result<Decision, ChannelError>>>,
    pub(super) asked: Mutex<Vec<Arc<Request>>>,
}

impl ScriptedApprover {
    pub(super) fn new(decisions: impl IntoIterator<Item = Result<Decision, ChannelError>>) -> Arc<ScriptedApprover> {
        Arc::new(ScriptedApprover { decisions: Mutex::new(decisions.into_iter().collect()), asked: Mutex::default() })
    }

    pub(super) fn count(&self) -> usize {
        self.asked.lock().unwrap().len()
    }
}

impl Channel for ScriptedApprover {
    fn ask(&self, request: Arc<Request>) -> Answer<'_> {
        self.asked.lock().unwrap().push(request);
        let decision = self.decisions.lock().unwrap().pop_front();
        Box::pin(async { decision.unwrap_or_else(|| Err(ChannelError::Nobody("nobody is left".into()))) })
    }
}

/// Approver that decides on demand.
pub(super) struct DelayedApprover {
    pub(super) decision: tokio::sync::watch::Receiver<Option<Decision>>,
}

impl Channel for DelayedApprover {
    fn ask(&self, _request: Arc<Request>) -> Answer<'_> {
        let mut decision = self.decision.clone();
        Box::pin(async move {
            let decided = decision.wait_for(Option::is_some).await;
            decided.ok().and_then(|decided| decided.clone()).ok_or(ChannelError::Expired)
        })
    }
}
