//! Calls of functions that a run was not given: hidden ones and those that never existed, which a script cannot tell
//! apart.

use super::target::{Target, ended};
use super::{InterfaceDescription, Sandbox, label_of};
use crate::events::{CallProgress, EventKind};
use crate::handlers::CapabilityError;
use crate::run::State;
use agent_spaces_policy::{FunctionId, not_callable};
use serde_json::Value;
use std::sync::Arc;
use std::time::Instant;
use wasmtime::Result;

/// The longest name that is told of, in characters: a script may write any.
const MAX_NAME: usize = 200;

impl Sandbox {
    /// Refuses a call, by the JavaScript name that the script wrote, and gives what the script is told. It counts as a call
    /// that failed. The operator hears of one that the policy denies.
    pub(crate) fn missing(&self, state: &mut State, interface: &str, name: &str) -> Result<String> {
        let name: String = name.chars().take(MAX_NAME).collect();
        match self.0.gates.find(interface, &name) {
            Some(target) => target.refuse_missing(state),
            None => {
                let described = self.0.description.interfaces.iter().find(|each| each.name == interface);
                // The engine names only interfaces that it was given.
                let described = described.ok_or_else(|| wasmtime::Error::msg("not an interface of this run"))?;
                self.refuse_unknown(state, described, &name)
            }
        }
    }

    fn refuse_unknown(&self, state: &mut State, interface: &InterfaceDescription, name: &str) -> Result<String> {
        let begun = Instant::now();
        let memory = state.context().memory.share();
        // The script chose the name, and may have put anything into it.
        let shown = self.redactor().text(name);
        let is_plain = |character: char| character.is_ascii_alphanumeric() || character == '_';
        let plain: String = shown.chars().map(|each| if is_plain(each) { each } else { '_' }).collect();
        let id = state.begin_call((&Value::Null, 0), &memory, |call_id| EventKind::CallScheduled {
            call_id,
            interface: interface.name.as_str().into(),
            function_id: FunctionId::new(interface.name.as_str(), plain),
            capability: interface.export.as_str().into(),
            function: (&*shown).into(),
            params: Value::Null,
            sent: None,
        })?;
        let error = CapabilityError::new("call.denied", not_callable(&label_of(&interface.export, name, false)));
        state.end_call(false, ended(id, begun, Err(&error)))?;
        Ok(error.message)
    }
}

impl Target {
    /// Takes a call through the steps that refuse it, without parameters: they were never read.
    fn refuse_missing(self: &Arc<Target>, state: &mut State) -> Result<String> {
        let begun = Instant::now();
        let context = state.context().clone();
        let memory = context.memory.share();
        let id = state.begin_call((&Value::Null, 0), &memory, |id| self.scheduled(id, &Value::Null))?;
        let progress = CallProgress::new(id, state.events());
        let scope = (state.scope().clone(), &*context);
        let call = self.describe(state.run_id().clone(), id, Value::Null, progress, scope, &memory);
        let error = self.pipeline.refuse(&call, &context);
        state.end_call(false, ended(id, begun, Err(&error)))?;
        Ok(error.message)
    }
}
