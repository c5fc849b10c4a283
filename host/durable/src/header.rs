//! Header of a run's journal: the inputs that determine the run, except the answers to its calls.

use agent_spaces_calls::journal::RunJournal;
use agent_spaces_sandbox::imports::Hidden;
use agent_spaces_sandbox::run::RunOptions;
use agent_spaces_types::caller::Caller;
use agent_spaces_types::limits::Limits;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Newest version of the journal's records: that of runs whose documents are stored apart from their program.
pub const FORMAT: u32 = 2;
/// Version of the records of runs without such documents, which earlier programs read.
pub(crate) const FORMAT_WITHOUT_GIVEN: u32 = 1;

/// First record of a journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Header {
    /// Version of the records.
    pub format: u32,
    /// Version of the program that started the run.
    pub version: String,
    /// File name of the script.
    pub script: String,
    /// Hash of the program image: script, modules, component.
    pub program: String,
    /// Hash of the documents that the run was given, such as its input, if they are not in the image.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given: Option<String>,
    /// Hash of the engine's Wasm, as content of the store.
    pub engine: String,
    /// SHA-256 of the engine's Wasm, as the program that has it built in names it.
    pub engine_sha256: String,
    /// Fuel is compared only between hosts with the same version of wasmtime.
    pub wasmtime: String,
    /// Resource limits.
    pub limits: Limits,
    /// Identity on whose behalf it runs.
    pub caller: Caller,
    /// Functions hidden from the caller when it started.
    pub hidden: Hidden,
    /// Seed of its random numbers.
    pub seed: String,
    /// Name of the space.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub space: Option<String>,
    /// Digest of the policy when it started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
    /// Facts that only the starting command needs to continue it, such as its arguments.
    #[serde(default, skip_serializing_if = "serde_json::Value::is_null")]
    pub command: serde_json::Value,
}

impl Header {
    /// Returns the options of a replay that this journal answers.
    pub(crate) fn replay_options(self, journal: Arc<dyn RunJournal>) -> RunOptions {
        RunOptions {
            limits: Some(self.limits),
            caller: Arc::new(self.caller),
            journal: Some(journal),
            ..RunOptions::default()
        }
    }
}
