//! Agent Spaces: a WebAssembly component sandbox host for code that AI agents write.
//!
//! A script runs as JavaScript inside a Wasm component that was linked for exactly the interfaces it imports, calls
//! them as async functions, and cannot exceed its [`Limits`].
//!
//! Façade crate to embed Agent Spaces: it re-exports the crates in `host/` and has no code of its own. The command
//! `agent-spaces` is in `host/cli`. `examples/` has complete hosts: `smallest.rs`, `state.rs`, `provider_and_policy.rs`.
//!
//! # Features
//! - `project` (default): [`project`], [`trust`], [`mcp`], [`confinement`]. Without it there is no MCP client.
//! - `durable` (with `project`): [`durable`], [`journal`].
//! - `serve` (default): [`serve`], [`http_server`]. Needs `project`.
//! - `rest` (default): [`rest`]. Needs `serve`.
//! - `console` (default): [`console`]. Needs `rest`.
//! - `models` (with `agent`): [`models`].
//! - `agent` (default): [`agent`]. Needs `serve`.
//! - `surfaces` (default): [`surfaces`]. Needs `agent`.
//!
//! # Layout
//! - [`Engine`]: the compiled JavaScript engine; one per process.
//! - [`Capability`]: functions as closures over Rust types of the host. [`Interfaces`], [`Handlers`]: WIT interfaces, and
//!   the closures that implement them. [`Extension`]: the trait of what adds both to a space.
//! - [`Space`], made by a [`SpaceBuilder`]: prepares scripts as [`Program`]s, which run. [`Grants`], [`policy`],
//!   [`Approvals`], [`approvals`]: which calls they may make.
//! - [`RunOptions`], [`Limits`], [`CancellationToken`]: inputs of a run. [`Event`], [`RunReport`], [`RunError`]: its
//!   outputs.
//! - [`Manifest`]: the functions that a script can call. [`AuditTrail`], [`Accounting`]: logs of calls;
//!   [`OPERATOR_TARGET`]: their warnings.
//! - [`Provider`]: implementation of a capability. [`StandardLibrary`]: `@agent-spaces/std`. [`Agents`]: what answers
//!   `@capabilities/agents`.
//! - [`compile()`]: compiles a script into a standalone component. [`audit()`]: lists the imports of a component.
//! - [`project`], [`config`], [`trust`], [`mcp`], [`confinement`]: definitions, configurations and MCP servers on disk.
//! - [`serve`]: the MCP server in front of a space. [`http_server`]: the HTTP server whose routes it has.
//! - [`rest`]: the REST API, other routes of that server. [`console`]: the page that shows what it has.
//! - [`durable`]: runs that outlive their process; [`journal`]: the store that keeps them.
//! - [`models`]: language models over HTTP. [`agent`]: agents, whose tools are a space.
//!   [`surfaces`]: agents over HTTP, more routes of the server.
//! - [`script`]: TypeScript to JavaScript.

#[cfg(feature = "agent")]
pub use agent_spaces_agent as agent;
pub use agent_spaces_approvals as approvals;
pub use agent_spaces_calls::call::Call;
pub use agent_spaces_calls::events::{CallProgress, Observer};
pub use agent_spaces_calls::handlers::Handlers;
pub use agent_spaces_calls::host_memory::RunMemory;
pub use agent_spaces_calls::operator_notices::Operator;
pub use agent_spaces_calls::parent::ParentCall;
pub use agent_spaces_calls::provider::{Answering, Asking, GettingReady, Provider};
pub use agent_spaces_calls::scope::RunScope;
pub use agent_spaces_config as config;
#[cfg(feature = "console")]
pub use agent_spaces_console as console;
#[cfg(feature = "durable")]
pub use agent_spaces_durable as durable;
#[cfg(feature = "serve")]
pub use agent_spaces_http_server as http_server;
#[cfg(feature = "durable")]
pub use agent_spaces_journal as journal;
pub use agent_spaces_linker::audit::{Audit, AuditError, AuditedInterface, AuditedModule, audit};
pub use agent_spaces_linker::code_cache::{Cache, CacheError};
pub use agent_spaces_linker::compile::{Compiled, Target, compile};
pub use agent_spaces_linker::interfaces::Interfaces;
pub use agent_spaces_linker::npm::Packages;
pub use agent_spaces_linker::package::{Package, PackageInterface, PackageOutline};
pub use agent_spaces_linker::workspace::Workspace;
#[cfg(feature = "models")]
pub use agent_spaces_models as models;
pub use agent_spaces_pipeline::accounting::Accounting;
pub use agent_spaces_pipeline::audit_trail::{AuditBudget, AuditHandle, AuditMode, AuditTrail};
pub use agent_spaces_pipeline::{Approvals, Grants, Histories, OPERATOR_TARGET, ResultObserver};
pub use agent_spaces_policy as policy;
#[cfg(feature = "project")]
pub use agent_spaces_project as project;
#[cfg(feature = "project")]
pub use agent_spaces_project::{confinement, mcp, trust};
pub use agent_spaces_providers::standard::StandardLibrary;
pub use agent_spaces_providers::{AgentQuestion, Agents, Capability, NativeFunction};
#[cfg(feature = "rest")]
pub use agent_spaces_rest as rest;
pub use agent_spaces_sandbox::engine::{
    CodeCache, ENGINE_SHA256, ENGINE_VERSION, ENGINE_WASM, Engine, EngineConfig, Origin, WASMTIME_VERSION,
};
pub use agent_spaces_sandbox::error::{HostError, PrepareError};
pub use agent_spaces_sandbox::modules::{Binding, ModuleSource};
pub use agent_spaces_sandbox::program::Program;
pub use agent_spaces_sandbox::run::{Run, RunOptions, RunReport, RunStatus};
pub use agent_spaces_sandbox::sandbox::Sandbox;
pub use agent_spaces_script as script;
#[cfg(feature = "serve")]
pub use agent_spaces_serve as serve;
#[cfg(feature = "serve")]
pub use agent_spaces_serve::concurrency::{ConcurrencyLimiter, ConcurrencyPermit, DEFAULT_CONCURRENCY};
pub use agent_spaces_space::builder::SpaceBuilder;
pub use agent_spaces_space::extension::Extension;
pub use agent_spaces_space::manifest::{Manifest, ManifestFunction, ManifestInterface, ManifestProvider};
pub use agent_spaces_space::space::Space;
pub use agent_spaces_space::typed_call::TypedCall;
pub use agent_spaces_std::fs::Files;
#[cfg(feature = "surfaces")]
pub use agent_spaces_surfaces as surfaces;
pub use agent_spaces_types::call_site::ProgramCall;
pub use agent_spaces_types::caller::Caller;
pub use agent_spaces_types::capability_error::{Answer, CapabilityError, NO_APPROVER};
pub use agent_spaces_types::code::Code;
pub use agent_spaces_types::event::{ConsoleLevel, ConsoleLine, Event, EventKind};
pub use agent_spaces_types::identity::FunctionId;
pub use agent_spaces_types::limits::{Limit, Limits};
pub use agent_spaces_types::provider_kind::ProviderKind;
pub use agent_spaces_types::run_error::{Cause, Location, RunError};
pub use agent_spaces_types::server_part::ServerPart;
pub use agent_spaces_types::shown::Shown;
pub use agent_spaces_types::standard::SPECIFIER as STANDARD_LIBRARY;
pub use agent_spaces_types::usage::Usage;
pub use schemars;
pub use tokio_util::sync::CancellationToken;
