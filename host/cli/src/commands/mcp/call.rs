//! `agent-spaces mcp call`

use super::{Options, server};
use crate::commands::approvals::ApprovalOptions;
use crate::commands::failure::Failure;
use crate::commands::output;
use agent_spaces::Caller;
use agent_spaces::Code;
use agent_spaces::project::{DefinitionBody, Project};
use capability_gen::shown::Shown;
use clap::Args;
use serde_json::{Value, json};
use std::io::Read;

/// Call one tool of a server, through the same checks as a script's call.
#[derive(Args)]
#[command(after_help = "Examples:
  agent-spaces mcp call time get_current_time '{\"timezone\": \"Europe/Athens\"}'
  echo '{\"path\": \"/tmp\"}' | agent-spaces mcp call filesystem list_directory -")]
pub(super) struct Call {
    /// The server
    server: String,

    /// The tool: its own name, or the function that scripts call
    tool: String,

    /// Its arguments as a JSON object; - reads them from stdin
    #[arg(default_value = "{}")]
    arguments: String,

    #[command(flatten)]
    approvals: ApprovalOptions,

    /// Scope granted to the caller, for functions that require one; may be repeated
    #[arg(long, value_name = "SCOPE")]
    scope: Vec<String>,

    #[command(flatten)]
    options: Options,
}

impl Call {
    pub(super) fn execute(self) -> u8 {
        match self.call() {
            Ok(value) if self.options.json => output::print_line(&json!({ "ok": true, "value": value })),
            Ok(Value::String(text)) => output::print(&Shown::text(&format!("{text}\n"), usize::MAX)),
            Ok(value) => output::print_line(&serde_json::to_string_pretty(&value).unwrap_or_default()),
            Err(failure) => failure.report(self.options.json),
        }
    }

    fn call(&self) -> Result<Value, Failure> {
        let arguments = self.arguments()?;
        let (engine, mut project, mut session) = self.options.open()?;
        if self.approvals.is_piped() {
            let hint = "use --approvals terminal or --approvals store";
            return Err(Failure::new(
                Code::ConfigUsage,
                "--approvals pipe needs events, which this command does not print",
                Some(hint),
            ));
        }
        self.approvals.prepare(&mut session, self.arguments == "-")?;
        let configured = server(&project, &self.server)?;
        if !is_known(&project, &self.server) {
            session.discover_and_lock(&project, &configured.clone())?;
            project = self.options.config.open(&engine)?.unwrap_or(project);
        }
        let modules = project.server_modules(&self.server);
        let function = modules.function(&self.tool)?;
        let space = modules.assemble_with(&engine, session.equipment())?;
        let caller = Caller { scopes: self.scope.iter().cloned().collect(), ..Caller::default() };
        let value = session.wait(space.call_function(&function, arguments, caller));
        value.map_err(|error| {
            let mut failure = Failure::new(error.code, error.message, None);
            failure.error.details = error.details;
            failure
        })
    }

    fn arguments(&self) -> Result<Value, Failure> {
        let mut text = self.arguments.clone();
        if text == "-" {
            text.clear();
            let read = std::io::stdin().lock().read_to_string(&mut text);
            read.map_err(|error| Failure::new(Code::ConfigUsage, format!("stdin: {error}"), None))?;
        }
        let hint = Some("give a JSON object, such as '{\"name\": \"value\"}'");
        match serde_json::from_str(&text) {
            Ok(arguments @ Value::Object(_)) => Ok(arguments),
            Ok(_) => Err(Failure::new(Code::ConfigUsage, "the arguments are not a JSON object", hint)),
            Err(error) => Err(Failure::new(Code::ConfigUsage, format!("the arguments are not JSON: {error}"), hint)),
        }
    }
}

/// Returns true if the tools of a server are known without connecting to it.
pub(super) fn is_known(project: &Project, server: &str) -> bool {
    let entry = format!("mcp:{server}");
    let has = |body: &DefinitionBody| matches!(body, DefinitionBody::Module(_));
    project.definitions().iter().any(|definition| definition.entries.contains(&entry) && has(&definition.body))
}
