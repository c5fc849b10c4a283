//! Missing modules of Node, with replacements.

use super::{Position, global};

const STANDARD: &str = "of '@agent-spaces/std'";

/// Returns the replacement of a module of Node; `None` for other names.
///
/// `has_standard` is true for the parts of the standard library that the code can import.
pub fn instead_of(specifier: &str, position: Position, has_standard: impl Fn(&str) -> bool) -> Option<String> {
    let name = specifier.strip_prefix("node:").unwrap_or(specifier);
    let is_builtin = specifier.starts_with("node:") || nodejs_built_in_modules::is_nodejs_builtin_module(name);
    let module = top_module(specifier);
    is_builtin.then(|| match position {
        Position::Script => for_script(module, has_standard),
        Position::Handler => for_handler(module),
    })
}

/// Returns true for `fs` of Node and its submodules.
pub fn is_node_fs(specifier: &str) -> bool {
    top_module(specifier) == "fs"
}

/// Returns `fs` for `node:fs/promises`.
fn top_module(specifier: &str) -> &str {
    let name = specifier.strip_prefix("node:").unwrap_or(specifier);
    name.split('/').next().unwrap_or(name)
}

/// Hint for an import of an npm package.
pub const NO_PACKAGES: &str = "scripts cannot import npm packages";

/// True if a specifier looks like an npm package rather than a capability module.
pub fn is_package(specifier: &str) -> bool {
    let is_ours = ["@capabilities/", "@agent-spaces/"].iter().any(|scope| specifier.starts_with(scope));
    let name = specifier.strip_prefix('@').unwrap_or(specifier);
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.' | '/');
    !is_ours && name.starts_with(|first: char| first.is_ascii_lowercase()) && name.chars().all(is_name)
}

/// Replacements for scripts and handlers alike.
fn for_both(module: &str) -> Option<&'static str> {
    Some(match module {
        "timers" => "use the global `setTimeout`: `await new Promise((done) => setTimeout(done, 1000))`",
        "perf_hooks" => "use the global `performance`",
        "url" => "use the globals `URL` and `URLSearchParams`",
        "events" => "use the globals `EventTarget` and `CustomEvent`",
        "crypto" => "use the global `crypto` (`randomUUID`, `getRandomValues`, `subtle.digest`)",
        _ => return None,
    })
}

fn for_script(module: &str, has_standard: impl Fn(&str) -> bool) -> String {
    let with_standard = |text: &str, part: &str, standard: &str| match has_standard(part) {
        true => format!("{text}, or `{standard}` {STANDARD}"),
        false => text.to_owned(),
    };
    let of_global = |name: &str| global(name, Position::Script).unwrap_or_default().to_owned();
    let text = for_both(module).unwrap_or_default();
    match module {
        "fs" if has_standard("fs") => {
            format!("use `fs` {STANDARD}; files of the workspace that are code or JSON are imported as './name'")
        }
        "fs" => "use a capability that has files; modules of the workspace are imported as './name'".into(),
        "timers" => with_standard(text, "time", "time.sleep"),
        "crypto" => with_standard(text, "crypto", "crypto"),
        "http" | "https" | "http2" | "net" | "tls" | "dgram" | "dns" if has_standard("http") => {
            format!("use `fetch`, or `http` {STANDARD}")
        }
        "http" | "https" | "http2" | "net" | "tls" | "dgram" | "dns" => of_global("fetch"),
        "process" => of_global("process"),
        "buffer" => of_global("Buffer"),
        "child_process" | "worker_threads" | "cluster" => {
            "scripts cannot start programs or threads; Promise.all runs calls concurrently".into()
        }
        "os" => "scripts have no access to system information".into(),
        "path" => "join paths as text; `new URL(path, 'file:///')` resolves `..`".into(),
        "util" => "use `structuredClone`, `TextEncoder`, and `console.log`, which shows values as Node does".into(),
        "assert" => "throw an Error if a condition fails".into(),
        "stream" | "readline" | "zlib" => {
            "streams are not available; use a capability that returns whole values".into()
        }
        _ if !text.is_empty() => text.into(),
        _ => "use a capability module".into(),
    }
}

fn for_handler(module: &str) -> String {
    match module {
        "fs" => "handlers have no files: import data as a .json file, or take it as a parameter".into(),
        "http" | "https" | "http2" | "net" | "tls" | "dgram" | "dns" => {
            "use `fetch`, with the hosts that the configuration's `providers` give the module".into()
        }
        "crypto" => format!("{}, or `crypto` {STANDARD}", for_both(module).unwrap_or_default()),
        "process" => "use the global `process.env`".into(),
        "child_process" | "worker_threads" | "cluster" => "handlers cannot start programs or threads".into(),
        "assert" | "buffer" | "events" | "path" | "punycode" | "querystring" | "string_decoder" | "url" | "util" => {
            format!("`npm install {module}` adds a package of that name, which is then used")
        }
        _ => for_both(module).unwrap_or("use a package that also runs in browsers").into(),
    }
}

#[cfg(test)]
mod tests {
    use crate::absent::modules::*;

    #[test]
    fn modules_of_node_are_known_with_and_without_their_prefix() {
        let handler = |name| instead_of(name, Position::Handler, |_| true);
        for name in ["fs", "node:fs", "fs/promises", "node:fs/promises"] {
            assert!(is_node_fs(name) && handler(name).unwrap().contains(".json"), "{name}");
        }
        assert!(handler("node:sqlite").is_some());
        assert!(handler("buffer").unwrap().contains("npm install buffer"));
        assert_eq!(handler("zod"), None);
        assert!(!is_node_fs("fs-extra") && handler("fs-extra").is_none());
    }

    #[test]
    fn scripts_are_told_of_what_they_can_import() {
        let with = |name| instead_of(name, Position::Script, |_| true).unwrap();
        let without = |name| instead_of(name, Position::Script, |_| false).unwrap();
        assert!(with("node:fs").contains("'@agent-spaces/std'") && !without("fs").contains("std"));
        assert!(
            with("timers/promises").contains("time.sleep") && without("node:timers/promises").contains("setTimeout")
        );
        assert!(without("crypto").contains("subtle.digest") && !without("crypto").contains("std"));
        assert!(without("process").contains("no environment"));
        assert!(without("buffer").contains("Uint8Array"));
        assert_eq!(instead_of("lodash", Position::Script, |_| true), None);
        for name in ["lodash", "axios", "@types/node", "lodash/fp", "left-pad"] {
            assert!(is_package(name), "{name}");
        }
        for name in ["@capabilities/slack", "https://esm.sh/x", "/etc/passwd", "./x", "@agent-spaces/std", ""] {
            assert!(!is_package(name), "{name}");
        }
    }
}
