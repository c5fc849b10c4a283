//! Allocation on behalf of the canonical ABI, and the room for a binding's data.

use super::context::Context;
use crate::compiled;
use crate::engine::engine;
use crate::globals;
use crate::heap::out_of_memory;
use std::alloc::{Layout, alloc, dealloc, realloc};

/// How much a binding's tables and names may take. Untouched pages cost nothing; a script that
/// imports some three thousand functions at once fits.
const BINDING_DATA_BYTES: usize = 1 << 20;

/// Room for a binding's data segment. The host reads its address from the engine's exports. Until the set-up is over
/// it has the text of the realm's JavaScript, which so takes no memory of its own.
#[unsafe(no_mangle)]
static mut BINDING_DATA: Room = Room(globals::setup_text());

#[repr(C, align(8))]
struct Room([u8; BINDING_DATA_BYTES]);

/// The room with the text that it has at first; whoever read it leaves zeros.
///
/// # Safety
/// Called once, before there is a binding.
pub(crate) unsafe fn setup_room() -> &'static mut [u8] {
    // SAFETY: the caller says that nobody else has it.
    unsafe { &mut (*(&raw mut BINDING_DATA)).0 }
}

/// An allocation that the canonical ABI made or wants freed.
pub(crate) struct Block {
    start: *mut u8,
    layout: Layout,
}

impl Block {
    /// Memory for the ABI area of an asynchronous call.
    pub(crate) fn new(size: usize, align: usize) -> Block {
        let layout = layout(size, align);
        // SAFETY: a zero-sized block is never allocated.
        let start = if size == 0 { align as *mut u8 } else { unsafe { alloc(layout) } };
        if start.is_null() {
            out_of_memory();
        }
        Block { start, layout }
    }

    /// Takes over what `cabi_realloc` gave to the binding.
    pub(crate) fn adopt(start: *mut u8, size: usize, align: usize) -> Block {
        Block { start, layout: layout(size, align) }
    }

    /// The text that it holds.
    ///
    /// # Safety
    /// It holds UTF-8.
    pub(crate) unsafe fn text(&self) -> &str {
        // SAFETY: the caller says so; a block is as long as its layout says.
        unsafe { std::str::from_utf8_unchecked(std::slice::from_raw_parts(self.start, self.layout.size())) }
    }

    pub(crate) fn start(&self) -> *mut u8 {
        self.start
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        if self.layout.size() > 0 {
            // SAFETY: the block came from this allocator with this layout.
            unsafe { dealloc(self.start, self.layout) }
        }
    }
}

fn layout(size: usize, align: usize) -> Layout {
    match Layout::from_size_align(size, align.max(1)) {
        Ok(layout) => layout,
        Err(_) => out_of_memory(),
    }
}

#[unsafe(no_mangle)]
extern "C" fn cabi_realloc(old: *mut u8, old_size: usize, align: usize, size: usize) -> *mut u8 {
    if size == 0 {
        return align as *mut u8;
    }
    if align == compiled::ALIGN && engine().is_fresh.get() {
        return compiled::room(size);
    }
    let start = if old_size == 0 {
        // SAFETY: the size is not zero.
        unsafe { alloc(layout(size, align)) }
    } else {
        // SAFETY: the block came from this function with this size and alignment.
        unsafe { realloc(old, layout(old_size, align), size) }
    };
    if start.is_null() {
        out_of_memory();
    }
    start
}

#[unsafe(no_mangle)]
extern "C" fn wit_dylib_dealloc_bytes(context: *mut Context, start: *mut u8, size: usize, align: usize, defer: bool) {
    let block = Block::adopt(start, size, align);
    if defer {
        // SAFETY: the binding passes the context of the call in progress.
        unsafe { &mut *context }.keep_block(block);
    }
}
