//! The heap of QuickJS and of the engine itself: small blocks from lists, large ones from libc.
//!
//! JavaScript makes and drops small blocks all the time. Each size up to [`SMALL_BYTES`] has a list of its free blocks:
//! taking one and giving it back are a few instructions, where libc's allocator looks for neighbours to join. New
//! blocks are cut from a chunk one after the other, whatever their size, so that what a run allocates lies together
//! and it writes few pages. The linker sends every allocation here (see `build.rs`).
//!
//! A block begins with a tag of four bytes; what follows is aligned to eight. QuickJS takes its small blocks from lists of
//! their own, without a call; they have QuickJS's header instead of a tag (`patches/0057-small-blocks.patch`).

use core::ptr;

/// Larger blocks are libc's.
const SMALL_BYTES: usize = 1020;

/// Sizes differ by this, and every block's content is aligned to it.
const GRAIN: usize = 8;

/// The four bytes before a block's content: an odd tag is a small block's number of grains; an even one is how far
/// before the content libc's block begins.
const TAG_BYTES: usize = 4;

const CLASSES: usize = (SMALL_BYTES + TAG_BYTES) / GRAIN + 1;

/// What small blocks are cut from.
const CHUNK_BYTES: usize = 64 << 10;

/// What a run has before it needs more memory.
const FIRST_CHUNK_BYTES: usize = 512 << 10;

/// Of a 32-bit memory.
const MAX_PAGES: usize = 1 << 16;

/// The fields up to `left` are an agreement with QuickJS, which takes and frees blocks of its own by itself
/// (`patches/0057-small-blocks.patch`).
#[derive(Clone, Copy)]
#[repr(C)]
struct Heap {
    /// The first free block of QuickJS of each number of grains. They have a header of QuickJS's, and no tag.
    script_free: [*mut u8; CLASSES],
    /// Where the next block goes; a multiple of four.
    next: *mut u8,
    /// How much of the chunk is left.
    left: usize,
    /// The first free block of each number of grains; a free block's content begins with the next.
    free: [*mut u8; CLASSES],
}

#[unsafe(export_name = "agent_spaces_heap")]
static mut HEAP: Heap = Heap::EMPTY;

/// The heap while blocks are cut from other memory.
static mut ASIDE: Heap = Heap::EMPTY;

/// Where runs begin, if that was decided before the end of the set-up.
static mut RESERVED: *mut u8 = ptr::null_mut();

/// Whether large blocks are cleared when they are freed: what is left of them would be in the snapshot.
static mut CLEARS: bool = true;

impl Heap {
    const EMPTY: Heap = Heap {
        script_free: [ptr::null_mut(); CLASSES],
        next: ptr::null_mut(),
        left: 0,
        free: [ptr::null_mut(); CLASSES],
    };
}

unsafe extern "C" {
    fn __real_malloc(size: usize) -> *mut u8;
    fn __real_calloc(count: usize, size: usize) -> *mut u8;
    fn __real_realloc(start: *mut u8, size: usize) -> *mut u8;
    fn __real_free(start: *mut u8);
    fn __real_malloc_usable_size(start: *mut u8) -> usize;
}

/// How many grains a small block with this much content takes.
const fn grains(size: usize) -> usize {
    (size + TAG_BYTES).div_ceil(GRAIN)
}

/// How much fits into a small block.
const fn capacity(grains: usize) -> usize {
    grains * GRAIN - TAG_BYTES
}

/// Leaves what is free now to nobody: blocks of the runs that begin with this memory lie one after the other, and most
/// runs need not ask for more memory.
pub(crate) fn seal() {
    // SAFETY: there is one thread, and no other reference to the heap lives.
    unsafe {
        let heap = &mut *ptr::addr_of_mut!(HEAP);
        heap.script_free = [ptr::null_mut(); CLASSES];
        heap.free = [ptr::null_mut(); CLASSES];
        CLEARS = false;
        let reserved = ptr::replace(ptr::addr_of_mut!(RESERVED), ptr::null_mut());
        if !reserved.is_null() {
            begin(heap, reserved, FIRST_CHUNK_BYTES);
        } else if heap.left < FIRST_CHUNK_BYTES / 2 {
            refill(heap, FIRST_CHUNK_BYTES);
        }
    }
}

/// Sets the memory aside that runs begin with: what is made from now until the heap is sealed lies behind it.
pub(crate) fn reserve() {
    // SAFETY: asking libc for memory is always allowed; there is one thread.
    unsafe { *ptr::addr_of_mut!(RESERVED) = __real_malloc(FIRST_CHUNK_BYTES) };
}

/// Cuts small blocks from this memory from now on: the heap stays as it is, until it is [put back](put_back).
///
/// # Safety
/// The memory is nobody's, aligned to eight, and larger than eight bytes.
pub(crate) unsafe fn divert(start: *mut u8, size: usize) {
    // SAFETY: there is one thread, and no other reference to either heap lives.
    unsafe {
        let heap = &mut *ptr::addr_of_mut!(HEAP);
        *ptr::addr_of_mut!(ASIDE) = *heap;
        *heap = Heap { next: start.add(GRAIN - TAG_BYTES), left: size - GRAIN, ..Heap::EMPTY };
    }
}

/// Goes on with the heap that was set aside.
///
/// # Safety
/// No block that was made meanwhile is used any more.
pub(crate) unsafe fn put_back() {
    // What was set aside may have been put there by address, which the compiler cannot know of.
    let aside = std::hint::black_box(ptr::addr_of_mut!(ASIDE));
    // SAFETY: there is one thread, and no other reference to either heap lives.
    unsafe { *ptr::addr_of_mut!(HEAP) = aside.read() };
}

/// Asks the host for more than there can be: it ends the run with the memory limit's own error. QuickJS would make a
/// JavaScript error of a failed allocation, which a script could catch and go on.
#[cold]
pub(crate) fn out_of_memory() -> ! {
    core::arch::wasm32::memory_grow(0, MAX_PAGES);
    core::arch::wasm32::unreachable()
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __wrap_malloc(size: usize) -> *mut u8 {
    if size > SMALL_BYTES {
        return large(size, GRAIN);
    }
    let grains = grains(size);
    // SAFETY: there is one thread; a free block's content begins with a pointer to the next.
    unsafe {
        let heap = &mut *ptr::addr_of_mut!(HEAP);
        let first = heap.free[grains];
        if !first.is_null() {
            heap.free[grains] = first.cast::<*mut u8>().read();
            return first;
        }
        cut(heap, grains)
    }
}

/// A new small block.
///
/// # Safety
/// The grains are those of a small block.
unsafe fn cut(heap: &mut Heap, grains: usize) -> *mut u8 {
    // A block of QuickJS ends where a content begins; there is room for half a grain more, then.
    let padding = |next: *mut u8| (GRAIN - TAG_BYTES).wrapping_sub(next.addr()) % GRAIN;
    let (size, mut before) = (grains * GRAIN, padding(heap.next));
    if before + size > heap.left {
        refill(heap, CHUNK_BYTES);
        before = padding(heap.next);
    }
    // SAFETY: the chunk has this much left.
    unsafe {
        let tag = heap.next.add(before);
        heap.next = tag.add(size);
        heap.left -= before + size;
        tag.cast::<u32>().write((grains << 1 | 1) as u32);
        tag.add(TAG_BYTES)
    }
}

/// Begins a chunk; what was left of the last one is lost.
#[cold]
fn refill(heap: &mut Heap, size: usize) {
    // SAFETY: asking libc for memory is always allowed; the chunk is this heap's from then on.
    let chunk = unsafe { __real_malloc(size) };
    if chunk.is_null() {
        out_of_memory();
    }
    begin(heap, chunk, size);
}

/// Begins a chunk, of which QuickJS cuts a block.
#[unsafe(no_mangle)]
extern "C" fn agent_spaces_heap_refill() {
    // SAFETY: there is one thread, and no other reference to the heap lives.
    refill(unsafe { &mut *ptr::addr_of_mut!(HEAP) }, CHUNK_BYTES);
}

fn begin(heap: &mut Heap, chunk: *mut u8, size: usize) {
    // SAFETY: libc aligns to eight at least, so that the content after a tag here is aligned as well.
    heap.next = unsafe { chunk.add(GRAIN - TAG_BYTES) };
    heap.left = size - GRAIN;
}

/// A block of libc's, with its tag before its content.
#[cold]
#[inline(never)]
fn large(size: usize, align: usize) -> *mut u8 {
    let Some(whole) = size.checked_add(align.max(GRAIN)) else { out_of_memory() };
    // SAFETY: asking libc for memory is always allowed. Its blocks are aligned to eight at least, so that there is room
    // for a tag before the first aligned place that is not the beginning.
    unsafe {
        let base = __real_malloc(whole);
        if base.is_null() {
            out_of_memory();
        }
        let offset = align.max(GRAIN) - base.addr() % align.max(GRAIN);
        tagged(base, offset)
    }
}

/// The content of a block of libc's, which begins so far into it, with its tag before it.
///
/// # Safety
///
/// There are four bytes for the tag before the content.
unsafe fn tagged(base: *mut u8, offset: usize) -> *mut u8 {
    // SAFETY: the caller says so.
    unsafe {
        let content = base.add(offset);
        content.cast::<u32>().sub(1).write((offset as u32) << 1);
        content
    }
}

/// The tag before a block's content.
///
/// # Safety
/// The content is a live block's.
unsafe fn tag(content: *mut u8) -> usize {
    // SAFETY: every block has one.
    unsafe { content.cast::<u32>().sub(1).read() as usize }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __wrap_free(content: *mut u8) {
    if content.is_null() {
        return;
    }
    // SAFETY: a live block, which is the heap's from here on; there is one thread.
    unsafe {
        let tag = tag(content);
        if tag & 1 == 0 {
            if CLEARS {
                content.write_bytes(0, __wrap_malloc_usable_size(content));
            }
            return __real_free(content.sub(tag >> 1));
        }
        let first = &mut (*ptr::addr_of_mut!(HEAP)).free[tag >> 1];
        content.cast::<*mut u8>().write(*first);
        *first = content;
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __wrap_malloc_usable_size(content: *mut u8) -> usize {
    if content.is_null() {
        return 0;
    }
    // SAFETY: a live block.
    unsafe {
        let tag = tag(content);
        match tag & 1 {
            0 => __real_malloc_usable_size(content.sub(tag >> 1)) - (tag >> 1),
            _ => capacity(tag >> 1),
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __wrap_calloc(count: usize, size: usize) -> *mut u8 {
    let Some(size) = count.checked_mul(size) else { out_of_memory() };
    // SAFETY: a new block has the size that was asked for; what libc gives zeroed has room for the tag.
    unsafe {
        if size <= SMALL_BYTES {
            let content = __wrap_malloc(size);
            content.write_bytes(0, size);
            return content;
        }
        let Some(whole) = size.checked_add(GRAIN) else { out_of_memory() };
        let base = __real_calloc(1, whole);
        if base.is_null() {
            out_of_memory();
        }
        tagged(base, GRAIN)
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __wrap_realloc(content: *mut u8, size: usize) -> *mut u8 {
    // SAFETY: a live block, which is copied to where there is room for it.
    unsafe {
        if content.is_null() {
            return __wrap_malloc(size);
        }
        let tag = tag(content);
        let old = match tag & 1 {
            1 if size <= SMALL_BYTES && grains(size) == tag >> 1 => return content,
            1 => capacity(tag >> 1),
            _ if size > SMALL_BYTES && tag >> 1 == GRAIN && !CLEARS => {
                let Some(whole) = size.checked_add(GRAIN) else { out_of_memory() };
                let base = __real_realloc(content.sub(GRAIN), whole);
                if base.is_null() {
                    out_of_memory();
                }
                return base.add(GRAIN);
            }
            _ => __wrap_malloc_usable_size(content),
        };
        let moved = __wrap_malloc(size);
        ptr::copy_nonoverlapping(content, moved, old.min(size));
        __wrap_free(content);
        moved
    }
}

#[unsafe(no_mangle)]
extern "C" fn __wrap_aligned_alloc(align: usize, size: usize) -> *mut u8 {
    large(size, align)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __wrap_posix_memalign(out: *mut *mut u8, align: usize, size: usize) -> i32 {
    // SAFETY: the caller passes a place for a pointer.
    unsafe { out.write(large(size, align)) };
    0
}
