//! Command provider: a program started for each call.
//!
//! No shell is involved: each argument arrives as it was filled in. The program runs in its own process group, under a
//! supervisor if the host has one, with its own environment, a timeout and bounded output. No process is left when a
//! call ends, is dropped, or the host dies.
//!
//! - `arguments`: command-line arguments from templates and parameters.
//! - `program`: lookup of the executable.
//! - `stdio`: standard input, output and error.
//! - `answer`: interpretation of output and exit status.

mod answer;
mod arguments;
mod error;
mod program;
pub mod provider;
mod stdio;

pub use error::CommandError;
pub use program::{is_runnable, on_path};

use agent_spaces_process::{Child, ProcessSpec};
use agent_spaces_secrets::{Redactor, Secret};
use capability_gen::implementation::CommandTemplate;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use stdio::Captured;
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// Grace period between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_millis(500);

/// Most concurrent programs of one module. Each may hold its whole output in memory; more wait, which counts towards
/// their timeout.
const MAX_CONCURRENT: usize = 16;

/// Shared settings of one module's programs. Clones share state.
#[derive(Clone, Debug)]
pub struct Commands {
    folder: PathBuf,
    env: BTreeMap<String, Secret>,
    time: Duration,
    redactor: Redactor,
    slots: Arc<Semaphore>,
}

impl Commands {
    /// Programs with paths relative to `folder` and this timeout. They get the variables of `env` that they name; the
    /// redactor removes secrets from their output.
    pub fn new(folder: &Path, env: &BTreeMap<String, Secret>, time: Duration, redactor: &Redactor) -> Commands {
        let slots = Arc::new(Semaphore::new(MAX_CONCURRENT));
        Commands { folder: folder.to_owned(), env: env.clone(), time, redactor: redactor.clone(), slots }
    }

    /// Returns one command. Its template may set another timeout.
    pub fn command(&self, template: CommandTemplate) -> Command {
        let wanted = self.env.iter().filter(|(name, _)| template.env.contains(name));
        let env = wanted.map(|(name, value)| (name.clone(), value.clone())).collect();
        let time = template.timeout_ms.map_or(self.time, Duration::from_millis).min(self.time);
        Command { template, env, time, shared: self.clone() }
    }
}

/// Program started for each call.
#[derive(Clone, Debug)]
pub struct Command {
    template: CommandTemplate,
    env: BTreeMap<String, Secret>,
    time: Duration,
    shared: Commands,
}

impl Command {
    /// Runs the program for one call. Dropping the future terminates it. Must be called within a tokio runtime.
    ///
    /// # Errors
    ///
    /// See [`CommandError`].
    pub async fn call(&self, params: &Value) -> Result<Value, CommandError> {
        let begun = Instant::now();
        let args = arguments::fill(&self.template.args, params)?;
        let input = stdio::input(self.template.stdin.as_ref(), params)?;
        let folder = &self.shared.folder;
        let endpoint = ProcessSpec {
            program: program::find(&self.template.program, folder)?,
            args: args.into_iter().map(Secret::new).collect(),
            env: self.env.clone(),
            cwd: Some(self.template.cwd.as_ref().map_or_else(|| folder.clone(), |cwd| folder.join(cwd))),
            confine: None,
        };
        // The semaphore is never closed, so acquiring can only time out.
        let slot = timeout(self.time, self.shared.slots.acquire()).await;
        let _slot = slot.map_err(|_| CommandError::Busy { after: self.time })?;
        let mut child = Child::start(&endpoint, GRACE).map_err(|error| CommandError::Start(error.to_string()))?;
        let left = self.time.saturating_sub(begun.elapsed());
        let captured = match timeout(left, stdio::exchange(&mut child, input)).await {
            Ok(Ok(captured)) => captured,
            Ok(Err(error)) => return Err(end(child, error).await),
            Err(_) => return Err(end(child, CommandError::Timeout { after: self.time }).await),
        };
        let Captured { stdout, stderr } = captured;
        answer::read(&self.template, &child, stdout, stderr, &self.shared.redactor)
    }
}

/// Terminates a program and its descendants.
async fn end(mut child: Child, error: CommandError) -> CommandError {
    child.close(Duration::ZERO).await;
    error
}
