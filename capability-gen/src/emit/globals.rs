//! TypeScript declarations of the sandbox's globals.

/// `globals.d.ts`, used together with the modules' declarations. With it, `tsc --strict` needs no library but ES2023.
pub fn globals_dts() -> &'static str {
    include_str!("typescript/globals.d.ts")
}

/// `capabilities.d.ts`: declarations of the module that TypeScript definitions import.
pub fn capabilities_dts() -> &'static str {
    include_str!("typescript/capabilities.d.ts")
}
