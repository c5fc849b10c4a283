//! Calls of unknown functions: hidden ones and those that do not exist, which a script cannot distinguish.

use crate::imports::{ImportedFunction, ImportedFunctions, end_event};
use crate::state::{BegunCall, State};
use agent_spaces_calls::call::Call;
use agent_spaces_types::capability_error::CapabilityError;
use agent_spaces_types::code::Code;
use agent_spaces_types::event::EventKind;
use agent_spaces_types::function::{InterfaceDescription, label_of};
use agent_spaces_types::identity::FunctionId;
use agent_spaces_types::names::not_callable;
use serde_json::Value;
use std::sync::Arc;
use std::time::Instant;
use wasmtime::Result;

/// Maximum length of a reported name, in characters: a script may write any.
const MAX_NAME: usize = 200;

impl ImportedFunctions {
    /// Refuses a call by the JavaScript name in the script, and returns the error message. It counts as a failed call.
    /// The operator is notified if the policy denies the function.
    pub(crate) fn refuse_unknown(&self, state: &mut State, interface: &str, name: &str) -> Result<String> {
        let name: String = name.chars().take(MAX_NAME).collect();
        match self.find_gated(interface, &name) {
            Some(import) => import.refuse_hidden(state),
            None => {
                let described = self.description().interfaces.iter().find(|each| each.name == interface);
                // The engine names only interfaces that it was given.
                let described = described.ok_or_else(|| wasmtime::Error::msg("not an interface of this run"))?;
                self.refuse_nonexistent(state, described, &name)
            }
        }
    }

    fn refuse_nonexistent(&self, state: &mut State, interface: &InterfaceDescription, name: &str) -> Result<String> {
        let begun = Instant::now();
        let memory = state.context().memory.share();
        // The script chose the name, which may contain anything.
        let shown = self.rules().redactor.text(name);
        let is_plain = |character: char| character.is_ascii_alphanumeric() || character == '_';
        let plain: String = shown.chars().map(|each| if is_plain(each) { each } else { '_' }).collect();
        let BegunCall { id, recorded } =
            state.begin_call((&Value::Null, 0), &memory, |call_id| EventKind::CallScheduled {
                call_id,
                interface: interface.name.as_str().into(),
                function_id: FunctionId::new(interface.name.as_str(), plain),
                capability: interface.export.as_str().into(),
                function: (&*shown).into(),
                params: Value::Null,
                sent: None,
            })?;
        let error = state.refusal(id, recorded, || {
            CapabilityError::new(Code::CallDenied, not_callable(&label_of(&interface.export, &shown, false)))
        });
        state.end_call(false, end_event(id, begun.elapsed(), Err(&error)))?;
        Ok(error.message)
    }
}

impl ImportedFunction {
    /// Refuses a call of a hidden function, without parameters: the engine did not read them.
    fn refuse_hidden(self: &Arc<ImportedFunction>, state: &mut State) -> Result<String> {
        let begun = Instant::now();
        let context = state.context().clone();
        let memory = context.memory.share();
        let BegunCall { id, recorded } =
            state.begin_call((&Value::Null, 0), &memory, |id| self.scheduled(id, &Value::Null))?;
        let number = (state.run_id().clone(), id);
        let call = Call::new(&self.names, number, Value::Null, state.scope().clone(), &context, &memory);
        let error = state.refusal(id, recorded, || self.path.refuse(&call, &context));
        state.end_call(false, end_event(id, begun.elapsed(), Err(&error)))?;
        Ok(error.message)
    }
}
