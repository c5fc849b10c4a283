//! Calls that are not made, because what the script passed does not fit the function's types.
//!
//! The host hears of them all the same: it knows whether the caller may call the function at all, checks what types do not
//! say (ranges, patterns, lengths), and counts the call. So a script is told of everything at once.

use crate::abi::metadata::ImportFunction;
use crate::errors::{self, MISSING};
use crate::js::Value;
use crate::values::{Issue, Tree, shown};
use crate::{call, modules};

const REFUSE: (&str, &str) = ("agent-spaces:engine/refusals", "refuse");

/// The error of a call, with what is wrong with its arguments. Compiled programs have hosts that check nothing else.
pub(crate) fn error(function: &ImportFunction, arguments: &[Value], issues: &[Issue]) -> Value {
    refused(function, arguments, issues).unwrap_or_else(|| errors::invalid_call(&call::label(function), issues))
}

fn refused(function: &ImportFunction, arguments: &[Value], issues: &[Issue]) -> Option<Value> {
    let refuse = modules::function(REFUSE)?;
    let listed = issues.iter().map(|issue| {
        let (path, message) = (issue.path.clone(), issue.message.clone());
        Tree::Sequence(vec![Tree::Owned(path), Tree::Owned(message), Tree::Bool(issue.message == MISSING)])
    });
    let told = vec![
        Tree::Owned(function.interface().to_owned()),
        Tree::Owned(function.name().to_owned()),
        Tree::optional_text(shown(arguments, function.parameters())),
        Tree::Sequence(listed.collect()),
    ];
    let refusal = call::call_now(refuse, told).ok().filter(Value::is_object)?;
    Some(errors::capability_error_from(&refusal))
}
