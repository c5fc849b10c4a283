//! The engine: Javy's QuickJS as the guest of any WIT world.
//!
//! It is built once for WASI, packed (see `pack/`), and checked in. The host instantiates it beside
//! a small *binding* module, made by `wit-dylib` for one set of interfaces, which does the canonical
//! ABI. The two meet in the `wit_dylib_*` functions of [`abi`]: the binding hands over its types at
//! instantiation, calls in to convert values, and is called through the table to reach the host.
//!
//! # Layout
//! - [`abi`]: the C interface to the binding: its metadata and the push/pop stack machine.
//! - [`values`]: JavaScript values to WIT trees and JSON, with paths in every refusal.
//! - [`js`]: an owned JavaScript value over the one context; the only place that counts references.
//! - [`classes`]: what kind of built-in an object is.
//! - [`call`]: a call of an imported function, from arguments to promise.
//! - [`refusals`]: calls that are refused for their arguments; [`subtasks`]: calls that are under way.
//! - [`task`]: the life of one run: evaluate, wait, finish; [`provided`]: what answers a capability's function.
//! - [`compiled`]: a script that is compiled, here or in another instance.
//! - [`snapshot`]: what an engine has become, for others to begin with.
//! - [`modules`]: what `import` finds; [`namespace`]: the objects that capability modules export.
//! - [`timers`], [`host`], [`globals`]: what scripts find in `globalThis`, and where it comes from.
//! - [`zones`]: time zones, for `Intl`.
//! - [`heap`]: where every allocation comes from.
//! - [`errors`]: what was thrown, in words a person or a model can act on; [`stacks`] and [`frames`]:
//!   where; [`causes`]: why.
//! - [`wasi`]: the few preview1 functions that libc wants, answered here.
//!
//! There is one context, one thread and one run to an instance; [`engine`] holds all of it.

mod abi;
mod call;
mod causes;
mod classes;
mod compiled;
mod engine;
mod errors;
mod frames;
mod globals;
mod heap;
mod host;
mod js;
mod modules;
mod namespace;
mod provided;
mod refusals;
mod snapshot;
mod stacks;
mod subtasks;
mod task;
mod timers;
mod values;
mod wasi;
mod zones;
