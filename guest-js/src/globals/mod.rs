//! What scripts find in `globalThis`.
//!
//! The JavaScript is in the files beside this one: each is one function that is called once, before
//! the snapshot, with the object of native functions that [`native`] makes. Nothing in them may look
//! at the clock or at randomness while it loads.

mod native;

use crate::abi::memory::setup_room;
use crate::call;
use crate::classes::Classes;
use crate::engine::{Intrinsics, engine};
use crate::errors::INTERNAL_PREFIX;
use crate::frames::Writer;
use crate::heap;
use crate::js::{self, Value};
use crate::modules;
use crate::values::Tree;
use javy::quickjs::qjs;
use std::ffi::{CString, c_int};

macro_rules! files {
    ($($name:literal)*) => {
        /// Each file, with the length of its text.
        const FILES: &[(&str, usize)] = &[$(($name, include_bytes!($name).len())),*];

        /// The text of all files, one after the other.
        pub(crate) const fn setup_text<const SIZE: usize>() -> [u8; SIZE] {
            let mut all = [0; SIZE];
            let mut rest: &mut [u8] = &mut all;
            $(
                let text = include_bytes!($name);
                let (start, end) = rest.split_at_mut(text.len());
                start.copy_from_slice(text);
                rest = end;
            )*
            let _ = rest;
            all
        }
    };
}

// In the order in which they are loaded.
files! {
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
    "timers.js"
    "performance.js"
    "weak-ref.js"
    "random.js"
    "capability-error.js"
    "stacks.js"
    "capability-promise.js"
    "absent.json"
    "absent.js"
    "event-target.js"
    "abort.js"
    "structured-clone.js"
    "pair-iterator.js"
    "headers.js"
    "url-search-params.js"
    "url.js"
    "text-encoding.js"
    "crypto.js"
    "http.js"
    "intl-data.js"
    "intl-locale.js"
    "intl-digits.js"
    "intl-plural.js"
    "intl-number.js"
    "intl-zone.js"
    "intl-date.js"
    "intl-words.js"
    "locale-string.js"
    "locale-methods.js"
}

/// Names that are not here, with what to use instead. This and what follows most runs never use: it lies behind the
/// memory that they write.
const ABSENT: &str = "absent.json";

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
    // SAFETY: this is the set-up.
    let text = unsafe { setup_room() };
    let mut rest = &*text;
    for (name, length) in FILES {
        let (source, after) = rest.split_at(*length);
        let is_done = std::str::from_utf8(source).is_ok_and(|source| match *name {
            ABSENT => {
                heap::reserve();
                native.define(js::Atom::new("absent"), Value::string(source)).is_ok()
            }
            _ => run_file(name, source, &native).is_ok(),
        });
        if !is_done {
            core::arch::wasm32::unreachable();
        }
        rest = after;
    }
    // The snapshot would keep it.
    text.fill(0);
    let found = || -> js::Result<Intrinsics> {
        let global = evaluate("globals", "globalThis")?;
        let shared = native.get_str("shared")?;
        Ok(Intrinsics {
            error: global.get_str("Error")?,
            writer: Writer::read(&shared.get_str("stacks")?)?,
            capability_error: global.get_str("CapabilityError")?,
            capability_promise: shared.get_str("capabilityPromise")?,
            classes: Classes::learn(&evaluate("globals", Classes::SAMPLES)?)?,
            release_weak: shared.get_str("releaseWeak")?,
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
pub(crate) fn evaluate(name: &str, source: &str) -> js::Result<Value> {
    let name = CString::new(format!("{INTERNAL_PREFIX}{name}")).unwrap_or_default();
    let mut text = CString::new(source).unwrap_or_default().into_bytes_with_nul();
    let context = engine().context;
    // SAFETY: both texts are NUL-terminated; the bytecode is what QuickJS has just written.
    unsafe {
        let flags = qjs::JS_EVAL_TYPE_GLOBAL | qjs::JS_EVAL_FLAG_COMPILE_ONLY;
        let compiled =
            Value::take(qjs::JS_Eval(context, text.as_ptr().cast(), source.len() as _, name.as_ptr(), flags as c_int))?;
        // What is freed stays in the snapshot, unless it is zero.
        text.fill(0);
        std::hint::black_box(&mut text);
        let mut length = 0;
        let flags = qjs::JS_WRITE_OBJ_BYTECODE | qjs::JS_WRITE_OBJ_STRIP_SOURCE;
        let bytecode = qjs::JS_WriteObject(context, &mut length, compiled.raw(), flags as c_int);
        if bytecode.is_null() {
            return Err(js::exception());
        }
        let function = qjs::JS_ReadObject(context, bytecode, length, qjs::JS_READ_OBJ_BYTECODE as c_int);
        bytecode.write_bytes(0, length as usize);
        qjs::js_free(context, bytecode.cast());
        Value::take(qjs::JS_EvalFunction(context, Value::take(function)?.into_raw()))
    }
}

/// A promise of `value`, which may be a thenable.
pub(crate) fn promise_of(value: Value) -> js::Result<Value> {
    engine().intrinsics.promise_of.call(&Value::UNDEFINED, &[value])
}

/// Lets go of what weak references keep until the run yields.
pub(crate) fn release_weak() {
    if engine().keeps_weak.replace(false) {
        let _ = engine().intrinsics.release_weak.call(&Value::UNDEFINED, &[]);
    }
}

/// Sends one console message to the host.
pub(crate) fn write_console(level: &str, text: &str) {
    let level = LEVELS.iter().position(|known| *known == level).unwrap_or(0) as u32;
    if let Some(write) = modules::function(CONSOLE) {
        let _ = call::call_now(write, vec![Tree::Case(level, None), Tree::Owned(text.to_owned())]);
    }
}
