//! A script that runs in a space: a saved program that has become a tool.
//!
//! Each call is a run of its own, with the grants, the policy and the caps of the script's space, on behalf of who calls.
//! Its events name the call that it answers; the run that calls sees one call and one answer.

mod space;

pub(crate) use space::ScriptSpace;

use super::{Answering, CALL, Provider, ProviderKind, failure};
use crate::absent::Position;
use crate::error::PrepareError;
use crate::handlers::{Answer, Call, CapabilityError};
use crate::limits::Limits;
use crate::modules::ModuleSource;
use crate::program::Program;
use crate::run::{AnsweringScript, ParentCall, RunOptions};
use crate::values::exact;
use serde_json::json;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::OnceCell;

/// Scripts that answer calls of scripts that answer calls.
const MAX_DEPTH: usize = 4;

pub(crate) struct ScriptProvider {
    file: Arc<PathBuf>,
    space_name: Option<String>,
    space: ScriptSpace,
    limits: Limits,
    /// Made at the first call.
    program: OnceCell<Program>,
}

impl ScriptProvider {
    /// A script of this file, in a space whose scripts may import the files of its folder.
    pub(crate) fn new(file: PathBuf, space_name: Option<String>, space: ScriptSpace, limits: Limits) -> ScriptProvider {
        ScriptProvider { file: Arc::new(file), space_name, space, limits, program: OnceCell::new() }
    }

    /// Refuses a script that answers itself, or stands too deep under others.
    fn check_depth(&self, above: Option<&AnsweringScript>) -> Result<(), CapabilityError> {
        let is_same = |script: &AnsweringScript| script.file == self.file && script.space == self.space_name;
        let scripts = || std::iter::successors(above, |script| script.above.as_deref());
        let why = if scripts().any(is_same) {
            format!("The script {} would call itself", self.name())
        } else if scripts().count() >= MAX_DEPTH {
            format!("More than {MAX_DEPTH} scripts would call one another")
        } else {
            return Ok(());
        };
        Err(CapabilityError::new("call.denied", why))
    }

    /// The file's own name: where it lies is the host's business.
    fn name(&self) -> String {
        self.file.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    async fn run(&self, call: Call) -> Answer {
        self.check_depth(call.script.as_deref())?;
        exact(&call.params).map_err(|mismatch| CapabilityError::new("call.invalid", mismatch.to_string()))?;
        let program = self.program.get_or_try_init(|| self.prepare()).await?;
        let text = json!({ "params": call.params }).to_string();
        let program = program.with_module(CALL, ModuleSource::Json(text));
        let options = RunOptions {
            limits: self.limits.clone(),
            caller: call.caller.clone(),
            memory: Some(call.memory()),
            parent: Some(ParentCall::of(&call).answered_by(&self.file, self.space_name.as_deref())),
            ..RunOptions::default()
        };
        program.run(options).await.outcome.map_err(|error| failure::of_run(error, Position::Script))
    }

    async fn prepare(&self) -> Result<Program, CapabilityError> {
        let name = self.name();
        let unavailable = |message: String| CapabilityError::new("call.unavailable", message);
        let Some(space) = self.space.get() else { return Err(unavailable("Its space is gone".into())) };
        let path = json!(format!("./{name}"));
        let source = format!(
            "import * as script from {path};\nimport call from '{CALL}';\n\
             if (!('default' in script)) throw new CapabilityError('The script has no default export', {{ code: 'call.unavailable' }});\n\
             export default async () => typeof script.default === 'function' ? script.default(call.params) : script.default;\n"
        );
        let prepared = tokio::task::spawn_blocking(move || space.prepare(&format!("{name}.call.js"), &source)).await;
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
