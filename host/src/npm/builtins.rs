//! Modules of Node, and what to use instead.

/// What to use instead of a module of Node; nothing where the name is none of them.
pub(super) fn instead_of(specifier: &str) -> Option<String> {
    let name = specifier.strip_prefix("node:").unwrap_or(specifier);
    let is_builtin = specifier.starts_with("node:") || nodejs_built_in_modules::is_nodejs_builtin_module(name);
    is_builtin.then(|| advice(name.split('/').next().unwrap_or(name)))
}

fn advice(module: &str) -> String {
    match module {
        "fs" => "handlers have no files: import data as a .json file, or take it as a parameter".into(),
        "http" | "https" | "http2" | "net" | "tls" | "dgram" | "dns" => {
            "use `fetch`, with the hosts that the configuration's `providers` give the module".into()
        }
        "crypto" => "use the global `crypto`, or `crypto` of '@agent-spaces/std'".into(),
        "process" => "use the global `process.env`".into(),
        "timers" => "use the global `setTimeout`".into(),
        "perf_hooks" => "use the global `performance`".into(),
        "child_process" | "worker_threads" | "cluster" => "handlers start no programs and no threads".into(),
        "assert" | "buffer" | "events" | "path" | "punycode" | "querystring" | "string_decoder" | "url" | "util" => {
            format!("`npm install {module}` adds a package of that name, which is then used")
        }
        _ => "use a package that also runs in browsers".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::instead_of;

    #[test]
    fn modules_of_node_are_known_with_and_without_their_prefix() {
        for name in ["fs", "node:fs", "fs/promises", "node:fs/promises"] {
            assert!(instead_of(name).unwrap().contains(".json"), "{name}");
        }
        assert!(instead_of("node:sqlite").is_some());
        assert!(instead_of("buffer").unwrap().contains("npm install buffer"));
        assert_eq!(instead_of("zod"), None);
        assert_eq!(instead_of("fs-extra"), None);
    }
}
