//! What scripts find in `globalThis`.
//!
//! The JavaScript is in the files beside this one: each is one function that is called once, before
//! the snapshot, with the object of native functions that [`native`] makes. Nothing in them may look
//! at the clock or at randomness while it loads.

mod native;

use crate::call;
use crate::classes::Classes;
use crate::engine::{Intrinsics, engine};
use crate::errors::INTERNAL_PREFIX;
use crate::js::{self, Value};
use crate::modules;
use crate::values::Tree;
use javy::quickjs::qjs;
use std::ffi::{CString, c_int};

macro_rules! files {
    ($($name:literal)*) => { [$(($name, include_str!($name))),*] };
}

/// In the order in which they are loaded.
const FILES: &[(&str, &str)] = &files! {
    "primordials.js"
    "class-names.js"
    "dom-exception.js"
    "inspect-layout.js"
    "inspect-names.js"
    "inspect.js"
    "inspect-kinds.js"
    "format.js"
    "console-table.js"
    "console.js"
    "event-target.js"
    "abort.js"
    "structured-clone.js"
    "pair-iterator.js"
    "headers.js"
    "url-search-params.js"
    "url.js"
    "text-encoding.js"
    "timers.js"
    "crypto.js"
    "performance.js"
    "random.js"
    "locale-number.js"
    "locale-date.js"
    "locale-string.js"
    "capability-error.js"
    "capability-promise.js"
    "http.js"
    "absent.js"
};

const CONSOLE: (&str, &str) = ("agent-spaces:engine/console", "write");
const LEVELS: [&str; 5] = ["log", "info", "warn", "error", "debug"];

/// Sets up the realm.
pub(crate) fn install() -> Intrinsics {
    // SAFETY: the context is alive and new. Javy leaves these two out.
    unsafe {
        qjs::JS_AddIntrinsicDOMException(engine().context);
        qjs::JS_AddIntrinsicAToB(engine().context);
    }
    let native = native::object();
    for (name, source) in FILES {
        if run_file(name, source, &native).is_err() {
            core::arch::wasm32::unreachable();
        }
    }
    let found = || -> js::Result<Intrinsics> {
        let global = evaluate("globals", "globalThis")?;
        let shared = native.get_str("shared")?;
        Ok(Intrinsics {
            error: global.get_str("Error")?,
            capability_error: global.get_str("CapabilityError")?,
            capability_promise: shared.get_str("capabilityPromise")?,
            classes: Classes::learn(&evaluate("globals", Classes::SAMPLES)?)?,
            promise_of: evaluate("globals", "(async (value) => value)")?,
            absent: shared.get_str("absent")?,
            to_request: shared.get_str("toRequest")?,
            to_response: shared.get_str("toResponse")?,
        })
    };
    match found() {
        Ok(intrinsics) => intrinsics,
        Err(_) => core::arch::wasm32::unreachable(),
    }
}

fn run_file(name: &str, source: &str, native: &Value) -> js::Result<()> {
    let function = evaluate(&format!("globals/{name}"), source)?;
    function.call(&Value::UNDEFINED, std::slice::from_ref(native)).map(drop)
}

/// Evaluates a script of the engine's own. The source is not kept: it would only make the snapshot
/// larger.
fn evaluate(name: &str, source: &str) -> js::Result<Value> {
    let name = CString::new(format!("{INTERNAL_PREFIX}{name}")).unwrap_or_default();
    let text = CString::new(source).unwrap_or_default();
    let context = engine().context;
    // SAFETY: both texts are NUL-terminated; the bytecode is what QuickJS has just written.
    unsafe {
        let flags = qjs::JS_EVAL_TYPE_GLOBAL | qjs::JS_EVAL_FLAG_COMPILE_ONLY;
        let compiled =
            Value::take(qjs::JS_Eval(context, text.as_ptr(), source.len() as _, name.as_ptr(), flags as c_int))?;
        let mut length = 0;
        let flags = qjs::JS_WRITE_OBJ_BYTECODE | qjs::JS_WRITE_OBJ_STRIP_SOURCE;
        let bytecode = qjs::JS_WriteObject(context, &mut length, compiled.raw(), flags as c_int);
        if bytecode.is_null() {
            return Err(js::exception());
        }
        let function = qjs::JS_ReadObject(context, bytecode, length, qjs::JS_READ_OBJ_BYTECODE as c_int);
        qjs::js_free(context, bytecode.cast());
        Value::take(qjs::JS_EvalFunction(context, Value::take(function)?.into_raw()))
    }
}

/// A promise of `value`, which may be a thenable.
pub(crate) fn promise_of(value: Value) -> js::Result<Value> {
    engine().intrinsics.promise_of.call(&Value::UNDEFINED, &[value])
}

/// Sends one console message to the host.
pub(crate) fn write_console(level: &str, text: &str) {
    let level = LEVELS.iter().position(|known| *known == level).unwrap_or(0) as u32;
    if let Some(write) = modules::function(CONSOLE) {
        let _ = call::call_now(write, vec![Tree::Case(level, None), Tree::Owned(text.to_owned())]);
    }
}
