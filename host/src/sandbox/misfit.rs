//! Calls whose arguments do not fit the function's types. The engine does not make them, and tells of them: they are
//! refused here as any other call is, and counted.

use super::Sandbox;
use super::target::{Target, ended};
use crate::handlers::CapabilityError;
use crate::limits::text_bytes;
use crate::off_thread::MAX_INLINE_BYTES;
use crate::run::State;
use crate::values::{Field, NotJson, Shape};
use capability_gen::json_memory::{self, ReadError, RepeatedKeys};
use capability_gen::validate::{Issue, IssueKind};
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Instant;
use wasmtime::{Result, StoreContextMut};

/// The most issues that are told: the engine lists no more.
const MAX_ISSUES: usize = 32;

/// The longest path or message of an issue, in characters: the engine's own are shorter.
const MAX_TEXT: usize = 2_000;

/// What the engine tells of a call that it does not make.
pub(crate) struct Misfit {
    /// A JSON array, as far as JSON can carry what was passed.
    pub(crate) arguments: Option<String>,
    pub(crate) issues: Vec<TypeIssue>,
}

/// Something that does not fit its type.
pub(crate) struct TypeIssue {
    pub(crate) path: String,
    pub(crate) message: String,
    pub(crate) missing: bool,
}

impl Misfit {
    /// What it takes of the host's memory.
    fn bytes(&self) -> u64 {
        let issue = |issue: &TypeIssue| size_of::<TypeIssue>() + issue.path.len() + issue.message.len();
        let arguments = self.arguments.as_ref().map_or(0, String::len);
        (arguments + self.issues.iter().map(issue).sum::<usize>()) as u64
    }
}

impl Sandbox {
    /// Why a call of a function is refused, by the function's name in WIT.
    pub(crate) async fn refuse(
        &self,
        store: StoreContextMut<'_, State>,
        (interface, function): (&str, &str),
        misfit: Misfit,
    ) -> Result<CapabilityError> {
        let is_meant = |target: &&Arc<Target>| {
            let id = target.id();
            id.interface() == interface && id.function() == function
        };
        // The engine names only functions that it was given.
        let target = self.0.targets.iter().find(is_meant);
        let target = target.ok_or_else(|| wasmtime::Error::msg("not a function of this run"))?;
        target.refuse_misfit(store, misfit).await
    }
}

impl Target {
    /// Takes a call through the steps before its provider, which refuse it in any case.
    async fn refuse_misfit(
        self: &Arc<Target>,
        mut store: StoreContextMut<'_, State>,
        misfit: Misfit,
    ) -> Result<CapabilityError> {
        let begun = Instant::now();
        let context = store.data().context().clone();
        let (memory, bytes) = (context.memory.share(), misfit.bytes());
        memory.take(bytes).map_err(|_| store.data_mut().out_of_host_memory())?;
        let Misfit { arguments, issues } = misfit;
        let is_large = bytes > MAX_INLINE_BYTES;
        let read = || {
            let text = arguments.as_deref().unwrap_or("null");
            let read = memory.metered(|meter| json_memory::from_str(text, RepeatedKeys::LastCounts, meter));
            let params = match read {
                Ok(arguments) => self.passed(arguments),
                Err(ReadError::Memory(error)) => return Err(NotJson::Memory(error)),
                Err(ReadError::Json(_)) => Value::Null,
            };
            let bytes = text_bytes(&params);
            Ok((params, bytes))
        };
        let params = if is_large { context.turns.in_place(read).await } else { read() };
        let turn = if is_large { Some(context.turns.take().await) } else { None };
        let call = self.begin(store.data_mut(), params, &memory, turn)?;
        let id = call.id;
        let error = self.pipeline.refuse_misfit(call, listed(issues), &self.order(), &context).await;
        store.data_mut().end_call(false, ended(id, begun, Err(&error)))?;
        match memory.is_exhausted() {
            true => Err(store.data_mut().out_of_host_memory()),
            false => Ok(error),
        }
    }

    /// The parameters of a call whose arguments these are; null where they are none.
    fn passed(&self, arguments: Value) -> Value {
        let Value::Array(arguments) = arguments else { return Value::Null };
        let mut arguments = arguments.into_iter();
        if self.takes_params() || self.is_compiled {
            return arguments.next().unwrap_or_default();
        }
        let names = self.shape.parameters.iter().map(|parameter| parameter.name.json.clone());
        Value::Object(names.zip(arguments).collect::<Map<_, _>>())
    }

    /// The names of its parameters, as they are declared.
    fn order(&self) -> Vec<&str> {
        let fields: &[Field] = match self.shape.parameters.as_slice() {
            [Field { shape: Shape::Record(fields), .. }] => fields,
            fields => fields,
        };
        fields.iter().map(|field| field.name.json.as_str()).collect()
    }
}

/// The engine's issues, as the schema's are.
fn listed(issues: Vec<TypeIssue>) -> Vec<Issue> {
    let cut = |text: String| match text.char_indices().nth(MAX_TEXT) {
        Some((end, _)) => text[..end].to_owned(),
        None => text,
    };
    let issue = |TypeIssue { path, message, missing }| Issue {
        path: cut(path),
        message: cut(message),
        kind: if missing { IssueKind::Missing } else { IssueKind::Type },
    };
    issues.into_iter().take(MAX_ISSUES).map(issue).collect()
}
