//! Call pipeline: every policy rule, for every caller and kind of provider.

mod accounts;
mod approval;
mod arguments;
mod counts;
mod decisions;
mod events;
mod identity;
mod misfits;
mod model;
mod names;
mod order;
mod presets;
mod property;
mod provider;
mod rates;
mod repetitions;
mod rig;
mod secrets;
mod silence;
mod unseen;
