//! Approvals end to end: the command in real processes, at real terminals, with real files in its store.
//!
//! Each test has its own home and decides as a user at a terminal (`support::TerminalUser`), as another program
//! (`support::PipedRun`), or with another command. Undecided calls are denied, so a test that expects an approval fails
//! without one, and a test that expects a refusal has a counterpart that is approved.

mod approval_required;
mod approval_scope;
mod approval_state_access;
mod decisions;
mod event;
mod examples;
mod forged_files;
mod mcp_call;
mod pending_limit;
mod secrets;
mod self_approval;
pub(crate) mod store;
pub(crate) mod support;
mod terminal_output;
mod timeouts;
mod trust_prompt;
