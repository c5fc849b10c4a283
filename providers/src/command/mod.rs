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
pub use program::{is_runnable, on_path};

use agent_spaces_mcp::StdioEndpoint;
use agent_spaces_mcp::process::Child;
use agent_spaces_mcp::secrets::{Redactor, Secret};
use capability_gen::implementation::CommandTemplate;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use talk::Said;
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// How long a program that is told to end may take before it is killed. A call that took too long is not held up much
/// longer.
const GRACE: Duration = Duration::from_millis(500);

/// Programs of one module that run at once. Each may hold its whole output in memory; more than this wait, which counts
/// towards their time.
const MAX_CONCURRENT: usize = 16;

/// What the programs of one module have in common; clones are one.
#[derive(Clone, Debug)]
pub struct Commands {
    folder: PathBuf,
    env: BTreeMap<String, Secret>,
    time: Duration,
    redactor: Redactor,
    slots: Arc<Semaphore>,
}

impl Commands {
    /// Programs whose paths are relative to `folder`, and whose calls take at most `time`. They are given what they name
    /// of `env`; what they say is shown without the secrets that the redactor knows.
    pub fn new(folder: &Path, env: &BTreeMap<String, Secret>, time: Duration, redactor: &Redactor) -> Commands {
        let slots = Arc::new(Semaphore::new(MAX_CONCURRENT));
        Commands { folder: folder.to_owned(), env: env.clone(), time, redactor: redactor.clone(), slots }
    }

    /// One of them. A call of it may take as long as its template says.
    pub fn command(&self, template: CommandTemplate) -> Command {
        let wanted = self.env.iter().filter(|(name, _)| template.env.contains(name));
        let env = wanted.map(|(name, value)| (name.clone(), value.clone())).collect();
        let time = template.timeout_ms.map_or(self.time, Duration::from_millis).min(self.time);
        Command { template, env, time, shared: self.clone() }
    }
}

/// A program that is started for each call.
#[derive(Clone, Debug)]
pub struct Command {
    template: CommandTemplate,
    env: BTreeMap<String, Secret>,
    time: Duration,
    shared: Commands,
}

impl Command {
    /// Starts the program for one call and waits for its end. Dropping the future ends the program. Must be called
    /// within a tokio runtime.
    ///
    /// # Errors
    ///
    /// Why there is no value.
    pub async fn call(&self, params: &Value) -> Result<Value, CommandError> {
        let begun = Instant::now();
        let args = arguments::fill(&self.template.args, params)?;
        let input = talk::input(self.template.stdin.as_ref(), params)?;
        let folder = &self.shared.folder;
        let endpoint = StdioEndpoint {
            program: program::find(&self.template.program, folder)?,
            args: args.into_iter().map(Secret::new).collect(),
            env: self.env.clone(),
            cwd: Some(self.template.cwd.as_ref().map_or_else(|| folder.clone(), |cwd| folder.join(cwd))),
            confine: None,
        };
        // The semaphore is never closed, so that only time can run out.
        let slot = timeout(self.time, self.shared.slots.acquire()).await;
        let _slot = slot.map_err(|_| CommandError::Busy { after: self.time })?;
        let mut child = Child::start(&endpoint, GRACE).map_err(|error| CommandError::Start(error.to_string()))?;
        let left = self.time.saturating_sub(begun.elapsed());
        let said = match timeout(left, talk::with(&mut child, input)).await {
            Ok(Ok(said)) => said,
            Ok(Err(error)) => return Err(end(child, error).await),
            Err(_) => return Err(end(child, CommandError::Timeout { after: self.time }).await),
        };
        let Said { stdout, stderr } = said;
        answer::read(&self.template, &child, stdout, stderr, &self.shared.redactor)
    }
}

/// Ends a program that does not end by itself, with all that it started.
async fn end(mut child: Child, error: CommandError) -> CommandError {
    child.close(Duration::ZERO).await;
    error
}
