//! A call on its way to its provider: one file to a step, in the order of [`Pipeline::admit`].
//!
//! The same steps stand before every provider, whoever calls. A step lets the call pass, changes its parameters,
//! or refuses it with the error that the caller is given.

mod approval;
mod defaults;
mod grant;
mod validate;

pub use approval::Approvals;
pub use grant::Grants;

use crate::handlers::CapabilityError;
use crate::sandbox::FunctionSpec;
use capability_gen::validate::Validator;
use serde_json::Value;
use std::sync::{Arc, OnceLock};

/// What a space lets its callers do.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rules {
    pub(crate) grants: Grants,
    pub(crate) approvals: Approvals,
}

/// The steps before one function's provider.
pub(crate) struct Pipeline {
    /// `trainSchedule.getSchedule`, for messages.
    label: String,
    interface: Arc<str>,
    rules: Rules,
    /// What is known of the function; WIT that was written by hand has no schemas.
    checks: Option<Checks>,
}

struct Checks {
    spec: Arc<FunctionSpec>,
    /// Made when the function is first called: a module has many functions, a script calls few.
    compiled: OnceLock<Result<Compiled, String>>,
}

struct Compiled {
    validator: Validator,
}

impl Pipeline {
    pub(crate) fn new(label: String, interface: Arc<str>, rules: Rules, spec: Option<Arc<FunctionSpec>>) -> Pipeline {
        let checks = spec.map(|spec| Checks { spec, compiled: OnceLock::new() });
        Pipeline { label, interface, rules, checks }
    }

    /// The parameters that the provider is given, or why the call goes no further.
    pub(crate) async fn admit(self: &Arc<Pipeline>, mut params: Value) -> Result<Value, CapabilityError> {
        grant::check(&self.rules.grants, &self.interface, &self.label)?;
        let Some(checks) = &self.checks else { return Ok(params) };
        defaults::apply(self.compiled()?, &mut params);
        let params = validate::check(self, params).await?;
        approval::check(&self.rules.approvals, checks.spec.requires_approval, &self.label)?;
        Ok(params)
    }

    /// What scripts call the function.
    pub(crate) fn label(&self) -> &str {
        &self.label
    }

    fn compiled(&self) -> Result<&Compiled, CapabilityError> {
        let Some(checks) = &self.checks else { return Err(CapabilityError::failed("there is no schema")) };
        let compile = || {
            let schema: Value = serde_json::from_str(&checks.spec.schema).map_err(|error| error.to_string())?;
            let validator = Validator::new(&schema).map_err(|error| error.to_string())?;
            Ok(Compiled { validator })
        };
        checks.compiled.get_or_init(compile).as_ref().map_err(|message| {
            let message = format!("{}: the schema of its parameters cannot be used: {message}", self.label);
            CapabilityError::new("call.unavailable", message)
        })
    }
}
