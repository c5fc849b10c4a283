//! What `import` finds.
//!
//! Names are resolved by the host before the run; here a name is only loaded: from the modules that
//! a compiled program carries, or from the host, when it is first imported.

use crate::abi::metadata::ImportFunction;
use crate::call;
use crate::engine::{binding, engine};
use crate::js::{self, Value};
use crate::namespace::{namespace, single_function};
use crate::values::{Tree, parse_json};
use javy::quickjs::qjs;
use std::cell::OnceCell;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr;

const LOADER: (&str, &str) = ("agent-spaces:engine/modules", "load");

/// Tells QuickJS where modules come from.
pub(crate) fn install() {
    // SAFETY: both callbacks have the signatures that QuickJS wants.
    unsafe { qjs::JS_SetModuleLoaderFunc(engine().runtime, Some(normalize), Some(load), ptr::null_mut()) }
}

/// A module of this source, not yet evaluated.
pub(crate) fn compile(name: &str, source: &str) -> js::Result<Value> {
    let name = CString::new(name).unwrap_or_default();
    let mut buffer = Vec::with_capacity(source.len() + 1);
    buffer.extend_from_slice(source.as_bytes());
    buffer.push(0);
    // SAFETY: QuickJS wants a NUL after the source.
    Value::take(unsafe {
        qjs::JS_Eval(
            engine().context,
            buffer.as_ptr().cast(),
            source.len() as _,
            name.as_ptr(),
            (qjs::JS_EVAL_TYPE_MODULE | qjs::JS_EVAL_FLAG_COMPILE_ONLY) as c_int,
        )
    })
}

/// Names are the host's already.
unsafe extern "C" fn normalize(
    context: *mut qjs::JSContext,
    _base: *const c_char,
    name: *const c_char,
    _data: *mut c_void,
) -> *mut c_char {
    // SAFETY: QuickJS passes a live name and frees the copy.
    unsafe { qjs::js_strdup(context, name) }
}

unsafe extern "C" fn load(
    _context: *mut qjs::JSContext,
    name: *const c_char,
    _data: *mut c_void,
) -> *mut qjs::JSModuleDef {
    // SAFETY: QuickJS passes a live, NUL-terminated name.
    let name = unsafe { CStr::from_ptr(name) };
    match load_module(name) {
        Ok(module) => module,
        Err(error) => {
            js::throw(error);
            ptr::null_mut()
        }
    }
}

fn load_module(name: &CStr) -> js::Result<*mut qjs::JSModuleDef> {
    let text = name.to_string_lossy();
    match find(&text)? {
        Loaded::Source(source) => {
            let module = compile(&text, &source)?;
            // SAFETY: a compiled module; the context keeps it.
            Ok(unsafe { qjs::JS_VALUE_GET_PTR(module.raw()).cast() })
        }
        Loaded::Json(json) => {
            let exports = Value::object();
            exports.define(engine().atoms.default, parse_json(&Value::string(&json)))?;
            native_module(name, &[c"default".into()], exports)
        }
        Loaded::Bindings(bindings) => {
            let exports = Value::object();
            // `a.b` is the member `b` of the export `a`, whichever is named first.
            let (members, whole): (Vec<_>, Vec<_>) = bindings.into_iter().partition(|bound| bound.name.contains('.'));
            let mut names = Vec::with_capacity(whole.len());
            for Bound { name, interface, hidden } in whole {
                let export = match interface.split_once('#') {
                    Some((interface, function)) => single_function(interface, function)?,
                    None => namespace(&interface, hidden)?,
                };
                exports.define(js::Atom::new(&name), export)?;
                names.push(CString::new(name).unwrap_or_default());
            }
            for Bound { name, interface, hidden } in members {
                let Some((export, member)) = name.split_once('.') else { continue };
                exports.get_str(export)?.define(js::Atom::new(member), namespace(&interface, hidden)?)?;
                engine().members.borrow_mut().insert(interface, name);
            }
            native_module(name, &names, exports)
        }
    }
}

enum Loaded {
    Source(String),
    Json(String),
    Bindings(Vec<Bound>),
}

/// An interface that a module gives.
struct Bound {
    /// What it is called; with a dot it is a member of another.
    name: String,
    interface: String,
    /// The names in WIT of functions that the run is not given.
    hidden: Vec<String>,
}

fn find(name: &str) -> js::Result<Loaded> {
    if let Some(module) = embedded().and_then(|program| program.module(name)) {
        return Ok(module);
    }
    let Some(loader) = function(LOADER) else { return Err(not_available(name)) };
    let answer = call::call_now(loader, vec![Tree::Owned(name.to_owned())]).map_err(|_| not_available(name))?;
    let tag = answer.get(engine().atoms.tag)?.text()?.to_string_lossy();
    let value = answer.get(engine().atoms.val)?;
    match tag.as_str() {
        "source" => Ok(Loaded::Source(value.text()?.to_string_lossy())),
        "json" => Ok(Loaded::Json(value.text()?.to_string_lossy())),
        _ => {
            let mut bindings = Vec::new();
            for index in 0..value.length()? {
                let binding = value.index(index)?;
                let text = |name| Ok(binding.get_str(name)?.text()?.to_string_lossy());
                let names = binding.get_str("hidden")?;
                let mut hidden = Vec::new();
                for index in 0..names.length()? {
                    hidden.push(names.index(index)?.text()?.to_string_lossy());
                }
                bindings.push(Bound { name: text("name")?, interface: text("interface")?, hidden });
            }
            Ok(Loaded::Bindings(bindings))
        }
    }
}

fn not_available(name: &str) -> Value {
    crate::errors::import_denied(name)
}

/// The imported function of an interface, whatever the interface's version.
pub(crate) fn function((interface, name): (&str, &str)) -> Option<&'static ImportFunction> {
    binding().imports().iter().find(|function| function.is(interface, name))
}

/// A module whose exports are the properties of `exports`.
fn native_module(name: &CStr, names: &[CString], exports: Value) -> js::Result<*mut qjs::JSModuleDef> {
    // SAFETY: QuickJS copies the names; the module keeps `exports` until `initialize` takes it.
    unsafe {
        let module = qjs::JS_NewCModule(engine().context, name.as_ptr(), Some(initialize));
        if module.is_null() {
            return Err(js::exception());
        }
        for name in names {
            qjs::JS_AddModuleExport(engine().context, module, name.as_ptr());
        }
        qjs::JS_SetModulePrivateValue(engine().context, module, exports.into_raw());
        Ok(module)
    }
}

unsafe extern "C" fn initialize(context: *mut qjs::JSContext, module: *mut qjs::JSModuleDef) -> c_int {
    let fill = || -> js::Result<()> {
        // SAFETY: the private value is the object that `native_module` set.
        let exports = Value::take(unsafe { qjs::JS_GetModulePrivateValue(context, module) })?;
        for key in exports.keys()? {
            let name = CString::new(key.0.name()).unwrap_or_default();
            // SAFETY: takes over the value.
            unsafe { qjs::JS_SetModuleExport(context, module, name.as_ptr(), exports.get(key.0)?.into_raw()) };
        }
        Ok(())
    };
    match fill() {
        Ok(()) => 0,
        Err(error) => {
            js::throw(error);
            -1
        }
    }
}

/// The modules inside a compiled program: `name`, `kind`, `text`, each with its length before it.
struct Program {
    modules: Vec<Embedded>,
}

struct Embedded {
    name: &'static str,
    kind: u8,
    text: &'static str,
}

struct Slot(OnceCell<Program>);

// SAFETY: a core module without threads has one.
unsafe impl Sync for Slot {}

static PROGRAM: Slot = Slot(OnceCell::new());

const KIND_ENTRY_CALLED: u8 = 0;
const KIND_ENTRY_PLAIN: u8 = 1;
const KIND_SOURCE: u8 = 2;
const KIND_JSON: u8 = 3;
const KIND_BINDINGS: u8 = 4;

/// Called by the binding of a compiled program, before it runs, with memory that is the engine's from
/// then on.
#[unsafe(no_mangle)]
unsafe extern "C" fn agent_spaces_embed(start: *const u8, length: usize) {
    // SAFETY: the binding passes what it has just written and writes no more.
    let mut bytes: &'static [u8] = unsafe { std::slice::from_raw_parts(start, length) };
    let mut modules = Vec::new();
    while let Some(name) = take_text(&mut bytes) {
        let Some((kind, rest)) = bytes.split_first() else { break };
        bytes = rest;
        let Some(text) = take_text(&mut bytes) else { break };
        modules.push(Embedded { name, kind: *kind, text });
    }
    let _ = PROGRAM.0.set(Program { modules });
    engine().is_fresh.set(false);
}

fn take_text(bytes: &mut &'static [u8]) -> Option<&'static str> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    let (text, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
    *bytes = rest;
    std::str::from_utf8(text).ok()
}

fn embedded() -> Option<&'static Program> {
    PROGRAM.0.get()
}

/// The script of a compiled program: its name, its source, and whether a default function is called.
pub(crate) fn embedded_entry() -> Option<(String, String, bool)> {
    let entry =
        embedded()?.modules.iter().find(|module| matches!(module.kind, KIND_ENTRY_CALLED | KIND_ENTRY_PLAIN))?;
    Some((entry.name.to_owned(), entry.text.to_owned(), entry.kind == KIND_ENTRY_CALLED))
}

impl Program {
    fn module(&self, name: &str) -> Option<Loaded> {
        let module = self.modules.iter().find(|module| module.name == name)?;
        match module.kind {
            KIND_SOURCE => Some(Loaded::Source(module.text.to_owned())),
            KIND_JSON => Some(Loaded::Json(module.text.to_owned())),
            KIND_BINDINGS => {
                let pairs = module.text.lines().filter_map(|line| line.split_once('='));
                let bound = |(name, interface): (&str, &str)| Bound {
                    name: name.to_owned(),
                    interface: interface.to_owned(),
                    hidden: Vec::new(),
                };
                Some(Loaded::Bindings(pairs.map(bound).collect()))
            }
            _ => None,
        }
    }
}
