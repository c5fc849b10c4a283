//! `@agent-spaces/std`: the interfaces of `wit/std.wit`, answered by the crate `agent-spaces-std`.

use crate::closed_folder;
use crate::error::HostError;
use crate::handlers::{Answer, Call, CapabilityError, Handlers};
use crate::interfaces::Interfaces;
use crate::off_thread::MAX_INLINE_BYTES;
use crate::pipeline::STANDARD;
use agent_spaces_policy::{NetworkPolicy, Policy};
use agent_spaces_std::fs::Files;
use agent_spaces_std::http::Client;
use agent_spaces_std::protected::Access;
use agent_spaces_std::{StdError, crypto, csv, json, time};
use capability_gen::json_memory::{self, Account};
use serde_json::Value;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What scripts import the standard library from.
pub const SPECIFIER: &str = "@agent-spaces/std";

/// What the global `fetch` is made of.
pub(crate) const HTTP: &str = "agent-spaces:std/http@1.0.0";

pub(crate) const WIT: &str = include_str!("../../wit/std.wit");

/// Whether an interface is this part of it: `fs`.
pub(crate) fn is_part(interface: &str, part: &str) -> bool {
    let name = interface.strip_prefix(STANDARD).and_then(|name| name.split('@').next());
    name == Some(part)
}

/// The standard library of one space.
#[derive(Clone)]
pub struct StandardLibrary {
    files: Option<Arc<Files>>,
    client: Arc<Client>,
}

impl StandardLibrary {
    /// Within what a policy allows. `workspace` is the folder that `fs` sees; without one it sees nothing, and one that is
    /// closed to scripts is refused. `counts` is the folder in which processes count what workspaces hold; without one,
    /// each library counts for itself.
    pub fn new(policy: &Policy, workspace: Option<&Path>, counts: Option<PathBuf>) -> io::Result<StandardLibrary> {
        let open = |folder: &Path| {
            let real = folder.canonicalize()?;
            closed_folder::check(&real, Access::Write, &[])
                .map_err(|closed| io::Error::new(io::ErrorKind::PermissionDenied, closed.to_string()))?;
            Files::open(&real, *policy.files(), counts)
        };
        let files = workspace.map(open).transpose()?;
        Ok(StandardLibrary { files: files.map(Arc::new), client: Arc::new(Client::new(policy.network().clone())) })
    }

    /// Without files, for what answers a module.
    pub(crate) fn with_network(network: NetworkPolicy) -> StandardLibrary {
        StandardLibrary { files: None, client: Arc::new(Client::new(network)) }
    }

    /// Adds it to what a space has.
    pub fn add_to(&self, interfaces: &mut Interfaces, handlers: &mut Handlers) -> Result<(), HostError> {
        interfaces.add_standard()?;
        let files = self.files.clone();
        handlers.add_interface("agent-spaces:std/fs@1.0.0", move |call: Call| {
            let files = files.clone();
            async move {
                match files {
                    Some(files) => given(files.call(&call.function, call.params).await),
                    None => Err(CapabilityError::new("call.denied", "This space has no workspace: fs has no files")),
                }
            }
        });
        let client = self.client.clone();
        handlers.add_interface(HTTP, move |call: Call| {
            let client = client.clone();
            async move { given(client.call(&call.function, call.params).await) }
        });
        handlers.add_interface("agent-spaces:std/json@1.0.0", |call: Call| compute(call, json::call));
        handlers.add_interface("agent-spaces:std/csv@1.0.0", |call: Call| compute(call, csv::call));
        handlers.add_interface("agent-spaces:std/crypto@1.0.0", |call: Call| compute(call, crypto::call));
        handlers.add_interface("agent-spaces:std/time@1.0.0", |call: Call| async move {
            given(time::call(&call.function, call.params).await)
        });
        Ok(())
    }
}

/// A function that only computes.
type Computing = fn(&str, Value, &mut dyn Account) -> agent_spaces_std::Answer;

/// Answers a call by computing: at once, or away from the threads that serve where its parameters are large. What it
/// makes is the run's memory, and it ends with the call.
async fn compute(call: Call, function: Computing) -> Answer {
    let Call { function: name, params, memory, turns, .. } = call;
    memory.count_answer();
    if json_memory::size(&params, MAX_INLINE_BYTES) < MAX_INLINE_BYTES {
        return given(function(&name, params, &mut memory.account(&|| false)));
    }
    let work = turns.off_thread(move |stop| function(&name, params, &mut memory.account(&|| stop.is_set())));
    given(work.await?)
}

fn given(answer: agent_spaces_std::Answer) -> Answer {
    answer.map_err(|StdError { code, message, retryable, details, .. }| CapabilityError {
        code: code.to_owned(),
        message,
        retryable,
        details,
    })
}
