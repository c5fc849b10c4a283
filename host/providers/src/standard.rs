//! Standard library, `@agent-spaces/std`: the interfaces of `wit/std.wit`, implemented by the crate `agent-spaces-std`.

use agent_spaces_calls::blocking_pool::MAX_INLINE_BYTES;
use agent_spaces_calls::call::Call;
use agent_spaces_calls::handlers::Handlers;
use agent_spaces_linker::interfaces::Interfaces;
use agent_spaces_policy::{NetworkPolicy, Policy};
use agent_spaces_protected_paths::{Access, closed_folder};
use agent_spaces_sandbox::error::HostError;
use agent_spaces_space::extension::Extension;
use agent_spaces_std::fs::Files;
use agent_spaces_std::http::Client;
use agent_spaces_std::{StdError, crypto, csv, json, time};
use agent_spaces_types::capability_error::{Answer, CapabilityError};
use agent_spaces_types::code::Code;
use agent_spaces_types::json_memory::{self, Account};
use agent_spaces_types::standard::HTTP;
use serde_json::Value;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Standard library of one space.
#[derive(Clone)]
pub struct StandardLibrary {
    files: Option<Arc<Files>>,
    client: Arc<Client>,
}

impl StandardLibrary {
    /// Creates a library within a policy. `workspace` is the folder of `fs`; without one `fs` has no files, and a
    /// protected folder is refused. `counts` is the folder in which processes share the usage of workspaces; without one,
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

    /// Creates a library without files, for sandboxed providers.
    pub fn with_network(network: NetworkPolicy) -> StandardLibrary {
        StandardLibrary { files: None, client: Arc::new(Client::new(network)) }
    }
}

impl Extension for StandardLibrary {
    fn add_to(self, interfaces: &mut Interfaces, handlers: &mut Handlers) -> Result<(), HostError> {
        interfaces.add_standard()?;
        let StandardLibrary { files, client } = self;
        handlers.add_interface("agent-spaces:std/fs@1.0.0", move |call: Call| {
            let files = files.clone();
            async move {
                match files {
                    Some(files) => given(files.call(&call.function, call.params).await),
                    None => Err(CapabilityError::new(Code::CallDenied, "This space has no workspace: fs has no files")),
                }
            }
        });
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

/// Function that computes without I/O.
type Computing = fn(&str, Value, &mut dyn Account) -> agent_spaces_std::Answer;

/// Answers a call by computing: inline, or on a blocking thread if its parameters are large. Its memory counts against the
/// run, and it stops when the call is dropped.
async fn compute(call: Call, function: Computing) -> Answer {
    let Call { function: name, params, memory, blocking_pool, .. } = call;
    memory.count_answer();
    if json_memory::size(&params, MAX_INLINE_BYTES) < MAX_INLINE_BYTES {
        return given(function(&name, params, &mut memory.account(&|| false)));
    }
    let work = blocking_pool.run(move |stop| function(&name, params, &mut memory.account(&|| stop.is_set())));
    given(work.await?)
}

fn given(answer: agent_spaces_std::Answer) -> Answer {
    answer.map_err(|StdError { code, message, retryable, details, .. }| CapabilityError {
        code: code.into(),
        message,
        retryable,
        details,
    })
}
