//! A call of an imported function, from arguments to promise.

use crate::abi::context::Context;
use crate::abi::interpret::lift_result;
use crate::abi::memory::Block;
use crate::abi::metadata::{ImportFunction, Kind};
use crate::abi::push::result_value;
use crate::engine::{binding, engine};
use crate::errors;
use crate::js::{self, Value};
use crate::refusals;
use crate::stacks::Origin;
use crate::subtasks::{self, End};
use crate::values::{Issue, Issues, Path, Refusal, Tree, camel_case, lower, no_members};
use javy::quickjs::qjs;
use std::collections::BTreeMap;
use std::ffi::{CString, c_int};

/// The calls that the host has not answered yet, by subtask.
#[derive(Default)]
pub(crate) struct Calls {
    pending: BTreeMap<u32, Pending>,
}

/// A call in flight: what the canonical ABI still reads and writes, and whom to tell.
pub(crate) struct Pending {
    flight: Flight,
    settle: Settle,
    promise: Value,
    origin: Origin,
}

struct Flight {
    function: &'static ImportFunction,
    context: Box<Context>,
    /// What the host reads and writes, which the context points to.
    _area: Block,
}

struct Settle {
    resolve: Value,
    reject: Value,
}

/// How the host answered a call that was just started.
pub(crate) enum Started {
    Returned(js::Result<Value>),
    Waiting(u32, InFlight),
}

/// A started call whose answer is still to come.
pub(crate) struct InFlight(Flight);

/// `STARTING` and `STARTED` of the canonical ABI come before it.
const RETURNED: u32 = 2;

impl Calls {
    pub(crate) fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.pending.len()
    }
}

/// The function object that scripts call.
pub(crate) fn function_object(index: usize) -> js::Result<Value> {
    let function = &binding().imports()[index];
    let name = CString::new(camel_case(function.name())).unwrap_or_default();
    // SAFETY: `call_import` has the signature of a native function with magic, and QuickJS copies
    // the name.
    Value::take(unsafe {
        let native: unsafe extern "C" fn(
            *mut qjs::JSContext,
            qjs::JSValue,
            c_int,
            *mut qjs::JSValue,
            c_int,
        ) -> qjs::JSValue = call_import;
        qjs::JS_NewCFunction2(
            engine().context,
            std::mem::transmute::<*const (), qjs::JSCFunction>(native as *const ()),
            name.as_ptr(),
            function.parameters().len() as c_int,
            qjs::JSCFunctionEnum_JS_CFUNC_generic_magic,
            index as c_int,
        )
    })
}

unsafe extern "C" fn call_import(
    _context: *mut qjs::JSContext,
    _this: qjs::JSValue,
    count: c_int,
    arguments: *mut qjs::JSValue,
    index: c_int,
) -> qjs::JSValue {
    let arguments: Vec<Value> =
        // SAFETY: QuickJS passes `count` live arguments.
        (0..count as usize).map(|i| Value::borrowed(unsafe { *arguments.add(i) })).collect();
    match call(index as usize, &arguments) {
        Ok(value) => value.into_raw(),
        Err(error) => js::throw(error),
    }
}

/// Calls an imported function with values of a script: the value of a plain function, the promise of
/// an `async` one.
pub(crate) fn call(index: usize, arguments: &[Value]) -> js::Result<Value> {
    let function = &binding().imports()[index];
    let trees = match lower_arguments(function, arguments) {
        Ok(trees) => trees,
        Err(refusal) => {
            let error = match refusal {
                Refusal::Thrown(error) => error,
                Refusal::TooLong => marked(function, refusals::error(function, arguments, &[too_long()])),
                Refusal::Invalid(issues) => marked(function, refusals::error(function, arguments, &issues)),
            };
            return if function.start.is_some() { with_methods(function, settled(Err(error))?) } else { Err(error) };
        }
    };
    if function.start.is_none() {
        return call_now(function, trees).map_err(|error| marked(function, error));
    }
    match start(function, trees) {
        Started::Returned(outcome) => {
            with_methods(function, settled(outcome.map_err(|error| marked(function, error)))?)
        }
        Started::Waiting(subtask, in_flight) => {
            let (promise, settle) = promise()?;
            let pending = Pending { flight: in_flight.0, settle, promise: promise.clone(), origin: Origin::here() };
            engine().calls.borrow_mut().pending.insert(subtask, pending);
            with_methods(function, promise)
        }
    }
}

/// A promise of a list takes the methods of arrays.
fn with_methods(function: &ImportFunction, promise: Value) -> js::Result<Value> {
    let returned = match binding().kind(function.result) {
        Kind::Result(index) => binding().kind(binding().result(index).0),
        kind => kind,
    };
    if let Kind::List(_) = returned {
        promise.set_prototype(&engine().intrinsics.capability_promise)?;
    }
    Ok(promise)
}

/// The error of a call that fails while its caller is on the stack.
fn marked(function: &ImportFunction, error: Value) -> Value {
    Origin::here().mark(&error, &label(function));
    error
}

/// Cancels the call that a promise is of, and rejects it. Nothing happens where it has its answer.
pub(crate) fn cancel(promise: &Value, reason: Value) {
    let found = {
        let calls = engine().calls.borrow();
        calls.pending.iter().find(|(_, pending)| pending.promise.is_same(promise)).map(|(subtask, _)| *subtask)
    };
    let Some(subtask) = found else { return };
    let Some(Pending { flight, settle, .. }) = engine().calls.borrow_mut().pending.remove(&subtask) else { return };
    if subtasks::cancel(subtask) == End::Returned {
        // The answer came first, and is for nobody now.
        drop(lift(flight));
    }
    let _ = settle.reject.call(&Value::UNDEFINED, &[reason]);
}

/// Settles the promise of a call that has ended. Says whether the subtask was a call.
pub(crate) fn finish(subtask: u32, end: End) -> bool {
    let pending = engine().calls.borrow_mut().pending.remove(&subtask);
    let Some(Pending { flight, settle, origin, .. }) = pending else { return false };
    let called = flight.function;
    let (function, outcome) = match end {
        End::Returned => match lift(flight) {
            Ok(value) => (settle.resolve, value),
            Err(error) => {
                origin.mark(&error, &label(called));
                (settle.reject, error)
            }
        },
        // Nobody but `cancel` asks for it, and it waits for no event.
        End::Cancelled => (settle.reject, Value::UNDEFINED),
    };
    // A resolving function of a promise does not throw.
    let _ = function.call(&Value::UNDEFINED, &[outcome]);
    true
}

/// Calls a plain function with checked values.
pub(crate) fn call_now(function: &'static ImportFunction, trees: Vec<Tree>) -> js::Result<Value> {
    let mut context = Context::new(function.result);
    context.push_trees(trees.into_iter());
    if let Some(call) = function.call {
        // SAFETY: the context holds what the parameters' types say and outlives the call.
        unsafe { call(&mut context) };
    }
    outcome(&mut context)
}

/// Starts an `async` function with checked values.
pub(crate) fn start(function: &'static ImportFunction, trees: Vec<Tree>) -> Started {
    let mut context = Box::new(Context::new(function.result));
    context.push_trees(trees.into_iter());
    let area = Block::new(function.area_size, function.area_align);
    // SAFETY: context and area hold what the function's types say, and live until it has returned.
    let status = match function.start {
        Some(start) => unsafe { start(&mut *context, area.start()) },
        None => RETURNED,
    };
    let flight = Flight { function, context, _area: area };
    let (state, subtask) = (status & 0xf, status >> 4);
    if state == RETURNED {
        return Started::Returned(lift(flight));
    }
    subtasks::watch(subtask);
    Started::Waiting(subtask, InFlight(flight))
}

fn lift(mut flight: Flight) -> js::Result<Value> {
    // SAFETY: the host has written the results into the area.
    unsafe { lift_result(flight.function, &mut *flight.context) };
    outcome(&mut flight.context)
}

/// The value that a function returned, or the error that its `err` becomes.
fn outcome(context: &mut Context) -> js::Result<Value> {
    let value = result_value(context);
    if !context.failed {
        return Ok(value);
    }
    let Kind::Result(index) = binding().kind(context.result) else { return Err(value) };
    let (_, err) = binding().result(index);
    match binding().kind(err) {
        Kind::Record(record) if binding().record_name(record) == "capability-error" => {
            Err(errors::capability_error_from(&value))
        }
        _ => Err(errors::plain_error(value)),
    }
}

fn lower_arguments(function: &ImportFunction, arguments: &[Value]) -> Result<Vec<Tree>, Refusal> {
    let parameters = function.parameters();
    if let ([], [only]) = (parameters, arguments)
        && (only.is_undefined() || only.is_object())
    {
        // `{}` says nothing, so that a function without parameters takes it.
        return no_members(only, &Path::Root).map(|()| Vec::new());
    }
    if arguments.len() > parameters.len() {
        let expected = match parameters.len() {
            1 => "one argument".to_owned(),
            count => format!("{count} arguments"),
        };
        return Err(Path::Root.refuse(format!("expected {expected}, got {}", arguments.len())));
    }
    let absent = Value::UNDEFINED;
    let value = |index: usize| arguments.get(index).unwrap_or(&absent);
    match parameters {
        [only] => Ok(vec![lower(value(0), *only, &Path::Root)?]),
        _ => {
            let mut issues = Issues::default();
            let mut trees = Vec::with_capacity(parameters.len());
            for (i, ty) in parameters.iter().enumerate() {
                trees.extend(issues.collect(lower(value(i), *ty, &Path::Argument(i)))?);
            }
            issues.finish()?;
            Ok(trees)
        }
    }
}

/// `trainSchedule.getSchedule`; of a member of an export `everything.$resources.read`.
pub(crate) fn label(function: &ImportFunction) -> String {
    format!("{}.{}", interface_label(function), camel_case(function.name()))
}

/// What scripts call the interface of a function: `trainSchedule`, `everything.$resources`.
pub(crate) fn interface_label(function: &ImportFunction) -> String {
    let interface = function.interface();
    if let Some(member) = engine().members.borrow().get(interface) {
        return member.clone();
    }
    let interface = interface.rsplit('/').next().unwrap_or(interface);
    camel_case(interface.split('@').next().unwrap_or(interface))
}

fn too_long() -> Issue {
    Issue { path: String::new(), message: "an argument is too long".into() }
}

fn settled(outcome: js::Result<Value>) -> js::Result<Value> {
    let (is_rejected, value) = match outcome {
        Ok(value) => (false, value),
        Err(error) => (true, error),
    };
    // SAFETY: the value is alive.
    Value::take(unsafe { qjs::JS_NewSettledPromise(engine().context, is_rejected, value.raw()) })
}

fn promise() -> js::Result<(Value, Settle)> {
    let mut functions = [qjs::JS_UNDEFINED; 2];
    // SAFETY: QuickJS fills both functions or throws.
    let promise = Value::take(unsafe { qjs::JS_NewPromiseCapability(engine().context, functions.as_mut_ptr()) })?;
    let [resolve, reject] = functions;
    Ok((promise, Settle { resolve: Value::take(resolve)?, reject: Value::take(reject)? }))
}

/// A promise that is rejected already.
pub(crate) fn rejected(error: Value) -> js::Result<Value> {
    settled(Err(error))
}
