//! Host side of the `refusals` interface: calls whose arguments do not match the function's WIT types.

use crate::guest_calls::InvalidArguments;
use crate::state::State;
use agent_spaces_calls::call_path::TypeIssue;
use wasmtime::component::{ComponentType, Lift, Linker, Lower};
use wasmtime::{Result, StoreContextMut};

#[derive(ComponentType, Lift)]
#[component(record)]
struct Issue {
    path: String,
    message: String,
    missing: bool,
}

#[derive(ComponentType, Lower)]
#[component(record)]
struct Refusal {
    code: String,
    message: String,
    retryable: bool,
    details: Option<String>,
}

type Arguments = (String, String, Option<String>, Vec<Issue>);

pub(super) fn add_to_linker(linker: &mut Linker<State>) -> Result<()> {
    linker
        .instance("agent-spaces:engine/refusals@0.1.0")?
        .func_wrap_async("refuse", |store: StoreContextMut<'_, State>, told: Arguments| {
            Box::new(async move { Ok((refuse(store, told).await?,)) })
        })
}

async fn refuse(store: StoreContextMut<'_, State>, told: Arguments) -> Result<Option<Refusal>> {
    let (interface, function, arguments, issues) = told;
    let Some(imports) = store.data().imports().cloned() else { return Ok(None) };
    let issues = issues.into_iter().map(|Issue { path, message, missing }| TypeIssue { path, message, missing });
    let invalid = InvalidArguments { arguments, issues: issues.collect() };
    let error = imports.functions.refuse(store, (&interface, &function), invalid).await?;
    let details = error.details.map(|details| details.to_string());
    Ok(Some(Refusal { code: error.code, message: error.message, retryable: error.retryable, details }))
}
