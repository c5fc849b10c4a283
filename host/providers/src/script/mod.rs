//! Script provider: a saved script that answers calls as a tool.
//!
//! Each call is a separate run with the grants, policy and limits of the script's space, on behalf of the caller. Its
//! events name the call that it answers; the calling run sees one call and one answer.

mod space;

pub use space::ScriptSpace;

use crate::{CALL, run_failure};
use agent_spaces_calls::call::Call;
use agent_spaces_calls::parent::AnsweringScript;
use agent_spaces_calls::provider::{Answering, Provider};
use agent_spaces_sandbox::error::PrepareError;
use agent_spaces_sandbox::program::Program;
use agent_spaces_sandbox::run::RunOptions;
use agent_spaces_sandbox::values::exact;
use agent_spaces_script::absent::Position;
use agent_spaces_types::capability_error::{Answer, CapabilityError};
use agent_spaces_types::code::Code;
use agent_spaces_types::limits::Limits;
use agent_spaces_types::provider_kind::ProviderKind;
use serde_json::json;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::OnceCell;

/// Maximum nesting of scripts that answer calls of scripts.
const MAX_DEPTH: usize = 4;

/// Provider that runs a script for each call.
pub struct ScriptProvider {
    file: Arc<PathBuf>,
    space_name: Option<String>,
    space: ScriptSpace,
    limits: Limits,
    /// Prepared at the first call.
    program: OnceCell<Program>,
}

impl ScriptProvider {
    /// Creates a provider for this file, in a space whose scripts may import the files of its folder.
    pub fn new(file: PathBuf, space_name: Option<String>, space: ScriptSpace, limits: Limits) -> ScriptProvider {
        ScriptProvider { file: Arc::new(file), space_name, space, limits, program: OnceCell::new() }
    }

    /// Refuses recursion, and nesting beyond [`MAX_DEPTH`].
    fn check_depth(&self, above: Option<&AnsweringScript>) -> Result<(), CapabilityError> {
        let is_same = |script: &AnsweringScript| script.file == self.file && script.space == self.space_name;
        let scripts = || std::iter::successors(above, |script| script.above.as_deref());
        let why = if scripts().any(is_same) {
            format!("The script {} would call itself", self.name())
        } else if scripts().count() >= MAX_DEPTH {
            format!("Scripts nested too deep: more than {MAX_DEPTH} would call one another")
        } else {
            return Ok(());
        };
        Err(CapabilityError::new(Code::CallDenied, why))
    }

    /// Returns the file name without its folder, which scripts must not see.
    fn name(&self) -> String {
        self.file.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    async fn run(&self, call: Call) -> Answer {
        self.check_depth(call.script.as_deref())?;
        exact(&call.params).map_err(|mismatch| CapabilityError::new(Code::CallInvalid, mismatch.to_string()))?;
        let program = self.program.get_or_try_init(|| self.prepare()).await?;
        let text = json!({ "params": call.params }).to_string();
        let program = program.with_given(CALL, text);
        let options = RunOptions {
            limits: Some(self.limits.clone()),
            caller: call.caller.clone(),
            memory: Some(call.memory()),
            parent: Some(call.as_parent().answered_by(&self.file, self.space_name.as_deref())),
            ..RunOptions::default()
        };
        let report = program.run(options).await;
        let failed = |error| run_failure::capability_error(error, &report.refusals, Position::Script);
        report.outcome.map_err(failed)
    }

    async fn prepare(&self) -> Result<Program, CapabilityError> {
        let name = self.name();
        let unavailable = |message: String| CapabilityError::new(Code::CallUnavailable, message);
        let Some(space) = self.space.get() else { return Err(unavailable("Its space no longer exists".into())) };
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
            Ok(Err(_)) | Err(_) => Err(unavailable("Its script cannot be prepared".into())),
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
