//! What a binding calls to turn canonical-ABI values into JavaScript.

use super::context::Context;
use super::memory::Block;
use super::metadata::{Kind, Type};
use crate::engine::{binding, engine};
use crate::js::{self, Value};
use crate::values::{Presence, Tree, Untagged, parse_json};

/// The context of the call in progress.
///
/// # Safety
/// The binding passes back the pointer that the engine gave it, and uses it in no two calls at once.
unsafe fn context<'a>(context: *mut Context) -> &'a mut Context {
    // SAFETY: see above.
    unsafe { &mut *context }
}

macro_rules! push_scalars {
    ($($name:ident: $type:ty => $make:expr;)*) => {$(
        #[unsafe(no_mangle)]
        pub(super) unsafe extern "C" fn $name(cx: *mut Context, value: $type) {
            let make: fn($type) -> Value = $make;
            // SAFETY: called by the binding.
            unsafe { context(cx) }.push_value(make(value));
        }
    )*};
}
push_scalars! {
    wit_dylib_push_u8: u8 => |value| Value::int(value.into());
    wit_dylib_push_s8: i8 => |value| Value::int(value.into());
    wit_dylib_push_u16: u16 => |value| Value::int(value.into());
    wit_dylib_push_s16: i16 => |value| Value::int(value.into());
    wit_dylib_push_s32: i32 => Value::int;
    wit_dylib_push_bool: u32 => |value| Value::bool(value != 0);
    wit_dylib_push_u32: u32 => |value| Value::unsigned(value.into());
    wit_dylib_push_s64: i64 => Value::signed;
    wit_dylib_push_u64: u64 => Value::unsigned;
    wit_dylib_push_f32: f32 => |value| Value::number(value.into());
    wit_dylib_push_f64: f64 => Value::number;
    wit_dylib_push_char: u32 => |value| {
        Value::string(char::from_u32(value).unwrap_or(char::REPLACEMENT_CHARACTER).encode_utf8(&mut [0; 4]))
    };
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn wit_dylib_push_string(cx: *mut Context, start: *mut u8, length: usize) {
    // SAFETY: called by the binding, which gives away UTF-8 that `cabi_realloc` allocated.
    unsafe {
        let block = Block::adopt(start, length, 1);
        context(cx).push_value(Value::string(block.text()));
    }
}

/// Parses the texts of `json`, which arrive as strings.
fn finish(value: Value, ty: Type) -> Value {
    match binding().kind(ty) {
        Kind::Json => parse_json(&value),
        _ => value,
    }
}

/// As `finish`, where an absent value cannot be left out.
fn finish_item(value: Value, ty: Type) -> Value {
    if value.is_undefined() { Value::NULL } else { finish(value, ty) }
}

/// Building an object from plain data fails only when memory runs out, which ends the run anyway.
fn or_undefined(value: js::Result<Value>) -> Value {
    value.unwrap_or(Value::UNDEFINED)
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn wit_dylib_push_record(cx: *mut Context, ty: usize) {
    // SAFETY: called by the binding.
    let context = unsafe { context(cx) };
    let fields = binding().record(ty);
    let names = engine().names.record(ty);
    let object = Value::object();
    let members = context.pop_values(fields.len()).zip(fields).zip(names.atoms.iter().zip(&names.presence));
    for ((value, field), (name, presence)) in members {
        let value = match (presence, value.is_undefined()) {
            (Presence::Extras, true) => continue,
            (Presence::Extras, false) => {
                merge(&object, &finish(value, field.ty));
                continue;
            }
            // Required: none is null. Otherwise a `none` is left out, as JSON leaves it out.
            (Presence::Required, true) => Value::NULL,
            (_, true) => continue,
            (_, false) => finish(value, field.ty),
        };
        if object.define(*name, value).is_err() {
            break;
        }
    }
    context.push_value(object);
}

/// Gives an object the members that travelled beside its fields.
fn merge(object: &Value, extras: &Value) {
    for key in extras.keys().unwrap_or_default() {
        if let Ok(member) = extras.get(key.0) {
            let _ = object.define(key.0, member);
        }
    }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn wit_dylib_push_tuple(cx: *mut Context, ty: usize) {
    // SAFETY: called by the binding.
    let context = unsafe { context(cx) };
    let types = binding().tuple(ty);
    let values = context.pop_values(types.len());
    let items = values.zip(types).map(|(value, ty)| finish_item(value, *ty)).collect();
    context.push_value(or_undefined(Value::array(items)));
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn wit_dylib_push_flags(cx: *mut Context, ty: usize, flags: u32) {
    let names = engine().names.flags(ty);
    let values = (0..names.len()).map(|bit| Value::bool(flags >> bit & 1 == 1));
    // SAFETY: called by the binding.
    unsafe { context(cx) }.push_value(or_undefined(Value::object_from(&names, values)));
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn wit_dylib_push_enum(cx: *mut Context, ty: usize, case: u32) {
    let value = engine().names.enum_values(ty).get(case as usize).cloned();
    // SAFETY: called by the binding.
    unsafe { context(cx) }.push_value(value.unwrap_or(Value::UNDEFINED));
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn wit_dylib_push_option(cx: *mut Context, ty: usize, case: u32) {
    // SAFETY: called by the binding.
    let context = unsafe { context(cx) };
    let inner = binding().option(ty);
    let value = match binding().kind(inner) {
        // Absent, or there: where it is null, the inner one has made it so.
        Kind::Option(_) if engine().names.is_presence(ty) && case == 0 => Value::UNDEFINED,
        Kind::Option(_) if engine().names.is_presence(ty) => finish_item(context.pop_value(), inner),
        // `some(none)` and `none` must differ, so the outer one shows its tag.
        Kind::Option(_) if case == 0 => tagged("none", None),
        Kind::Option(_) => tagged("some", Some(finish_item(context.pop_value(), inner))),
        _ if case == 0 => Value::UNDEFINED,
        _ => finish(context.pop_value(), inner),
    };
    context.push_value(value);
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn wit_dylib_push_result(cx: *mut Context, ty: usize, case: u32) {
    // SAFETY: called by the binding.
    let context = unsafe { context(cx) };
    let (ok, err) = binding().result(ty);
    let payload_type = if case == 0 { ok } else { err };
    let payload = match binding().kind(payload_type) {
        Kind::Empty => None,
        _ => Some(finish_item(context.pop_value(), payload_type)),
    };
    let is_outermost = matches!(binding().kind(context.result), Kind::Result(outer) if outer == ty);
    let value = if is_outermost {
        context.failed = case != 0;
        payload.unwrap_or(Value::UNDEFINED)
    } else {
        tagged(if case == 0 { "ok" } else { "err" }, payload)
    };
    context.push_value(value);
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn wit_dylib_push_variant(cx: *mut Context, ty: usize, case: u32) {
    // SAFETY: called by the binding.
    let context = unsafe { context(cx) };
    let Some(member) = binding().variant(ty).get(case as usize) else { return };
    let payload = match binding().kind(member.ty) {
        Kind::Empty => None,
        _ => Some(finish_item(context.pop_value(), member.ty)),
    };
    let is_untagged = Untagged::read(member.name()).is_some();
    context.push_value(match payload {
        Some(payload) if is_untagged => payload,
        payload => tagged(member.name(), payload),
    });
}

/// `{ tag, val }`, or `{ tag }` where there is no payload.
fn tagged(tag: &str, payload: Option<Value>) -> Value {
    let atoms = &engine().atoms;
    let tag = Value::string(tag);
    or_undefined(match payload {
        Some(payload) => Value::object_from(&[atoms.tag, atoms.val], [tag, payload]),
        None => Value::object_from(&[atoms.tag], [tag]),
    })
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn wit_dylib_push_list(cx: *mut Context, ty: usize, start: *mut u8, length: usize) -> u32 {
    // SAFETY: called by the binding; a list of bytes is taken over when the answer is not zero.
    let context = unsafe { context(cx) };
    if let Kind::U8 = binding().kind(binding().list(ty)) {
        let block = Block::adopt(start, length, 1);
        // SAFETY: the block has this length.
        let bytes = unsafe { std::slice::from_raw_parts(block.start(), length) };
        context.push_value(or_undefined(Value::bytes(bytes)));
        return 1;
    }
    if length == 0 {
        context.push_value(or_undefined(Value::array(Vec::new())));
    } else {
        context.begin_list(length);
    }
    0
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn wit_dylib_list_append(cx: *mut Context, ty: usize) {
    // SAFETY: called by the binding.
    let context = unsafe { context(cx) };
    let item = finish_item(context.pop_value(), binding().list(ty));
    context.push_value(item);
    if let Some(items) = context.complete_list() {
        context.push_value(or_undefined(Value::array(items)));
    }
}

/// The value of an imported function that returned.
pub(crate) fn result_value(context: &mut Context) -> Value {
    let ty = context.result;
    match binding().kind(ty) {
        Kind::Empty => Value::UNDEFINED,
        Kind::Result(_) => context.pop_value(),
        _ => finish_item(context.pop_value(), ty),
    }
}

/// What the engine itself returns from an exported function.
pub(crate) fn outgoing(result: Type, tree: Tree) -> Context {
    let mut context = Context::new(result);
    context.push_tree(tree);
    context
}

macro_rules! unsupported {
    ($($name:ident)*) => {$(
        #[unsafe(no_mangle)]
        extern "C" fn $name(_cx: *mut Context, _ty: usize, _handle: u32) {
            // The host refuses worlds that have such types.
            core::arch::wasm32::unreachable()
        }
    )*};
}
unsupported! { wit_dylib_push_borrow wit_dylib_push_own wit_dylib_push_future wit_dylib_push_stream }
