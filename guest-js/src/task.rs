//! The life of one run: evaluate, wait, finish.
//!
//! `run` is lifted with a callback: it returns to the host whenever it has nothing to do, and is
//! called again with each event, so that a run that waits holds neither a stack nor a thread.

use crate::abi::memory::Block;
use crate::abi::push::outgoing;
use crate::compiled::{self, Compiled};
use crate::engine::{binding, engine};
use crate::errors::{self, ScriptError};
use crate::js::{self, Value};
use crate::subtasks::{self, End};
use crate::values::{Issue, Path, Refusal, Strictness, Tree, bytes, write_json};
use crate::{call, globals, modules, provided, snapshot};
use javy::quickjs::qjs;

pub(crate) struct Task {
    which: usize,
    call_default: bool,
    /// Whether it is a script that the host gave, rather than one that was compiled into the component.
    is_script: bool,
    max_result_bytes: usize,
    /// Whether the engine's memory is taken at the end.
    keeps_evaluated: bool,
    stage: Stage,
    given: Given,
}

/// What the default export is called with.
#[derive(Clone)]
enum Given {
    /// Nothing: it is called where the script says so.
    Nothing,
    /// An HTTP request.
    Request(Value),
    /// A call of a capability's function.
    Call(Value),
}

/// The variant `code` of the WIT.
pub(crate) enum Code {
    Source { name: Block, source: Block, call_default: bool, max_result_bytes: usize },
    Compiled { memory: &'static [u64], max_result_bytes: usize },
}

/// A sandbox exports nothing but `run`.
const RUN: usize = 0;

/// What the run is waiting for.
#[derive(Clone)]
enum Stage {
    /// The module's evaluation.
    Module { promise: Value, module: *mut qjs::JSModuleDef },
    /// The value's own promise.
    Value(Value),
}

/// What woke the task.
pub(crate) enum Event {
    /// A call or sleep moved on.
    Subtask {
        handle: u32,
        end: End,
    },
    Other,
}

/// The cases of the enum `purpose` that are not for the value alone.
const COMPILED_MEMORY: u32 = 1;
const EVALUATED_MEMORY: u32 = 2;

const EVENT_SUBTASK: u32 = 1;
const CALLBACK_EXIT: u32 = 0;
const CALLBACK_WAIT: u32 = 2;

impl Task {
    fn new(which: usize, given: Given) -> Task {
        Task {
            which,
            call_default: false,
            is_script: false,
            max_result_bytes: usize::MAX,
            keeps_evaluated: false,
            stage: Stage::Value(Value::UNDEFINED),
            given,
        }
    }
}

impl Event {
    pub(crate) fn new(event: u32, first: u32, second: u32) -> Event {
        match event {
            EVENT_SUBTASK => match subtasks::end(second) {
                Some(end) => Event::Subtask { handle: first, end },
                None => Event::Other,
            },
            _ => Event::Other,
        }
    }
}

/// Begins a run.
pub(crate) fn start(code: Code, purpose: u32) -> u32 {
    let is_fresh = engine().is_fresh.replace(false);
    let (compiled, max_result_bytes) = match code {
        Code::Source { name, source, call_default, max_result_bytes } => {
            // SAFETY: the host passes text.
            let compiled = unsafe { compiled::compile(name.text(), source.text(), call_default) };
            (compiled, max_result_bytes)
        }
        // Words for an engine that has become something already would lie in its heap.
        Code::Compiled { .. } if !is_fresh => core::arch::wasm32::unreachable(),
        // SAFETY: nothing has been allocated yet.
        Code::Compiled { memory, max_result_bytes } => (Ok(unsafe { compiled::restore(memory) }), max_result_bytes),
    };
    // One way on from here for both: it takes the same fuel.
    begin_for(compiled, max_result_bytes, purpose)
}

/// Begins a compiled program.
pub(crate) fn start_program(which: usize) -> u32 {
    begin_embedded(which, Given::Nothing)
}

/// Begins a compiled program's answer to a request.
pub(crate) fn start_handler(which: usize, request: Value) -> u32 {
    begin_embedded(which, Given::Request(request))
}

/// Begins a compiled program's answer to a call of a capability that it provides.
pub(crate) fn start_function(which: usize, arguments: Vec<Value>) -> u32 {
    match provided::request(binding().export(which), arguments) {
        Ok(call) => begin_embedded(which, Given::Call(call)),
        Err(_) => core::arch::wasm32::unreachable(),
    }
}

/// Begins what the host asks for. Not inlined, so that no way there gets a copy that takes other fuel.
#[inline(never)]
fn begin_for(compiled: js::Result<Compiled>, max_result_bytes: usize, purpose: u32) -> u32 {
    let mut task = Task::new(RUN, Given::Nothing);
    task.is_script = true;
    task.max_result_bytes = max_result_bytes;
    task.keeps_evaluated = purpose == EVALUATED_MEMORY;
    match compiled {
        Ok(compiled) if purpose == COMPILED_MEMORY => {
            let taken = compiled::take(compiled);
            *engine().task.borrow_mut() = Some(task);
            finish(taken.map(|()| Tree::Owned(String::new())))
        }
        compiled => begin(task, compiled),
    }
}

/// Begins the script that was compiled into the component.
fn begin_embedded(which: usize, given: Given) -> u32 {
    match modules::embedded_entry() {
        Some((name, source, call_default)) => {
            begin(Task::new(which, given), compiled::compile(&name, &source, call_default))
        }
        None => core::arch::wasm32::unreachable(),
    }
}

fn begin(mut task: Task, compiled: js::Result<Compiled>) -> u32 {
    subtasks::begin();
    let evaluated = compiled.and_then(|compiled| {
        task.call_default = compiled.call_default;
        evaluate(compiled.module)
    });
    if let Ok((promise, module)) = &evaluated {
        task.stage = Stage::Module { promise: promise.clone(), module: *module };
    }
    *engine().task.borrow_mut() = Some(task);
    match evaluated {
        Ok(_) => advance(),
        Err(thrown) => finish(Err(errors::from_compilation(thrown))),
    }
}

/// Goes on after an event.
pub(crate) fn resume(event: Event) -> u32 {
    if let Event::Subtask { handle, end } = event {
        subtasks::release(handle, end);
        if !call::finish(handle, end) {
            engine().timers.borrow_mut().woken(handle);
        }
    }
    advance()
}

fn evaluate(module: Value) -> js::Result<(Value, *mut qjs::JSModuleDef)> {
    // SAFETY: a compiled module; evaluation takes over the reference, and the context keeps the
    // module for its own life.
    unsafe {
        let definition = qjs::JS_VALUE_GET_PTR(module.raw()).cast();
        let promise = Value::take(qjs::JS_EvalFunction(engine().context, module.into_raw()))?;
        Ok((promise, definition))
    }
}

/// Runs what can run; then waits, or finishes.
fn advance() -> u32 {
    loop {
        run_jobs();
        if engine().timers.borrow().has_woken() {
            crate::timers::fire_due();
            continue;
        }
        let Some(stage) = engine().task.borrow().as_ref().map(|task| task.stage.clone()) else { return CALLBACK_EXIT };
        let (promise, module) = match stage {
            Stage::Module { promise, module } => (promise, Some(module)),
            Stage::Value(promise) => (promise, None),
        };
        // SAFETY: the promise is alive.
        let state = unsafe { qjs::JS_PromiseState(engine().context, promise.raw()) };
        match (state, module) {
            (qjs::JSPromiseStateEnum_JS_PROMISE_PENDING, _) => {
                if engine().calls.borrow().is_empty() && engine().timers.borrow().is_empty() {
                    return finish(Err(errors::pending_forever()));
                }
                if crate::timers::schedule() {
                    continue;
                }
                return wait();
            }
            (qjs::JSPromiseStateEnum_JS_PROMISE_REJECTED, _) => {
                return finish(Err(errors::from_thrown(result_of(&promise))));
            }
            (_, Some(module)) => match script_value(module) {
                Ok(value) if value.is_promise() => set_stage(Stage::Value(value)),
                Ok(value) => return finish(write_result(&value)),
                Err(thrown) => return finish(Err(errors::from_thrown(thrown))),
            },
            (_, None) => return finish(write_result(&result_of(&promise))),
        }
    }
}

fn set_stage(stage: Stage) {
    if let Some(task) = engine().task.borrow_mut().as_mut() {
        task.stage = stage;
    }
}

/// Runs reactions until none is left.
pub(crate) fn run_jobs() {
    let mut context = std::ptr::null_mut();
    // SAFETY: the runtime is alive. A job that throws has told its promise; the rest go on.
    unsafe {
        loop {
            match qjs::JS_ExecutePendingJob(engine().runtime, &mut context) {
                0 => break,
                status if status < 0 => drop(js::exception()),
                _ => {}
            }
        }
    }
}

/// What a settled promise was settled with.
fn result_of(promise: &Value) -> Value {
    // SAFETY: the promise is alive.
    Value::take(unsafe { qjs::JS_PromiseResult(engine().context, promise.raw()) }).unwrap_or(Value::UNDEFINED)
}

/// The default export, or what it returns; a thenable becomes a promise.
fn script_value(module: *mut qjs::JSModuleDef) -> js::Result<Value> {
    // SAFETY: the context keeps the module.
    let namespace = Value::take(unsafe { qjs::JS_GetModuleNamespace(engine().context, module) })?;
    let value = namespace.get(engine().atoms.default)?;
    let (call_default, given) = match engine().task.borrow().as_ref() {
        Some(task) => (task.call_default, task.given.clone()),
        None => (false, Given::Nothing),
    };
    let value = match given {
        Given::Request(request) => {
            let request = engine().intrinsics.to_request.call(&Value::UNDEFINED, &[request])?;
            value.call(&Value::UNDEFINED, &[request])?
        }
        Given::Call(call) => value.call(&Value::UNDEFINED, &[call])?,
        Given::Nothing if call_default && value.is_function() => value.call(&Value::UNDEFINED, &[])?,
        Given::Nothing => value,
    };
    if value.is_promise() || !value.is_object() || !value.get_str("then")?.is_function() {
        return Ok(value);
    }
    globals::promise_of(value)
}

fn write_result(value: &Value) -> Result<Tree, ScriptError> {
    let given = engine().task.borrow().as_ref().map(|task| (task.which, task.given.clone()));
    match given {
        Some((_, Given::Request(_))) => return write_response(value).map_err(errors::from_thrown),
        Some((which, Given::Call(_))) => return provided::result(binding().export(which), value),
        _ => {}
    }
    let limit = engine().task.borrow().as_ref().map_or(usize::MAX, |task| task.max_result_bytes);
    // No text is no value. Hosts of compiled programs take null for none.
    let is_script = engine().task.borrow().as_ref().is_some_and(|task| task.is_script);
    if value.is_undefined() && is_script {
        return Ok(Tree::Owned(String::new()));
    }
    if value.is_function() {
        return Err(errors::unusable_result("", "JSON cannot carry a function"));
    }
    write_json(value, &Path::Root, Strictness::Familiar, limit).map(Tree::Owned).map_err(|refusal| match refusal {
        Refusal::Thrown(thrown) => errors::from_thrown(thrown),
        Refusal::TooLong => errors::result_too_long(limit),
        Refusal::Invalid(issues) => match issues.first() {
            Some(Issue { path, message }) => errors::unusable_result(path, message),
            None => errors::unusable_result("", ""),
        },
    })
}

/// The record `response` of the WIT.
fn write_response(value: &Value) -> js::Result<Tree> {
    let parts = engine().intrinsics.to_response.call(&Value::UNDEFINED, std::slice::from_ref(value))?;
    let status = parts.index(0)?.as_number().unwrap_or(200.0);
    let pairs = parts.index(1)?;
    let mut headers = Vec::new();
    for index in 0..pairs.length()? {
        let pair = pairs.index(index)?;
        let text = |part| Ok(Tree::Owned(pair.index(part)?.text()?.to_string_lossy()));
        headers.push(Tree::Sequence(vec![text(0)?, text(1)?]));
    }
    let body = bytes(&parts.index(2)?).unwrap_or_default();
    Ok(Tree::Sequence(vec![Tree::Unsigned(status as u64), Tree::Sequence(headers), Tree::Bytes(body)]))
}

fn wait() -> u32 {
    globals::release_weak();
    subtasks::idle();
    CALLBACK_WAIT | subtasks::waitables() << 4
}

/// Returns the outcome to the host.
fn finish(outcome: Result<Tree, ScriptError>) -> u32 {
    let Some(task) = engine().task.borrow_mut().take() else { return CALLBACK_EXIT };
    let (Stage::Module { promise, .. } | Stage::Value(promise)) = &task.stage;
    errors::report_unhandled(promise.is_promise().then(|| result_of(promise)).as_ref());
    let in_flight = engine().calls.borrow().len();
    if in_flight > 0 && outcome.is_ok() {
        let (calls, are) = match in_flight {
            1 => ("1 call was".to_owned(), "is"),
            count => (format!("{count} calls were"), "are"),
        };
        let text = format!("{calls} still running when the script ended, and {are} cancelled: use `await`");
        globals::write_console("warn", &text);
    }
    let Task { which, given, stage, keeps_evaluated, .. } = task;
    let export = binding().export(which);
    drop(stage);
    let outcome = match keeps_evaluated {
        true => outcome.and_then(|value| snapshot::take_evaluated().map(|()| value)),
        false => outcome,
    };
    let tree = match (outcome, given) {
        (Ok(value), Given::Call(_)) => value,
        (Ok(value), _) => Tree::Case(0, Some(Box::new(value))),
        (Err(error), Given::Call(_)) => provided::error(export, error),
        (Err(error), _) => Tree::Case(1, Some(Box::new(error.into_tree()))),
    };
    let mut context = outgoing(export.result, tree);
    if let Some(task_return) = export.task_return {
        // SAFETY: the context holds what the result's type says.
        unsafe { task_return(&mut context) };
    }
    CALLBACK_EXIT
}
