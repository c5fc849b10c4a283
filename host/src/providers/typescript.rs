//! Handlers in TypeScript, in a sandbox of their own.
//!
//! Each call runs in a fresh instance. Handler and script share neither memory nor authority: a handler reaches its own
//! folder's files when it is made ready, and beyond that what the configuration gives its module: hosts for `fetch`,
//! variables for `process.env`, limits.

use super::{Answering, Asking, CALL, Provider, ProviderGrants, ProviderKind, failure};
use crate::absent::Position;
use crate::engine::Engine;
use crate::error::{HostError, PrepareError};
use crate::error_report::RunError;
use crate::handlers::{Answer, Call, CapabilityError, Handlers};
use crate::interfaces::Interfaces;
use crate::limits::Limits;
use crate::modules::ModuleSource;
use crate::npm::Packages;
use crate::pipeline::Notices;
use crate::program::Program;
use crate::run::{ConsoleLine, RunOptions};
use crate::space::Space;
use crate::standard::StandardLibrary;
use crate::values::{Mismatch, exact};
use crate::workspace::Workspace;
use agent_spaces_mcp::secrets::Secret;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::sync::watch;

/// Makes the global `process`.
pub(crate) const PROCESS: &str = "agent-spaces:process";
pub(crate) const PROCESS_SOURCE: &str = include_str!("process.js");

/// Gives it the variables of this call; what is kept of a sandbox never has them.
pub(crate) const GIVEN: &str = "agent-spaces:given";
const GIVEN_SOURCE: &str = "import { give } from 'agent-spaces:process';\nimport call from 'agent-spaces:call';\n\
                            give(call.env, call.module);\n";

/// Finds the function of a call in the file and calls it. Evaluated with the file, so that a call compiles little.
const ANSWER: &str = "agent-spaces:answer";

/// The module that definitions in TypeScript import `defineTool` from.
pub(crate) const CAPABILITIES: &str = "@agent-spaces/capabilities";
pub(crate) const CAPABILITIES_SOURCE: &str = "export const defineTool = (tool) => tool;\n";

/// How long a definition may take to say what a person is asked.
const MESSAGE_TIME: Duration = Duration::from_secs(2);

/// The handlers of one file.
pub(crate) struct TypeScript {
    file: PathBuf,
    module: String,
    space: Arc<Space>,
    /// Evaluates the file's modules and answers a call.
    program: Program,
    /// Evaluates the same modules without a call.
    preparing: Program,
    /// What answers a call; begun to be made at the first one.
    begun: OnceLock<watch::Receiver<Option<Program>>>,
    env: BTreeMap<String, Secret>,
    limits: Limits,
    notices: Notices,
}

/// How a file's functions are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HandlerKind {
    /// One exported function for each.
    Exports,
    /// `defineTool({ functions: { name: { handler } } })`
    DefineTool,
}

impl TypeScript {
    /// The handlers of a file, made ready with what they import of these packages. `module` is what scripts import
    /// them as. Their author reads `notices`: what they print, and where they fail.
    pub(crate) fn prepare(
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
        let (mut interfaces, mut handlers) = (Interfaces::new()?, Handlers::new());
        StandardLibrary::with_network(network).add_to(&mut interfaces, &mut handlers)?;
        // Always there, so that a host that is not given is refused in words.
        let mut space = Space::new(engine.clone(), interfaces, handlers)?
            .with_workspace(workspace)
            .with_packages(packages)
            .with_fetch();
        space.add_module(CALL, ModuleSource::Json("null".into()));
        space.add_module(PROCESS, ModuleSource::JavaScript(PROCESS_SOURCE.into()));
        space.add_module(GIVEN, ModuleSource::JavaScript(GIVEN_SOURCE.into()));
        space.add_module(CAPABILITIES, ModuleSource::JavaScript(CAPABILITIES_SOURCE.into()));
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        space.add_module(ANSWER, ModuleSource::JavaScript(answering(&name, kind)?));
        let program = space.prepare(&format!("{name}.call.js"), &entry(&name)?)?;
        let preparing = space.prepare(&format!("{name}.prepare.js"), &preparation(&name)?)?;
        let (file, module, begun) = (file.to_owned(), module.to_owned(), OnceLock::new());
        let space = Arc::new(space);
        Ok(TypeScript { file, module, space, program, preparing, begun, env, limits, notices })
    }

    /// The program that answers a call: where evaluating the modules is the same every time, one that begins after it.
    ///
    /// It is made once, by a thread that goes on when the call that needed it is given up: the next one finds it further
    /// on, and others are not held up.
    async fn begun(&self) -> Program {
        let begin = || {
            let (made, begun) = watch::channel(None);
            let (space, program, preparing) = (self.space.clone(), self.program.clone(), self.preparing.clone());
            let limits = self.limits.clone();
            tokio::task::spawn_blocking(move || {
                let after = space.after(&preparing, limits).ok().flatten();
                let begun = after.map(|after| after.with_script(program.name(), &answer_evaluated()));
                // What cannot be kept is evaluated in every call.
                made.send_replace(Some(begun.unwrap_or(program)));
            });
            begun
        };
        let mut begun = self.begun.get_or_init(begin).clone();
        let made = begun.wait_for(Option::is_some).await;
        made.ok().and_then(|made| made.clone()).unwrap_or_else(|| self.program.clone())
    }

    /// The program with a call for it to see.
    async fn told(&self, call: Call, ask: &str) -> Result<Program, Mismatch> {
        // The handler is a script too.
        exact(&call.params)?;
        let env: Map<String, Value> =
            self.env.iter().map(|(name, value)| (name.clone(), value.expose().into())).collect();
        let text = json!({
            "ask": ask, "module": self.module, "env": env,
            "capability": call.capability, "function": call.function, "name": call.source_name,
            "part": call.part, "params": call.params,
        });
        Ok(self.begun().await.with_module(CALL, ModuleSource::Json(text.to_string())))
    }

    async fn run(&self, call: Call) -> Answer {
        let (function, memory) = (call.function.clone(), Some(call.memory()));
        let program = self
            .told(call, "answer")
            .await
            .map_err(|mismatch| CapabilityError::new("call.invalid", format!("{function}: {mismatch}")))?;
        let report = program.run(RunOptions { limits: self.limits.clone(), memory, ..RunOptions::default() }).await;
        self.tell_printed(&function, &report.console);
        report.outcome.map_err(|error| {
            self.tell_failed(&function, &error);
            failure::of_run(error, Position::Handler)
        })
    }

    /// Tells the operator what the handler of a call printed. Scripts do not see it.
    fn tell_printed(&self, function: &str, lines: &[ConsoleLine]) {
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

    /// Tells the operator where the handler of a call failed, and what would allow a request that was refused. An error
    /// that the handler means for the script, a `CapabilityError`, is the script's business.
    fn tell_failed(&self, function: &str, error: &RunError) {
        let is_request = error.function.as_deref().is_some_and(|called| called.starts_with("http."));
        // `fetch` rejects with an error of its own.
        let is_fetch =
            error.causes.first().is_some_and(|cause| cause.message.starts_with("CapabilityError [call.denied]"));
        let is_refused = is_fetch || (is_request && error.code == "call.denied");
        if error.name.as_deref() == Some("CapabilityError") && !is_refused {
            return;
        }
        let place = match &error.location {
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
                format!(". In an accepted configuration, this gives its handlers a host: {line}")
            }
            false => String::new(),
        };
        let text = format!("{place}: the handler of {function} failed: {name}{message}{advice}");
        self.notices.tell(&format!("{} {function}", self.module), "handler", &text);
    }

    /// What a person is asked about a call, where the file says it by a function that works.
    async fn message(&self, call: Call) -> Option<String> {
        let limits = Limits { time: MESSAGE_TIME.min(self.limits.time), ..self.limits.clone() };
        let memory = Some(call.memory());
        let asking = async {
            let program = self.told(call, "message").await.ok()?;
            program.run(RunOptions { limits, memory, ..RunOptions::default() }).await.outcome.ok()
        };
        // Making the program ready counts too: a person waits.
        tokio::time::timeout(MESSAGE_TIME, asking).await.ok()??.as_str().map(str::to_owned)
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
    /// JavaScript that finds the `handler` of a `call` in a `file`, and the `message` that a person is asked.
    pub(crate) fn finding(self) -> &'static str {
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

/// The program that evaluates a file's modules and answers a call.
fn entry(name: &str) -> Result<String, HostError> {
    let path = quoted(&format!("./{name}"))?;
    Ok(format!(
        "import '{PROCESS}';\nimport '{GIVEN}';\nimport * as file from {path};\nimport call from '{CALL}';\n\
         import {{ answer, keep }} from '{ANSWER}';\nkeep(file);\nexport default () => answer(call);\n",
    ))
}

/// The program that evaluates a file's modules, and fails where they have looked at variables on the way.
fn preparation(name: &str) -> Result<String, HostError> {
    let path = quoted(&format!("./{name}"))?;
    Ok(format!(
        "import {{ wasAskedEarly }} from '{PROCESS}';\nimport * as file from {path};\nimport {{ keep }} from '{ANSWER}';\n\
         if (wasAskedEarly) throw new Error('variables');\nkeep(file);\n"
    ))
}

/// The script that answers a call after the preparation.
fn answer_evaluated() -> String {
    format!("import {{ answer }} from '{ANSWER}';\nimport call from '{CALL}';\nexport default () => answer(call);\n")
}

/// The module that finds the function of a call in the file that it was given, and calls it.
fn answering(name: &str, kind: HandlerKind) -> Result<String, HostError> {
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

/// A text as JavaScript has it.
fn quoted(text: &str) -> Result<String, HostError> {
    serde_json::to_string(text).map_err(HostError::engine)
}

fn unreadable(folder: &Path, error: &std::io::Error) -> HostError {
    HostError::Wit { file: folder.display().to_string(), message: error.to_string() }
}
