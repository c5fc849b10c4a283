//! Call pipeline: every policy rule, for every caller and kind of provider.

mod accounting;
mod approval;
mod argument_constraints;
mod argument_types;
mod call_limits;
mod events;
mod hidden_functions;
mod identity;
mod middleware;
mod names;
mod order;
mod presets;
mod property;
mod rate_limits;
mod redaction;
mod reference_model;
mod refusal_messages;
mod retries;
mod rig;
mod rule_precedence;
