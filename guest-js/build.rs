//! Exports that the host's binding module needs from a static engine.

fn main() {
    for export in ["__stack_pointer", "BINDING_DATA"] {
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
    println!("cargo:rustc-cdylib-link-arg=-zstack-size=4194304");
}
