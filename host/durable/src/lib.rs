//! Durable runs: they survive their host, leave memory while they wait, and replay exactly.
//!
//! A run is a function of its program, engine, limits, seed, and the answers that reach it. The journal keeps all of
//! it. To continue a run, another host executes the script again: recorded answers come from the journal in their
//! recorded order, and every step of the script is compared with the record. Fuel at each call is a checksum of all
//! that came before. When the recorded part is over, the run goes on.
//!
//! # Layout
//! - [`runs`]: starts and continues runs; [`worker`]: continues those of a space whose wait is over
//! - [`verify`](mod@verify): replays a run offline; [`compare`](mod@compare): replays a changed script against a run's answers
//! - [`findings`]: what either finds, as JSON and as text
//! - [`find`](mod@find), [`details`](mod@details), [`source`](mod@source): looks up runs; [`control`]: ends them, and answers for their calls in doubt
//! - `log`: the journal of a run while it is executed; `waits`: calls and timers that its script waits for
//! - [`record`], [`header`], [`recorded_call`]: records of a journal; [`stored`], `scan`: reading of runs from the store
//! - [`replay`]: the recorded part of a run; `step`, `recorded_event`: steps of its script
//! - [`doubt`]: calls whose effect is unknown
//! - [`channel`]: approvals that are decided in the store; [`host_key`], [`shared_approver`]: keys that hosts of a store share
//! - `follower`, `delivery_order`: the journal of a changed script
//! - `content`: programs and engines in the store; `engines`: engines of older programs
//! - `heartbeat`: lease of an executed run
//! - `seeded_random`: random numbers of a run
//! - [`settings`], [`error`]

pub mod channel;
pub mod compare;
mod content;
pub mod control;
mod delivery_order;
pub mod details;
pub mod doubt;
mod engines;
pub mod error;
pub mod find;
pub mod findings;
mod follower;
pub mod header;
mod heartbeat;
pub mod host_key;
mod log;
pub mod record;
pub mod recorded_call;
mod recorded_event;
pub mod replay;
pub mod runs;
mod scan;
mod seeded_random;
pub mod settings;
pub mod shared_approver;
pub mod source;
mod step;
pub mod stored;
pub mod verify;
mod waits;
pub mod worker;

pub use doubt::DoubtAnswer;
pub use error::DurableError;
pub use runs::{DurableReport, DurableRuns, RunInfo, State};
pub use settings::{InDoubt, Settings};
pub use worker::{Resuming, Spaces, Worker, WorkerSettings};
