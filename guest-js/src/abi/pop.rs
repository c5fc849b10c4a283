//! What a binding calls to take checked values off the stack.
//!
//! Nothing here can fail or run JavaScript: every value was checked against its type before the call
//! (see [`crate::values`]), so each function answers from a tree of the right shape. The fallbacks
//! are for the type checker.

use super::context::Context;
use crate::values::Tree;

/// The context of the call in progress.
///
/// # Safety
/// The binding passes back the pointer that the engine gave it, and uses it in no two calls at once.
unsafe fn context<'a>(context: *mut Context) -> &'a mut Context {
    // SAFETY: see above.
    unsafe { &mut *context }
}

macro_rules! pop_integers {
    ($($name:ident: $type:ty;)*) => {$(
        #[unsafe(no_mangle)]
        pub(super) unsafe extern "C" fn $name(cx: *mut Context) -> $type {
            // SAFETY: called by the binding.
            match unsafe { context(cx) }.pop_tree() {
                Tree::Signed(value) => value as $type,
                Tree::Unsigned(value) => value as $type,
                _ => 0,
            }
        }
    )*};
}
pop_integers! {
    wit_dylib_pop_u8: u8;
    wit_dylib_pop_u16: u16;
    wit_dylib_pop_u32: u32;
    wit_dylib_pop_u64: u64;
    wit_dylib_pop_s8: i8;
    wit_dylib_pop_s16: i16;
    wit_dylib_pop_s32: i32;
    wit_dylib_pop_s64: i64;
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn wit_dylib_pop_f64(cx: *mut Context) -> f64 {
    // SAFETY: called by the binding.
    match unsafe { context(cx) }.pop_tree() {
        Tree::Float(value) => value,
        _ => 0.0,
    }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn wit_dylib_pop_f32(cx: *mut Context) -> f32 {
    // SAFETY: called by the binding.
    unsafe { wit_dylib_pop_f64(cx) as f32 }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn wit_dylib_pop_bool(cx: *mut Context) -> u32 {
    // SAFETY: called by the binding.
    matches!(unsafe { context(cx) }.pop_tree(), Tree::Bool(true)).into()
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn wit_dylib_pop_char(cx: *mut Context) -> u32 {
    // SAFETY: called by the binding.
    match unsafe { context(cx) }.pop_tree() {
        Tree::Char(value) => value.into(),
        _ => 0,
    }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn wit_dylib_pop_string(cx: *mut Context, out: *mut *const u8) -> usize {
    // SAFETY: called by the binding, which reads the text before the call is over.
    unsafe {
        let context = context(cx);
        let tree = context.pop_tree();
        let text = context.keep(tree).text();
        *out = text.as_ptr();
        text.len()
    }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn wit_dylib_pop_enum(cx: *mut Context, ty: usize) -> u32 {
    // SAFETY: called by the binding.
    unsafe { wit_dylib_pop_variant(cx, ty) }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn wit_dylib_pop_flags(cx: *mut Context, _ty: usize) -> u32 {
    // SAFETY: called by the binding.
    unsafe { wit_dylib_pop_u32(cx) }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn wit_dylib_pop_record(cx: *mut Context, _ty: usize) {
    // SAFETY: called by the binding.
    let context = unsafe { context(cx) };
    if let Tree::Sequence(fields) = context.pop_tree() {
        context.push_trees(fields.into_iter());
    }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn wit_dylib_pop_tuple(cx: *mut Context, ty: usize) {
    // SAFETY: called by the binding.
    unsafe { wit_dylib_pop_record(cx, ty) }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn wit_dylib_pop_variant(cx: *mut Context, _ty: usize) -> u32 {
    // SAFETY: called by the binding.
    let context = unsafe { context(cx) };
    let Tree::Case(case, payload) = context.pop_tree() else { return 0 };
    if let Some(payload) = payload {
        context.push_tree(*payload);
    }
    case
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn wit_dylib_pop_option(cx: *mut Context, ty: usize) -> u32 {
    // SAFETY: called by the binding.
    unsafe { wit_dylib_pop_variant(cx, ty) }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn wit_dylib_pop_result(cx: *mut Context, ty: usize) -> u32 {
    // SAFETY: called by the binding.
    unsafe { wit_dylib_pop_variant(cx, ty) }
}

const PAGE_BYTES: usize = 64 << 10;

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn wit_dylib_pop_list(cx: *mut Context, _ty: usize, out: *mut *const u8) -> usize {
    // SAFETY: called by the binding; a null pointer makes it ask for the items one by one.
    unsafe {
        let context = context(cx);
        *out = std::ptr::null();
        match context.pop_tree() {
            Tree::Sequence(mut items) => {
                let length = items.len();
                items.reverse();
                context.push_tree(Tree::Sequence(items));
                length
            }
            Tree::Memory => {
                *out = std::ptr::without_provenance(1);
                core::arch::wasm32::memory_size(0) * PAGE_BYTES - 1
            }
            bytes => {
                let bytes = context.keep(bytes).text();
                // Even an empty list needs a pointer that is not null.
                *out = bytes.as_ptr();
                bytes.len()
            }
        }
    }
}

/// The items stand in reverse on the stack, so that the next is the last.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn wit_dylib_pop_iter_next(cx: *mut Context, _ty: usize) {
    // SAFETY: called by the binding.
    let context = unsafe { context(cx) };
    if let Some(Tree::Sequence(items)) = context.top_tree()
        && let Some(item) = items.pop()
    {
        context.push_tree(item);
    }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn wit_dylib_pop_iter(cx: *mut Context, _ty: usize) {
    // SAFETY: called by the binding.
    unsafe { context(cx) }.pop_tree();
}

macro_rules! unsupported {
    ($($name:ident)*) => {$(
        #[unsafe(no_mangle)]
        extern "C" fn $name(_cx: *mut Context, _ty: usize) -> u32 {
            // The host refuses worlds that have such types.
            core::arch::wasm32::unreachable()
        }
    )*};
}
unsupported! { wit_dylib_pop_borrow wit_dylib_pop_own wit_dylib_pop_future wit_dylib_pop_stream }
