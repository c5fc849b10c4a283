//! Every whole-system test that can share a process, and so an engine.

mod cancel;
mod compiled;
mod concurrency;
mod config_schema;
mod engine;
mod events;
mod globals;
mod hostile;
mod law;
mod limits;
mod links;
mod native;
mod packages;
mod pipeline;
mod positions;
mod precompiled;
mod refusals;
mod roundtrip;
mod sandbox;
mod scripts;
mod seeds;
mod server_parts;
mod spaces;
mod tampering;
mod typescript;
mod workspace;
