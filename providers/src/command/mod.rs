//! A program that is started for each call.
//!
//! No shell is between a call and its program: each argument arrives as it was filled in. The program runs in a process
//! group of its own, below a supervisor where the host has one, with an environment of its own, for a bounded time and
//! with bounded output. Nothing of it is left when a call ends, is given up, or the host dies.
//!
//! - `arguments`: from templates and parameters to what the program is started with.
//! - `program`: where the program is.
//! - `talk`: what it reads and writes.
//! - `answer`: what its output and its exit status mean.

mod answer;
mod arguments;
mod error;
mod program;
mod talk;

pub use error::CommandError;

use agent_spaces_mcp::StdioEndpoint;
use agent_spaces_mcp::process::Child;
use agent_spaces_mcp::secrets::Secret;
use capability_gen::implementation::CommandTemplate;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;
use talk::Said;

/// How long a program that is told to end may take before it is killed. A call that took too long is not held up much
/// longer.
const GRACE: Duration = Duration::from_millis(500);

/// A program that is started for each call.
#[derive(Clone, Debug)]
pub struct Command {
    template: CommandTemplate,
    folder: PathBuf,
    env: BTreeMap<String, Secret>,
    time: Duration,
}

impl Command {
    /// A program whose paths are relative to `folder`. Of `env` it is given what its template names; a call may take as
    /// long as its template says, and at most `time`.
    pub fn new(template: CommandTemplate, folder: &Path, env: &BTreeMap<String, Secret>, time: Duration) -> Command {
        let wanted = env.iter().filter(|(name, _)| template.env.contains(name));
        let env = wanted.map(|(name, value)| (name.clone(), value.clone())).collect();
        let own = template.timeout_ms.map_or(time, Duration::from_millis);
        Command { folder: folder.to_owned(), env, time: own.min(time), template }
    }

    /// Starts the program for one call and waits for its end. Dropping the future ends the program. Must be called
    /// within a tokio runtime.
    ///
    /// # Errors
    ///
    /// Why there is no value.
    pub async fn call(&self, params: &Value) -> Result<Value, CommandError> {
        let args = arguments::fill(&self.template.args, params)?;
        let input = talk::input(self.template.stdin.as_ref(), params)?;
        let endpoint = StdioEndpoint {
            program: program::find(&self.template.program, &self.folder)?,
            args: args.into_iter().map(Secret::new).collect(),
            env: self.env.clone(),
            cwd: Some(self.template.cwd.as_ref().map_or_else(|| self.folder.clone(), |cwd| self.folder.join(cwd))),
        };
        let mut child = Child::start(&endpoint, GRACE).map_err(|error| CommandError::Start(error.to_string()))?;
        let said = match tokio::time::timeout(self.time, talk::with(&mut child, input)).await {
            Ok(Ok(said)) => said,
            Ok(Err(error)) => return Err(end(child, error).await),
            Err(_) => return Err(end(child, CommandError::Timeout { after: self.time }).await),
        };
        let Said { stdout, stderr } = said;
        answer::read(&self.template, &child, stdout, stderr)
    }
}

/// Ends a program that does not end by itself, with all that it started.
async fn end(mut child: Child, error: CommandError) -> CommandError {
    child.close(Duration::ZERO).await;
    error
}
