//! TypeScript provider: handlers that run in their own sandbox.
//!
//! Each call runs in a fresh instance. Handler and script share neither memory nor authority: a handler can import files
//! of its own folder, and otherwise has what the configuration grants its module: hosts for `fetch`, variables for
//! `process.env`, limits.

use super::{CALL, ProviderGrants, run_failure};
use crate::standard::StandardLibrary;
use agent_spaces_calls::call::Call;
use agent_spaces_calls::operator_notices::Notices;
use agent_spaces_calls::provider::{Answering, Asking, Provider};
use agent_spaces_calls::turns::Turns;
use agent_spaces_linker::npm::Packages;
use agent_spaces_linker::workspace::Workspace;
use agent_spaces_sandbox::engine::Engine;
use agent_spaces_sandbox::error::{HostError, PrepareError};
use agent_spaces_sandbox::modules::ModuleSource;
use agent_spaces_sandbox::program::Program;
use agent_spaces_sandbox::run::RunOptions;
use agent_spaces_sandbox::values::{Mismatch, exact};
use agent_spaces_script::absent::Position;
use agent_spaces_secrets::Secret;
use agent_spaces_space::space::Space;
use agent_spaces_types::capability_error::{Answer, CapabilityError};
use agent_spaces_types::code::Code;
use agent_spaces_types::event::ConsoleLine;
use agent_spaces_types::limits::Limits;
use agent_spaces_types::provider_kind::ProviderKind;
use agent_spaces_types::run_error::{Cause, RunError};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::sync::watch;

/// Module that defines the global `process`.
pub const PROCESS: &str = "agent-spaces:process";
/// Source of [`PROCESS`].
pub const PROCESS_SOURCE: &str = include_str!("process.js");

/// Module that sets `process.env` before a file is evaluated; snapshots never hold the variables.
pub const GIVEN: &str = "agent-spaces:given";
const GIVEN_SOURCE: &str = "import { give } from 'agent-spaces:process';\nimport given from 'agent-spaces:env';\n\
                            give(given.env, given.module);\n";

/// Module with the variables and the name of the file's module, which are the same for every call.
const ENV: &str = "agent-spaces:env";

/// Module that dispatches a call to its function in the file. Evaluated with the file, so that a call compiles little.
const ANSWER: &str = "agent-spaces:answer";

/// Module from which definitions in TypeScript import `defineTool`.
pub const CAPABILITIES: &str = "@agent-spaces/capabilities";
/// Source of [`CAPABILITIES`].
pub const CAPABILITIES_SOURCE: &str = "export const defineTool = (tool) => tool;\n";

/// Maximum time for a definition to compute an approval message.
const MESSAGE_TIMEOUT: Duration = Duration::from_secs(2);

/// Handlers of one file.
pub struct TypeScript {
    file: PathBuf,
    module: String,
    space: Arc<Space>,
    /// Evaluates the file's modules and answers a call.
    program: Program,
    /// Evaluates the same modules without a call, for the snapshot.
    warm_up: Program,
    /// Program that answers calls, from a snapshot where possible; built from the first call on.
    prepared: OnceLock<watch::Receiver<Option<Program>>>,
    env: BTreeMap<String, Secret>,
    limits: Limits,
    notices: Notices,
}

/// Form in which a file defines its functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandlerKind {
    /// One export per function.
    Exports,
    /// `defineTool({ functions: { name: { handler } } })`
    DefineTool,
}

impl TypeScript {
    /// Prepares the handlers of a file, with the npm packages that they may import. `module` is the specifier that scripts
    /// import. `notices` receives their console output and failures, for their author.
    pub fn prepare(
        file: &Path,
        kind: HandlerKind,
        module: &str,
        grants: ProviderGrants,
        packages: Packages,
        engine: &Engine,
        notices: Notices,
    ) -> Result<TypeScript, PrepareError> {
        let ProviderGrants { env, network, limits, .. } = grants;
        let workspace = Workspace::beside(file, &[]).map_err(|error| unreadable(file, &error))?;
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        // `fetch` is always defined, so that a host that is not granted gets an error message.
        let space = Space::builder(engine)
            .capability(StandardLibrary::with_network(network))
            .workspace(workspace)
            .packages(packages)
            .fetch()
            .module(CALL, ModuleSource::Json("null".into()))
            .module(PROCESS, ModuleSource::JavaScript(PROCESS_SOURCE.into()))
            .module(ENV, ModuleSource::Json("null".into()))
            .module(GIVEN, ModuleSource::JavaScript(GIVEN_SOURCE.into()))
            .module(CAPABILITIES, ModuleSource::JavaScript(CAPABILITIES_SOURCE.into()))
            .module(ANSWER, ModuleSource::JavaScript(dispatcher(&name, kind)?))
            .build()?;
        let program = space.prepare(&format!("{name}.call.js"), &call_script(&name)?)?;
        let given = json!({ "env": exposed(&env), "module": module }).to_string();
        let program = program.with_module(ENV, ModuleSource::Json(given));
        let warm_up = space.prepare(&format!("{name}.prepare.js"), &warm_up_script(&name)?)?;
        let (file, module, prepared) = (file.to_owned(), module.to_owned(), OnceLock::new());
        let space = Arc::new(space);
        Ok(TypeScript { file, module, space, program, warm_up, prepared, env, limits, notices })
    }

    /// Returns the program that answers calls. If evaluation of the modules is deterministic, it starts from a snapshot
    /// taken after that.
    ///
    /// It is built once, on a blocking thread that continues if the first call is dropped.
    async fn prepared(&self) -> Program {
        let begin = || {
            let (made, prepared) = watch::channel(None);
            let (space, program, warm_up) = (self.space.clone(), self.program.clone(), self.warm_up.clone());
            let (limits, turns) = (self.limits.clone(), Turns::current());
            tokio::task::spawn_blocking(move || {
                // The run whose memory it is takes turns like the call that waits for it. This thread has none meanwhile.
                let _turns = turns.as_ref().map(Turns::enter);
                let after = space.after(&warm_up, limits).ok().flatten();
                let prepared = after.map(|after| after.with_script(program.name(), &snapshot_call_script()));
                // Without a snapshot, every call evaluates the modules.
                made.send_replace(Some(prepared.unwrap_or(program)));
            });
            prepared
        };
        let mut prepared = self.prepared.get_or_init(begin).clone();
        let made = prepared.wait_for(Option::is_some).await;
        made.ok().and_then(|made| made.clone()).unwrap_or_else(|| self.program.clone())
    }

    /// Returns the program with the call as its module [`CALL`].
    async fn with_call(&self, call: Call, ask: &str) -> Result<Program, Mismatch> {
        // Handlers are JavaScript too: numbers must be exact there.
        exact(&call.params)?;
        let text = json!({
            "ask": ask, "module": self.module, "env": exposed(&self.env),
            "capability": call.capability, "function": call.function, "name": call.source_name,
            "part": call.part, "params": call.params,
        });
        Ok(self.prepared().await.with_given(CALL, text.to_string()))
    }

    async fn run(&self, call: Call) -> Answer {
        let (function, memory) = (call.function.clone(), Some(call.memory()));
        let program = self
            .with_call(call, "answer")
            .await
            .map_err(|mismatch| CapabilityError::new(Code::CallInvalid, format!("{function}: {mismatch}")))?;
        let report =
            program.run(RunOptions { limits: Some(self.limits.clone()), memory, ..RunOptions::default() }).await;
        self.report_console(&function, &report.console);
        report.outcome.map_err(|error| {
            self.report_failure(&function, &error);
            run_failure::capability_error(error, &report.refusals, Position::Handler)
        })
    }

    /// Sends the handler's console output to the operator. Scripts do not see it.
    fn report_console(&self, function: &str, lines: &[ConsoleLine]) {
        if lines.is_empty() {
            return;
        }
        let text = lines.iter().map(|line| line.text.as_str()).collect::<Vec<_>>().join(" / ");
        let file = self.file.display();
        self.notices.tell(
            &format!("{} {function}", self.module),
            "console",
            &format!("{file} ({function}) printed: {text}"),
        );
    }

    /// Sends the operator the position of a handler's failure, and the setting that would allow a refused request. A
    /// `CapabilityError` is not reported: the handler throws it for the script.
    fn report_failure(&self, function: &str, error: &RunError) {
        let is_request = error.function.as_deref().is_some_and(|called| called.starts_with("http."));
        // `fetch` wraps the refusal in an error of its own.
        let cause = error.causes.first().and_then(Cause::capability_code);
        let is_fetch = cause == Some(Code::CallDenied.as_str());
        let is_refused = is_fetch || (is_request && error.code == Code::CallDenied);
        if error.name.as_deref() == Some("CapabilityError") && !is_refused {
            return;
        }
        let position = match &error.location {
            Some(location) => {
                self.file.with_file_name(&location.file).display().to_string()
                    + &format!(":{}:{}", location.line, location.column)
            }
            None => self.file.display().to_string(),
        };
        let name = error.name.as_ref().filter(|_| !is_refused).map(|name| format!("{name}: ")).unwrap_or_default();
        let message = error.message.trim_end_matches('.');
        let advice = match is_refused {
            true => {
                let line = json!({ "providers": { &self.module: { "http": { "domains": ["HOST"] } } } });
                format!(". To allow a host, add to an accepted configuration: {line}")
            }
            false => String::new(),
        };
        let text = format!("{position}: the handler of {function} failed: {name}{message}{advice}");
        self.notices.tell(&format!("{} {function}", self.module), "handler", &text);
    }

    /// Returns the approval message of a call, if the file has a function for it that succeeds.
    async fn message(&self, call: Call) -> Option<String> {
        let limits = Limits { time: MESSAGE_TIMEOUT.min(self.limits.time), ..self.limits.clone() };
        let memory = Some(call.memory());
        let asking = async {
            let program = self.with_call(call, "message").await.ok()?;
            program.run(RunOptions { limits: Some(limits), memory, ..RunOptions::default() }).await.outcome.ok()
        };
        // Preparing the program counts too: a person waits.
        tokio::time::timeout(MESSAGE_TIMEOUT, asking).await.ok()??.as_str().map(str::to_owned)
    }
}

impl Provider for TypeScript {
    fn kind(&self) -> ProviderKind {
        ProviderKind::TypeScript
    }

    fn description(&self) -> String {
        format!("{} in a sandbox of its own", self.file.display())
    }

    fn call(self: Arc<Self>, call: Call) -> Answering {
        Box::pin(async move { self.run(call).await })
    }

    fn approval_message(self: Arc<Self>, call: Call) -> Asking {
        Box::pin(async move { self.message(call).await })
    }
}

impl HandlerKind {
    /// Returns JavaScript that finds the `handler` of a `call` in a `file`, and its approval `message`.
    pub fn finding(self) -> &'static str {
        match self {
            HandlerKind::DefineTool => {
                "const [, tool] = Object.entries(file).find(([key, tool]) => (tool?.name ?? key) === call.capability) ?? [];\n\
             const handler = tool?.functions?.[call.name]?.handler;\n\
             const message = tool?.functions?.[call.name]?.approvalMessage ?? tool?.config?.approvalMessage;"
            }
            HandlerKind::Exports => {
                "const functions = call.part ? file['$' + call.part] : file;\n\
             const handler = functions?.[call.function] ?? functions?.[call.name];\n\
             const message = undefined;"
            }
        }
    }
}

/// Returns variables as JSON.
fn exposed(env: &BTreeMap<String, Secret>) -> Map<String, Value> {
    env.iter().map(|(name, value)| (name.clone(), value.expose().into())).collect()
}

/// Returns the script that evaluates a file's modules and answers a call.
fn call_script(name: &str) -> Result<String, HostError> {
    let path = quoted(&format!("./{name}"))?;
    Ok(format!(
        "import '{PROCESS}';\nimport '{GIVEN}';\nimport * as file from {path};\nimport call from '{CALL}';\n\
         import {{ answer, keep }} from '{ANSWER}';\nkeep(file);\nexport default () => answer(call);\n",
    ))
}

/// Returns the script that evaluates a file's modules, and fails if they read variables meanwhile.
fn warm_up_script(name: &str) -> Result<String, HostError> {
    let path = quoted(&format!("./{name}"))?;
    Ok(format!(
        "import {{ wasAskedEarly }} from '{PROCESS}';\nimport * as file from {path};\nimport {{ keep }} from '{ANSWER}';\n\
         if (wasAskedEarly) throw new Error('variables');\nkeep(file);\n"
    ))
}

/// Returns the script that answers a call from a snapshot.
fn snapshot_call_script() -> String {
    format!("import {{ answer }} from '{ANSWER}';\nimport call from '{CALL}';\nexport default () => answer(call);\n")
}

/// Returns the source of [`ANSWER`].
fn dispatcher(name: &str, kind: HandlerKind) -> Result<String, HostError> {
    let (find, shown) = (kind.finding(), quoted(name)?);
    Ok(format!(
        "import {{ give }} from '{PROCESS}';\nlet file;\nexport const keep = (given) => {{ file = given; }};\n\
         export const answer = async (call) => {{\ngive(call.env, call.module);\n{find}\n\
         if (call.ask === 'message') return typeof message === 'function' ? message(call.params) : null;\n\
         if (typeof handler !== 'function') throw new CapabilityError(\
         `${{{shown}}} has no function '${{call.function}}'`, {{ code: 'call.unavailable' }});\n\
         return handler(call.params);\n}};\n",
    ))
}

/// Quotes a text as a JavaScript string.
fn quoted(text: &str) -> Result<String, HostError> {
    serde_json::to_string(text).map_err(HostError::engine)
}

fn unreadable(folder: &Path, error: &std::io::Error) -> HostError {
    HostError::Wit { file: folder.display().to_string(), message: error.to_string() }
}
