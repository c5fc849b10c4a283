//! Calls that the host makes itself, through the same pipeline as a script's.

use crate::host_function::HostFunction;
use crate::space::Space;
use crate::typed_call::TypedCall;
use agent_spaces_calls::call_path::CallPath;
use agent_spaces_pipeline::Pipeline;
use agent_spaces_policy::{Explanation, FunctionId, LabelledFunction, not_callable};
use agent_spaces_sandbox::error::HostError;
use agent_spaces_sandbox::imports::{HostCall, ImportedFunction};
use agent_spaces_types::caller::Caller;
use agent_spaces_types::capability_error::CapabilityError;
use agent_spaces_types::code::Code;
use serde::de::DeserializeOwned;
use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError};

impl Space {
    /// Calls a function with typed parameters and result.
    pub async fn call<R: DeserializeOwned>(&self, call: TypedCall<R>) -> Result<R, CapabilityError> {
        let TypedCall { capability, function, params, .. } = call;
        let callee = self.host_function(&self.find(capability, function)?)?;
        let value = callee.target.call(HostCall { params, ..HostCall::default() }, self.engine.memory()).await?;
        serde_json::from_value(value).map_err(|error| {
            let message = format!("{capability}.{function}'s answer does not fit its type: {error}");
            CapabilityError::failed(message)
        })
    }

    /// Calls a function by names known only at run time: those that scripts use, or the full name of the interface.
    pub async fn call_value(
        &self,
        capability: &str,
        function: &str,
        params: serde_json::Value,
        caller: Caller,
    ) -> Result<serde_json::Value, CapabilityError> {
        self.call_function(&self.find(capability, function)?, params, caller).await
    }

    /// Calls a function by its identity.
    pub async fn call_function(
        &self,
        function: &FunctionId,
        params: serde_json::Value,
        caller: Caller,
    ) -> Result<serde_json::Value, CapabilityError> {
        self.call_host(function, HostCall { params, caller: Arc::new(caller), ..HostCall::default() }).await
    }

    /// Calls a function with options: observers, and the provider's complete answer.
    pub async fn call_host(&self, function: &FunctionId, call: HostCall) -> Result<serde_json::Value, CapabilityError> {
        self.host_function(function)?.target.call(call, self.engine.memory()).await
    }

    /// Finds a function by the name that scripts use, `crm.createTicket`, or by its full name,
    /// `capabilities:crm/crm@1.0.0#create-ticket`.
    pub fn identify(&self, name: &str) -> Result<FunctionId, CapabilityError> {
        let matches =
            |each: &LabelledFunction| each.label == name || each.id.to_string() == name || each.name_in_full() == name;
        only_match(name, self.interfaces.labelled().filter(matches).collect())
    }

    /// Explains the policy decision about a function; with parameters, about that call.
    pub fn explain(
        &self,
        function: &FunctionId,
        params: Option<serde_json::Value>,
    ) -> Result<Explanation, CapabilityError> {
        Ok(self.host_function(function)?.pipeline.explain(params))
    }

    /// Finds a function by the names that scripts use.
    fn find(&self, capability: &str, function: &str) -> Result<FunctionId, CapabilityError> {
        only_match(&format!("{capability}.{function}"), self.interfaces.with_export(capability, function))
    }

    /// Returns a function's target and pipeline, built at most once.
    pub(crate) fn host_function(&self, function: &FunctionId) -> Result<HostFunction, CapabilityError> {
        let unavailable = |error: HostError| CapabilityError::new(Code::CallUnavailable, error.to_string());
        let functions = || self.functions.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = functions().get(function) {
            return Ok(known.clone());
        }
        if !self.interfaces.functions().any(|each| each == (function.interface(), function.function())) {
            return Err(unknown(&function.to_string()));
        }
        let selection = self.interfaces.select(&BTreeSet::from([function.interface().to_owned()]));
        let selection = selection.map_err(unavailable)?;
        let found = selection.interfaces.first().and_then(|interface| {
            let described = interface.functions.iter().find(|each| each.shape.name == function.function())?;
            let pipeline = Arc::new(Pipeline::of(interface, described, &self.handlers, &self.rules)?);
            let path = |_: &_, _: &_| Some(pipeline.clone() as Arc<dyn CallPath>);
            let target = ImportedFunction::find(interface, function.function(), &path, &self.rules.runs())?;
            Some(HostFunction { target: Arc::new(target), pipeline: pipeline.clone() })
        });
        let built = found.ok_or_else(|| unknown(&function.to_string()))?;
        // Another thread may have built it meanwhile: the first one stays, so that all callers share it.
        Ok(functions().entry(function.clone()).or_insert(built).clone())
    }
}

fn unknown(name: &str) -> CapabilityError {
    CapabilityError::new(Code::CallDenied, not_callable(name))
}

/// Returns the function that a name matches, if it is the only one.
fn only_match(name: &str, mut found: Vec<LabelledFunction>) -> Result<FunctionId, CapabilityError> {
    match found.as_slice() {
        [first, second, ..] => {
            let message = format!(
                "{name} is ambiguous: {} of '{}' or {} of '{}'; use the full name",
                first.id, first.module, second.id, second.module
            );
            Err(CapabilityError::new(Code::CallDenied, message))
        }
        _ => found.pop().map(|function| function.id).ok_or_else(|| unknown(name)),
    }
}
