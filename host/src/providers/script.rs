//! A script that runs in a space: a saved program that has become a tool.
//!
//! Each call is a run of its own, with the grants, the policy and the caps of the script's space, on behalf of who calls.
//! Its events name the call that it answers; the run that calls sees one call and one answer.

use super::{Answering, Provider, ProviderKind, failure};
use crate::error::PrepareError;
use crate::handlers::{Answer, Call, CapabilityError};
use crate::limits::Limits;
use crate::modules::ModuleSource;
use crate::program::Program;
use crate::run::{ParentCall, RunOptions};
use crate::space::Space;
use crate::values::exact;
use serde_json::json;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::OnceCell;

/// The module that a call is in.
const CALL: &str = "agent-spaces:call";

pub(crate) struct ScriptProvider {
    file: PathBuf,
    space_name: Option<String>,
    space: Arc<Space>,
    limits: Limits,
    /// Made at the first call.
    program: OnceCell<Program>,
}

impl ScriptProvider {
    /// A script of this file, in a space whose scripts may import the files of its folder.
    pub(crate) fn new(file: PathBuf, space_name: Option<String>, mut space: Space, limits: Limits) -> ScriptProvider {
        space.add_module(CALL, ModuleSource::Json("null".into()));
        ScriptProvider { file, space_name, space: Arc::new(space), limits, program: OnceCell::new() }
    }

    async fn run(&self, call: Call) -> Answer {
        exact(&call.params).map_err(|mismatch| CapabilityError::new("call.invalid", mismatch.to_string()))?;
        let program = self.program.get_or_try_init(|| self.prepare()).await?;
        let text = json!({ "params": call.params }).to_string();
        let program = program.with_module(CALL, ModuleSource::Json(text));
        let options = RunOptions {
            limits: self.limits.clone(),
            caller: call.caller.clone(),
            parent: Some(ParentCall::of(&call)),
            ..RunOptions::default()
        };
        program.run(options).await.outcome.map_err(failure::of_run)
    }

    async fn prepare(&self) -> Result<Program, CapabilityError> {
        let name = self.file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let space = self.space.clone();
        let path = json!(format!("./{name}"));
        let source = format!(
            "import * as script from {path};\nimport call from '{CALL}';\n\
             if (!('default' in script)) throw new CapabilityError('The script has no default export', {{ code: 'call.unavailable' }});\n\
             export default async () => typeof script.default === 'function' ? script.default(call.params) : script.default;\n"
        );
        let prepared = tokio::task::spawn_blocking(move || space.prepare(&format!("{name}.call.js"), &source)).await;
        let unavailable = |message: String| CapabilityError::new("call.unavailable", message);
        match prepared {
            Ok(Ok(program)) => Ok(program),
            Ok(Err(PrepareError::Script(error))) => {
                Err(unavailable(format!("Its script cannot run: {}", error.message)))
            }
            Ok(Err(PrepareError::Host(_))) | Err(_) => Err(unavailable("Its script cannot be made ready".into())),
        }
    }
}

impl Provider for ScriptProvider {
    fn kind(&self) -> ProviderKind {
        ProviderKind::Space
    }

    fn description(&self) -> String {
        let space = self.space_name.as_ref().map(|name| format!(" in the space {name}")).unwrap_or_default();
        format!("the script {}{space}", self.file.display())
    }

    fn call(self: Arc<Self>, call: Call) -> Answering {
        Box::pin(async move { self.run(call).await })
    }
}
