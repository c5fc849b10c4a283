//! The preview1 functions that libc and std were linked against, answered inside the engine.
//!
//! `pack/` points the module's WASI imports here, so that the engine imports no WASI at all: there is
//! no file, no environment and no argument to be had, whatever the host grants.

use crate::{engine, host};

const SUCCESS: i32 = 0;
const BAD_DESCRIPTOR: i32 = 8;

#[unsafe(no_mangle)]
extern "C" fn preview1_clock_time_get(id: i32, _precision: i64, out: *mut u64) -> i32 {
    // While the engine is being set up there is no host to ask, and nothing may depend on the answer.
    let nanoseconds = match id {
        _ if !engine::is_bound() => 0,
        0 => host::now(),
        _ => host::monotonic(),
    };
    // SAFETY: libc passes a pointer to a timestamp of its own.
    unsafe { out.write_unaligned(nanoseconds) };
    SUCCESS
}

#[unsafe(no_mangle)]
extern "C" fn preview1_random_get(out: *mut u8, length: usize) -> i32 {
    // SAFETY: libc passes a buffer of its own with this length.
    let bytes = unsafe { std::slice::from_raw_parts_mut(out, length) };
    if engine::is_bound() {
        host::random_bytes(bytes);
    } else {
        // Seeds of the hash maps in Javy's set-up, whose keys no script chooses.
        bytes.fill(0);
    }
    SUCCESS
}

#[unsafe(no_mangle)]
extern "C" fn preview1_environ_get(_environ: i32, _buffer: i32) -> i32 {
    SUCCESS
}

#[unsafe(no_mangle)]
extern "C" fn preview1_environ_sizes_get(count: *mut u32, size: *mut u32) -> i32 {
    // SAFETY: libc passes pointers to two counters of its own.
    unsafe {
        count.write_unaligned(0);
        size.write_unaligned(0);
    }
    SUCCESS
}

/// Swallows what libc prints (assertions, panics): the trap that follows says enough, and there is
/// nowhere to print to.
#[unsafe(no_mangle)]
extern "C" fn preview1_fd_write(_fd: i32, vectors: *const [usize; 2], count: usize, out: *mut usize) -> i32 {
    // SAFETY: libc passes `count` vectors and a pointer to a counter of its own.
    unsafe {
        let written = (0..count).map(|i| (*vectors.add(i))[1]).sum();
        out.write_unaligned(written);
    }
    SUCCESS
}

#[unsafe(no_mangle)]
extern "C" fn preview1_proc_exit(_code: i32) -> ! {
    core::arch::wasm32::unreachable()
}

#[unsafe(no_mangle)]
extern "C" fn preview1_sched_yield() -> i32 {
    SUCCESS
}

macro_rules! no_descriptors {
    ($($name:ident($($argument:ident: $type:ty),*);)*) => {
        $(#[unsafe(no_mangle)] extern "C" fn $name($($argument: $type),*) -> i32 { BAD_DESCRIPTOR })*
    };
}
no_descriptors! {
    preview1_fd_close(_fd: i32);
    preview1_fd_fdstat_get(_fd: i32, _out: i32);
    preview1_fd_prestat_dir_name(_fd: i32, _path: i32, _length: i32);
    preview1_fd_prestat_get(_fd: i32, _out: i32);
    preview1_fd_read(_fd: i32, _vectors: i32, _count: i32, _out: i32);
    preview1_fd_seek(_fd: i32, _offset: i64, _whence: i32, _out: i32);
}
