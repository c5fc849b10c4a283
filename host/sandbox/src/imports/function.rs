//! Imported function: its names, type and call path.

use agent_spaces_calls::call::FunctionNames;
use agent_spaces_calls::call_path::{CallPath, Paths};
use agent_spaces_calls::run_rules::RunRules;
use agent_spaces_types::capability_error::CapabilityError;
use agent_spaces_types::event::EventKind;
use agent_spaces_types::function::{FunctionDescription, InterfaceDescription, function_id};
use agent_spaces_types::identity::FunctionId;
use agent_spaces_types::names::camel_case;
use agent_spaces_types::shape::FunctionShape;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

/// Imported function with its call path.
pub struct ImportedFunction {
    id: FunctionId,
    pub(crate) names: FunctionNames,
    pub(crate) shape: FunctionShape,
    /// True for a function of a compiled capability: its single WIT parameter holds all parameters, whatever its type.
    pub(crate) is_compiled: bool,
    pub(crate) path: Arc<dyn CallPath>,
    /// Settings for calls made by the host.
    pub(super) rules: RunRules,
}

impl ImportedFunction {
    pub(crate) fn new(
        interface: &InterfaceDescription,
        function: &FunctionDescription,
        paths: &Paths<'_>,
        rules: &RunRules,
    ) -> Option<ImportedFunction> {
        let path = paths(interface, function)?;
        let js_name: Arc<str> = camel_case(&function.shape.name).into();
        let spec = function.spec.as_ref();
        Some(ImportedFunction {
            path,
            id: function_id(interface, function),
            names: FunctionNames {
                interface: interface.name.as_str().into(),
                capability: spec.map_or_else(|| interface.export.as_str().into(), |spec| spec.capability.clone()),
                source_name: spec.map_or_else(|| js_name.clone(), |spec| spec.source_name.clone()),
                function: js_name,
                part: spec.and_then(|spec| spec.part),
            },
            shape: function.shape.clone(),
            is_compiled: function.is_compiled(),
            rules: rules.clone(),
        })
    }

    /// Finds a function of an interface by its WIT name. Returns `None` if it has no call path.
    pub fn find(
        interface: &InterfaceDescription,
        function: &str,
        paths: &Paths<'_>,
        rules: &RunRules,
    ) -> Option<ImportedFunction> {
        let described = interface.functions.iter().find(|each| each.shape.name == function)?;
        ImportedFunction::new(interface, described, paths, rules)
    }

    /// Returns its identifier.
    pub(crate) fn id(&self) -> &FunctionId {
        &self.id
    }

    /// Returns its JavaScript name, without the capability.
    pub(super) fn js_name(&self) -> &str {
        &self.names.function
    }

    pub(crate) fn scheduled(&self, call_id: u64, params: &Value) -> EventKind {
        // Events show the JavaScript name. A single-function capability has no other name.
        let called = self.path.label().split_once('.').map(|(capability, _)| Arc::from(capability));
        EventKind::CallScheduled {
            call_id,
            interface: self.names.interface.clone(),
            function_id: self.id.clone(),
            capability: called.unwrap_or_else(|| self.names.capability.clone()),
            function: self.names.function.clone(),
            params: params.clone(),
            sent: None,
        }
    }

    /// Returns true if its single WIT parameter holds all parameters.
    pub(crate) fn takes_params(&self) -> bool {
        self.shape.parameters.len() == 1 && (self.shape.takes_record() || self.is_compiled)
    }
}

/// Creates the event of a call's end.
pub(crate) fn end_event(call_id: u64, duration: Duration, answer: Result<bool, &CapabilityError>) -> EventKind {
    let duration_ms = duration.as_secs_f64() * 1e3;
    match answer {
        Ok(cached) => EventKind::CallResult { call_id, duration_ms, cached },
        Err(error) => {
            let (code, message) = (error.code.clone(), error.message.clone());
            EventKind::CallError { call_id, duration_ms, code, message }
        }
    }
}
