//! Agent Spaces: a WebAssembly component sandbox host for code that AI agents write.
//!
//! A script runs as JavaScript inside a Wasm component that was linked for exactly the interfaces it
//! imports, calls them as async functions, and cannot exceed its [`Limits`].
//!
//! # Layout
//! - [`Engine`]: the compiled JavaScript engine; one to a process.
//! - [`Interfaces`], [`Handlers`]: WIT interfaces, and the closures that answer them.
//! - [`Capability`]: both from closures over the host's own types.
//! - [`Space`]: both together; makes scripts into [`Program`]s and runs them.
//! - `absent`: what sandboxes do not have, and what to use instead.
//! - `script`, `resolve`: from TypeScript to what the engine runs, with all that it imports.
//! - `npm`: the npm packages that handlers import.
//! - `closed_folder`: folders that scripts neither import from nor work in.
//! - `plain_file`: files of folders that handlers and scripts read from.
//! - `private_folder`: folders that are their user's alone.
//! - `binding`: the component for one set of interfaces.
//! - `sandbox`, `services`: that component, linked; `sandbox_cache`: once for all scripts that import the same.
//! - `run`, `limits`, [`Event`]: one execution, its caps, and what happens in it.
//! - `off_thread`: work on large values, away from the threads that serve.
//! - [`audit()`]: what a component can reach.
//! - [`compile()`]: a script as a component of its own.
//! - [`project`], [`config`]: definitions in files, the spaces that they are given to, and bundles for editors.
//! - [`confinement`]: what MCP servers, and the commands that start them, may reach where they are confined.
//! - [`mcp`]: MCP servers as providers, over the crate `agent-spaces-mcp`.
//! - [`trust`]: which files of projects their users accepted.
//! - [`Package`]: a compiled module of capabilities, made when a script first imports it.
//! - `pipeline`: what a call passes on its way to its provider and back: [`Grants`], [`policy`], [`Approvals`] and more.
//! - [`StandardLibrary`]: what scripts import as `@agent-spaces/std`.
//! - [`Manifest`], [`AuditTrail`], [`Accounting`]: what a script can reach, and what it did.
//! - [`TypedCall`]: a call that the host makes itself.
//! - `providers`: what can stand behind a capability.
//! - `values`: between WIT types and JSON.

mod absent;
mod accounting;
#[cfg(feature = "compiler")]
mod audit;
mod audit_trail;
#[cfg(feature = "compiler")]
mod binding;
#[cfg(feature = "compiler")]
mod closed_folder;
#[cfg(feature = "compiler")]
mod compile;
mod concurrency;
#[cfg(feature = "compiler")]
pub mod config;
#[cfg(feature = "compiler")]
pub mod confinement;
mod engine;
mod error;
mod error_report;
mod events;
#[cfg(feature = "compiler")]
mod file_lock;
mod handlers;
#[cfg(all(feature = "compiler", any(test, feature = "hostile-guest")))]
mod hostile_guest;
#[cfg(feature = "compiler")]
mod import_set;
#[cfg(feature = "compiler")]
mod interfaces;
mod limits;
#[cfg(feature = "compiler")]
mod manifest;
#[cfg(feature = "compiler")]
pub mod mcp;
mod modules;
#[cfg(feature = "compiler")]
mod npm;
mod off_thread;
#[cfg(feature = "compiler")]
mod package;
mod pipeline;
#[cfg(feature = "compiler")]
mod plain_file;
mod private_folder;
mod program;
#[cfg(feature = "compiler")]
pub mod project;
mod providers;
mod redaction;
#[cfg(feature = "compiler")]
mod resolve;
mod run;
mod run_id;
mod sandbox;
#[cfg(feature = "compiler")]
mod sandbox_cache;
pub mod script;
#[cfg(feature = "compiler")]
pub mod serve;
mod services;
#[cfg(feature = "compiler")]
mod snapshot;
#[cfg(feature = "compiler")]
mod space;
#[cfg(feature = "compiler")]
mod standard;
#[cfg(feature = "compiler")]
pub mod trust;
#[cfg(feature = "compiler")]
mod typed_call;
mod usage;
mod values;
#[cfg(feature = "compiler")]
mod workspace;

pub use accounting::Accounting;
pub use agent_spaces_approvals as approvals;
pub use agent_spaces_policy as policy;
#[cfg(feature = "compiler")]
pub use audit::{Audit, AuditError, AuditedInterface, AuditedModule, audit};
pub use audit_trail::{AuditBudget, AuditHandle, AuditMode, AuditTrail};
pub use capability_gen::identity::FunctionId;
pub use capability_gen::server::ServerPart;
pub use capability_gen::shown::Shown;
#[cfg(feature = "compiler")]
pub use compile::{Compiled, Target, compile};
pub use concurrency::{ConcurrencyLimiter, ConcurrencyPlace, DEFAULT_CONCURRENCY};
#[cfg(feature = "compiler")]
pub use engine::{Cache, CacheError};
pub use engine::{ENGINE_SHA256, ENGINE_VERSION, ENGINE_WASM, Engine, EngineConfig, Origin};
pub use error::{HostError, PrepareError};
pub use error_report::{Cause, Location, RunError};
pub use events::{CallProgress, ConsoleLevel, Event, EventKind, Observer};
pub use handlers::{Answer, Call, CapabilityError, Handlers};
#[cfg(all(feature = "compiler", any(test, feature = "hostile-guest")))]
#[doc(hidden)]
pub use hostile_guest::HostileGuest;
#[cfg(feature = "compiler")]
pub use interfaces::Interfaces;
pub use limits::{Limit, Limits, RunMemory};
#[cfg(feature = "compiler")]
pub use manifest::{Manifest, ManifestFunction, ManifestInterface, ManifestProvider};
pub use modules::{Binding, ModuleSource};
#[cfg(feature = "compiler")]
pub use npm::Packages;
#[cfg(feature = "compiler")]
pub use package::{Package, PackageInterface, PackageOutline};
#[cfg(feature = "compiler")]
pub use pipeline::Histories;
pub use pipeline::{Approvals, Grants, Operator, ResultObserver};
pub use program::{Program, ProgramCall};
pub use providers::{Answering, Asking, GettingReady, Provider, ProviderKind};
#[cfg(feature = "compiler")]
pub use providers::{Capability, NativeFunction};
pub use run::{Caller, CancelHandle, ConsoleLine, ParentCall, Run, RunOptions, RunReport, RunScope, RunStatus};
pub use sandbox::Sandbox;
#[cfg(feature = "compiler")]
pub use schemars;
#[cfg(feature = "compiler")]
pub use space::Space;
#[cfg(feature = "compiler")]
pub use standard::{SPECIFIER as STANDARD_LIBRARY, StandardLibrary};
#[cfg(feature = "compiler")]
pub use typed_call::TypedCall;
pub use usage::Usage;
#[cfg(feature = "compiler")]
pub use workspace::Workspace;
