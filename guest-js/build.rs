//! Exports that the host's binding module needs from a static engine.

/// Four megabytes, and so much more that the pages that every run writes (the top of the stack, the data, and where the
/// heap begins) lie in one stretch of two megabytes: the kernel looks through a table of pages for each such stretch when
/// it is asked which were written.
const STACK_BYTES: usize = (4 << 20) + (32 << 10);

fn main() {
    for export in ["__stack_pointer", "BINDING_DATA", "js_compiled_layout"] {
        println!("cargo:rustc-cdylib-link-arg=--export={export}");
    }
    println!("cargo:rustc-cdylib-link-arg=--export-table");
    // Every allocation is the engine's own: see `src/heap.rs`.
    for function in ["malloc", "calloc", "realloc", "free", "malloc_usable_size", "aligned_alloc", "posix_memalign"] {
        println!("cargo:rustc-cdylib-link-arg=--wrap={function}");
    }
    // A binding appends its functions to the table.
    println!("cargo:rustc-cdylib-link-arg=--growable-table");
    // The shadow stack lies below the data, so that overflowing it traps instead of overwriting data.
    println!("cargo:rustc-cdylib-link-arg=--stack-first");
    println!("cargo:rustc-cdylib-link-arg=-zstack-size={STACK_BYTES}");
}
