//! The objects that capability modules export, with one property for each function that the run was given.
//!
//! Any other name gives a function too, which fails with `call.denied`. So a function that a policy hides and one that
//! never existed are the same to a script, and the host hears of both.

use crate::abi::metadata::ImportFunction;
use crate::engine::{binding, engine};
use crate::js::{self, Atom, Value};
use crate::values::{Tree, camel_case};
use crate::{call, errors, modules};
use javy::quickjs::qjs;
use std::cell::{Cell, RefCell};
use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::ptr;

/// Tells the host of a call of a function that the run was not given; answers with what the script is told.
const MISSING: (&str, &str) = ("agent-spaces:engine/modules", "missing");

/// Names that the language itself looks for in every object: a namespace is neither a promise nor a list, and is written
/// as JSON like any other object.
const NEVER_FUNCTIONS: [&str; 3] = ["then", "toJSON", "length"];

/// The interfaces that modules of the run gave.
#[derive(Default)]
pub(crate) struct Namespaces {
    class: Cell<qjs::JSClassID>,
    loaded: RefCell<Vec<Loaded>>,
}

struct Loaded {
    interface: String,
    /// The names in WIT of functions that the run was not given.
    hidden: Vec<String>,
}

static EXOTIC: qjs::JSClassExoticMethods = qjs::JSClassExoticMethods {
    get_own_property: None,
    get_own_property_names: None,
    delete_property: None,
    define_own_property: None,
    has_property: None,
    get_property: Some(get_property),
    set_property: None,
};

/// Makes the class of namespaces known to QuickJS.
pub(crate) fn install() {
    let mut class = 0;
    let definition = qjs::JSClassDef {
        class_name: c"Object".as_ptr(),
        finalizer: None,
        gc_mark: None,
        call: None,
        exotic: (&raw const EXOTIC).cast_mut(),
    };
    // SAFETY: the runtime is alive; QuickJS copies the name, and only reads the methods, which are static.
    unsafe {
        qjs::JS_NewClassID(engine().runtime, &mut class);
        qjs::JS_NewClass(engine().runtime, class, &definition);
    }
    engine().namespaces.class.set(class);
}

/// An object with the functions of an interface, but for those that are hidden.
pub(crate) fn namespace(interface: &str, hidden: Vec<String>) -> js::Result<Value> {
    let namespaces = &engine().namespaces;
    let plain = Value::object();
    // SAFETY: all values are alive; the prototype is every object's own.
    let object = unsafe {
        let prototype = Value::take(qjs::JS_GetPrototype(engine().context, plain.raw()))?;
        let class = namespaces.class.get();
        Value::take(qjs::JS_NewObjectProtoClass(engine().context, prototype.raw(), class))?
    };
    for (index, function) in binding().imports().iter().enumerate() {
        if function.interface() == interface && !hidden.iter().any(|name| name == function.name()) {
            let name = js::OwnedAtom(Atom::new(&camel_case(function.name())));
            object.define(name.0, call::function_object(index)?)?;
        }
    }
    let number = note(interface, hidden);
    // SAFETY: the class is our own; what is kept is a number, not an address.
    unsafe { qjs::JS_SetOpaque(object.raw(), ptr::without_provenance_mut::<c_void>(number)) };
    Ok(object)
}

/// One function of an interface.
pub(crate) fn single_function(interface: &str, name: &str) -> js::Result<Value> {
    let imports = binding().imports();
    match imports.iter().position(|function| function.interface() == interface && function.name() == name) {
        Some(index) => {
            note(interface, Vec::new());
            call::function_object(index)
        }
        None => Err(errors::import_denied(interface)),
    }
}

/// Remembers that a module gave an interface. Gives its number, from one.
fn note(interface: &str, hidden: Vec<String>) -> usize {
    let mut loaded = engine().namespaces.loaded.borrow_mut();
    loaded.push(Loaded { interface: interface.to_owned(), hidden });
    loaded.len()
}

/// The function that a script calls by these names, of those that modules of the run gave.
pub(crate) enum Named {
    Function(usize),
    /// It has no such function.
    Missing(&'static str),
    /// No module of the run gave such a capability.
    NotImported,
}

/// Finds a function by what scripts call it: `trainSchedule.getSchedule`, `everything.$resources.read`.
pub(crate) fn find(label: &str) -> Named {
    let Some((capability, function)) = label.rsplit_once('.') else { return Named::NotImported };
    let loaded = engine().namespaces.loaded.borrow();
    let mut missing = None;
    for (index, import) in binding().imports().iter().enumerate() {
        // The engine's own services are given by no module.
        let Some(given) = loaded.iter().find(|given| given.interface == import.interface()) else { continue };
        if call::interface_label(import) != capability {
            continue;
        }
        if camel_case(import.name()) == function && !given.hidden.iter().any(|name| name == import.name()) {
            return Named::Function(index);
        }
        missing = Some(import.interface());
    }
    missing.map_or(Named::NotImported, Named::Missing)
}

/// What a class of the engine's own looks like to scripts: an ordinary object.
pub(crate) fn shown_class_id(value: &Value) -> u32 {
    match value.class_id() {
        own if own == engine().namespaces.class.get() => Value::object().class_id(),
        class => class,
    }
}

/// What a namespace has under a name that is none of its functions.
unsafe extern "C" fn get_property(
    _context: *mut qjs::JSContext,
    object: qjs::JSValue,
    name: qjs::JSAtom,
    receiver: qjs::JSValue,
) -> qjs::JSValue {
    match get(&Value::borrowed(object), Atom(name), &Value::borrowed(receiver)) {
        Ok(value) => value.into_raw(),
        Err(error) => js::throw(error),
    }
}

fn get(object: &Value, name: Atom, receiver: &Value) -> js::Result<Value> {
    if let Some(value) = inherited(object, name, receiver)? {
        return Ok(value);
    }
    // SAFETY: the atom is alive.
    let key = Value::take(unsafe { qjs::JS_AtomToValue(engine().context, name.0) })?;
    if !key.is_string() {
        return Ok(Value::UNDEFINED);
    }
    let text = key.text()?.to_string_lossy();
    if NEVER_FUNCTIONS.contains(&text.as_str()) || !text.starts_with(|first: char| first.is_alphabetic()) {
        return Ok(Value::UNDEFINED);
    }
    // SAFETY: asks for the number that `namespace` set.
    let number = unsafe { qjs::JS_GetOpaque(object.raw(), engine().namespaces.class.get()) }.addr();
    let mut data = [key.raw()];
    // SAFETY: `call_missing` has the signature that QuickJS wants, which takes its own reference of the name.
    Value::take(unsafe {
        qjs::JS_NewCFunctionData(engine().context, Some(call_missing), 0, number as c_int, 1, data.as_mut_ptr())
    })
}

/// The property of a prototype, as the ordinary lookup finds it.
fn inherited(object: &Value, name: Atom, receiver: &Value) -> js::Result<Option<Value>> {
    // SAFETY: the value is alive.
    let prototype_of = |value: &Value| Value::take(unsafe { qjs::JS_GetPrototype(engine().context, value.raw()) });
    let mut owner = prototype_of(object)?;
    while owner.is_object() {
        let mut descriptor = MaybeUninit::<qjs::JSPropertyDescriptor>::uninit();
        // SAFETY: object and atom are alive; QuickJS fills the descriptor where it says so.
        let status = unsafe { qjs::JS_GetOwnProperty(engine().context, descriptor.as_mut_ptr(), owner.raw(), name.0) };
        if status < 0 {
            return Err(js::exception());
        }
        if status > 0 {
            // SAFETY: it was filled, with references that are ours.
            let descriptor = unsafe { descriptor.assume_init() };
            let (getter, _setter) = (Value::take(descriptor.getter)?, Value::take(descriptor.setter)?);
            let value = Value::take(descriptor.value)?;
            return match descriptor.flags & qjs::JS_PROP_GETSET as c_int != 0 {
                true if getter.is_function() => getter.call(receiver, &[]).map(Some),
                true => Ok(Some(Value::UNDEFINED)),
                false => Ok(Some(value)),
            };
        }
        owner = prototype_of(&owner)?;
    }
    Ok(None)
}

unsafe extern "C" fn call_missing(
    _context: *mut qjs::JSContext,
    _this: qjs::JSValue,
    _count: c_int,
    _arguments: *mut qjs::JSValue,
    number: c_int,
    data: *mut qjs::JSValue,
) -> qjs::JSValue {
    // SAFETY: the one value that the function was made with.
    let name = Value::borrowed(unsafe { *data });
    let interface = match engine().namespaces.loaded.borrow().get((number as usize).wrapping_sub(1)) {
        Some(loaded) => loaded.interface.clone(),
        None => String::new(),
    };
    let refused = name.text().and_then(|name| missing(&interface, &name.to_string_lossy()));
    match refused {
        Ok(value) => value.into_raw(),
        Err(error) => js::throw(error),
    }
}

/// A call of a function that the run was not given: fails as the interface's own functions do.
pub(crate) fn missing(interface: &str, name: &str) -> js::Result<Value> {
    let told = modules::function(MISSING).and_then(|missing| {
        let names = vec![Tree::Owned(interface.to_owned()), Tree::Owned(name.to_owned())];
        let told = call::call_now(missing, names).ok()?;
        Some(told.text().ok()?.to_string_lossy())
    });
    let error = errors::call_denied(&told.unwrap_or_else(|| format!("{name}: this program has no such function")));
    let is_of_interface = |function: &&ImportFunction| function.interface() == interface;
    let mut functions = binding().imports().iter().filter(is_of_interface).peekable();
    if functions.peek().is_some() && functions.all(|function| function.start.is_none()) {
        return Err(error);
    }
    let promise = call::rejected(error)?;
    // What a list's promise can do: a script that calls it so is told why there is none.
    promise.set_prototype(&engine().intrinsics.capability_promise)?;
    Ok(promise)
}
