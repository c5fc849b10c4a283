//! Declarations of what every script finds in the sandbox.

/// `globals.d.ts`, to stand beside the modules' declarations. With it, `tsc --strict` needs no library but ES2023.
pub fn globals_dts() -> &'static str {
    include_str!("typescript/globals.d.ts")
}

/// `capabilities.d.ts`: what a definition in TypeScript imports.
pub fn capabilities_dts() -> &'static str {
    include_str!("typescript/capabilities.d.ts")
}
