//! What is in the engine, as a CycloneDX document.

use anyhow::{Context, Result};
use serde_json::{Value, json};
use std::path::Path;

/// Writes `engine.cdx.json`: every crate of the lock file with its checksum, and QuickJS, which comes as C inside one
/// of them.
pub(crate) fn write(directory: &Path, lock: &str, quickjs: &str) -> Result<()> {
    let mut components: Vec<Value> = packages(lock).map(Package::component).collect();
    components.push(json!({
        "type": "library", "name": "quickjs-ng", "version": quickjs,
        "purl": format!("pkg:github/quickjs-ng/quickjs@v{quickjs}"),
    }));
    let document = json!({
        "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
        "metadata": { "component": { "type": "library", "name": "agent-spaces-engine" } },
        "components": components,
    });
    let path = directory.join("engine.cdx.json");
    std::fs::write(&path, format!("{}\n", serde_json::to_string_pretty(&document)?))
        .with_context(|| format!("writing {}", path.display()))
}

struct Package<'a> {
    name: &'a str,
    version: &'a str,
    checksum: &'a str,
}

/// The packages of a lock file that come from a registry.
fn packages(lock: &str) -> impl Iterator<Item = Package<'_>> {
    lock.split("[[package]]").skip(1).filter_map(|text| {
        let value = |key: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = \""));
            line.and_then(|line| line.strip_suffix('"'))
        };
        Some(Package { name: value("name")?, version: value("version")?, checksum: value("checksum")? })
    })
}

impl Package<'_> {
    fn component(self) -> Value {
        json!({
            "type": "library", "name": self.name, "version": self.version,
            "purl": format!("pkg:cargo/{}@{}", self.name, self.version),
            "hashes": [{ "alg": "SHA-256", "content": self.checksum }],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::packages;

    #[test]
    fn crates_of_a_registry_are_listed_and_others_are_not() {
        let lock = "version = 4\n\n[[package]]\nname = \"a\"\nversion = \"1.0.0\"\nchecksum = \"ab\"\n\n[[package]]\nname = \"own\"\nversion = \"0.1.0\"\n";
        let names: Vec<_> = packages(lock).map(|package| (package.name, package.version, package.checksum)).collect();
        assert_eq!(names, [("a", "1.0.0", "ab")]);
    }
}
