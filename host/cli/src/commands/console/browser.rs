//! Detection of a graphical session, in which a browser can be opened.

/// Variables of graphical sessions, and of programs that open a browser elsewhere: one is enough.
const VARIABLES: [&str; 4] = ["DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME", "BROWSER"];

/// Returns true if this process belongs to a session with a screen.
pub(super) fn has_display() -> bool {
    if cfg!(any(target_os = "macos", target_os = "windows")) {
        return std::env::var_os("SSH_CONNECTION").is_none();
    }
    VARIABLES.iter().any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()))
}
