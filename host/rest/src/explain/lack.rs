//! Files and network that a function of the standard library needs, and the space lacks.

use agent_spaces_policy::{Explained, FilePolicy, FunctionId, NetworkPolicy};
use agent_spaces_types::standard::is_part;

/// Places of what a space has, which manifests show to its callers too.
const FILES: &str = "the files of the space";
const NETWORK: &str = "the network of the space";

/// Functions of `fs` that change files; all others read.
const WRITES: [&str; 5] = ["write-file", "write-bytes", "append-file", "delete", "mkdir"];

/// Returns true for the place of such a condition, which callers may know.
pub(super) fn is_place(place: &str) -> bool {
    place == FILES || place == NETWORK
}

/// Returns the condition that every call of a function of the standard library fails, because the space lacks the files or
/// the network that it needs. Rules over functions know nothing of these.
pub(super) fn of(function: &FunctionId, files: Option<FilePolicy>, network: &NetworkPolicy) -> Option<Explained> {
    let fails = |text: &str, place: &str| {
        Some(Explained { text: text.to_owned(), place: place.to_owned(), passes: Some(false), why: None })
    };
    if is_part(function.interface(), "http") {
        let has_network = network.enabled && !network.domains.is_empty();
        return if has_network { None } else { fails("programs must have a network", NETWORK) };
    }
    if !is_part(function.interface(), "fs") {
        return None;
    }
    match files.filter(|files| files.read || files.write) {
        None => fails("programs must have files", FILES),
        Some(files) if WRITES.contains(&function.function()) => {
            if files.write {
                None
            } else {
                fails("programs must be allowed to write files", FILES)
            }
        }
        Some(files) if !files.read => fails("programs must be allowed to read files", FILES),
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use agent_spaces_policy::{DomainPattern, FilePolicy, FunctionId, NetworkPolicy};

    #[test]
    fn files_and_network_that_a_space_lacks_deny_what_needs_them() {
        let of = |part: &str, name: &str| FunctionId::new(format!("agent-spaces:std/{part}@1.0.0"), name);
        let files = |read, write| Some(FilePolicy { read, write, max_file_bytes: 1, max_total_bytes: 1 });
        let off = NetworkPolicy::default();
        let on = NetworkPolicy {
            enabled: true,
            domains: vec![DomainPattern::parse("api.example.com").unwrap()],
            ..off.clone()
        };
        let lacks = |part: &str, name: &str, files, network: &NetworkPolicy| {
            super::of(&of(part, name), files, network).is_some()
        };
        assert!(lacks("http", "get", files(true, true), &off) && !lacks("http", "get", None, &on));
        assert!(lacks("http", "get", None, &NetworkPolicy { domains: Vec::new(), ..on.clone() }), "no host is allowed");
        for name in ["read-file", "list", "write-file", "delete"] {
            assert!(lacks("fs", name, None, &on) && lacks("fs", name, files(false, false), &on), "{name}");
            assert!(!lacks("fs", name, files(true, true), &off), "{name}");
        }
        assert!(lacks("fs", "mkdir", files(true, false), &on) && !lacks("fs", "glob", files(true, false), &on));
        assert!(lacks("fs", "glob", files(false, true), &on) && !lacks("fs", "mkdir", files(false, true), &on));
        assert!(!lacks("time", "now", None, &off));
        assert_eq!(super::of(&FunctionId::new("capabilities:http/http@1.0.0", "get"), None, &off), None, "another's");
    }
}
