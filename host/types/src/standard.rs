//! Names of the standard library, `@agent-spaces/std`.

/// Module specifier of the standard library.
pub const SPECIFIER: &str = "@agent-spaces/std";

/// Prefix of the WIT names of the standard library's interfaces.
pub const STANDARD: &str = "agent-spaces:std/";

/// Interface that implements the global `fetch`.
pub const HTTP: &str = "agent-spaces:std/http@1.0.0";

/// Returns true if an interface is this part of the standard library: `fs`.
pub fn is_part(interface: &str, part: &str) -> bool {
    let name = interface.strip_prefix(STANDARD).and_then(|name| name.split('@').next());
    name == Some(part)
}
