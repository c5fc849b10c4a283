//! The QuickJS-ng that is shipped, under the name and version that Javy's dependencies ask for.
//!
//! QuickJS-ng fixes memory-safety bugs in nearly every release, and Javy follows months later. This crate stands in the
//! place of the bindings that Javy's dependencies name, and takes everything from the newer ones in its `Cargo.toml`. What
//! has another signature there is adapted here. `docs/engine-updates.md` says how to take the next release.
#![no_std]

extern crate alloc;

use alloc::boxed::Box;
use core::ptr;
pub use newer::*;

/// How an older binding frees what a buffer was made of.
pub type JSFreeArrayBufferDataFunc =
    Option<unsafe extern "C" fn(rt: *mut JSRuntime, opaque: *mut c_void, data: *mut c_void)>;

/// Who frees the memory of a buffer, and what it wants to be told.
struct Owner {
    free: JSFreeArrayBufferDataFunc,
    opaque: *mut c_void,
}

/// A buffer over memory of the caller's, freed by `free`. It cannot change its length.
///
/// # Safety
/// As the engine's own: `data` has `length` bytes until it is freed, and `free` may be called with `opaque` once.
#[allow(non_snake_case)]
pub unsafe fn JS_NewArrayBuffer(
    context: *mut JSContext,
    data: *mut u8,
    length: size_t,
    free: JSFreeArrayBufferDataFunc,
    opaque: *mut c_void,
    is_shared: bool,
) -> JSValue {
    /// Tells the engine that the length is fixed.
    const NO_MAX_LENGTH: size_t = 0;
    let owner = Box::into_raw(Box::new(Owner { free, opaque }));
    // SAFETY: the caller vouches for the memory; the owner is the buffer's until it asks to be freed.
    unsafe { newer::JS_NewArrayBuffer(context, data, length, NO_MAX_LENGTH, Some(release), owner.cast(), is_shared) }
}

/// Frees memory where the engine asks for no bytes; refuses every other length.
unsafe extern "C" fn release(rt: *mut JSRuntime, owner: *mut c_void, data: *mut c_void, length: size_t) -> *mut c_void {
    if length == 0 {
        // SAFETY: the engine frees a buffer once, with the owner that it was made with.
        unsafe {
            let Owner { free, opaque } = *Box::from_raw(owner.cast::<Owner>());
            if let Some(free) = free {
                free(rt, opaque, data);
            }
        }
    }
    ptr::null_mut()
}
