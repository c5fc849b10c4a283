//! A function of a capability, answered by the script that was compiled into the component.
//!
//! The script's default export is called with `{ interface, function, args }`, the names as WIT has them; what it
//! gives is the function's result.

use crate::abi::metadata::{ExportFunction, Kind, Type};
use crate::engine::binding;
use crate::errors::{self, ScriptError};
use crate::js::{self, Atom, Value};
use crate::values::{Path, Refusal, Tree, lower};

/// What the script is called with.
pub(crate) fn request(export: &ExportFunction, arguments: Vec<Value>) -> js::Result<Value> {
    let request = Value::object();
    request.define(Atom::new("interface"), Value::string(export.interface()))?;
    request.define(Atom::new("function"), Value::string(export.name()))?;
    request.define(Atom::new("args"), Value::array(arguments)?)?;
    Ok(request)
}

/// The result of a function whose script gave this.
pub(crate) fn result(export: &ExportFunction, value: &Value) -> Result<Tree, ScriptError> {
    let (ok, _) = types(export);
    if let Kind::Empty = binding().kind(ok) {
        return Ok(Tree::Case(0, None));
    }
    let tree = lower(value, ok, &Path::Root).map_err(|refusal| match refusal {
        Refusal::Thrown(thrown) => errors::from_thrown(thrown),
        Refusal::TooLong => errors::unfit_answer("", "it is too long"),
        Refusal::Invalid(issues) => match issues.first() {
            Some(issue) => errors::unfit_answer(&issue.path, &issue.message),
            None => errors::unfit_answer("", ""),
        },
    })?;
    Ok(Tree::Case(0, Some(Box::new(tree))))
}

/// The error of a function whose script failed: a record `capability-error`, or its text.
pub(crate) fn error(export: &ExportFunction, error: ScriptError) -> Tree {
    let (_, err) = types(export);
    let payload = match binding().kind(err) {
        Kind::Record(_) => Some(error.into_capability_error()),
        Kind::String => Some(Tree::Owned(error.into_message())),
        _ => None,
    };
    Tree::Case(1, payload.map(Box::new))
}

/// The types of `result<ok, err>`. The host compiles no function that returns anything else.
fn types(export: &ExportFunction) -> (Type, Type) {
    match binding().kind(export.result) {
        Kind::Result(index) => binding().result(index),
        _ => core::arch::wasm32::unreachable(),
    }
}
