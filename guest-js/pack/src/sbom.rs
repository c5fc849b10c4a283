//! What is in the engine, as a CycloneDX document.

use crate::patches::Patch;
use anyhow::{Context, Result};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// Writes `engine.cdx.json`: every crate of the lock files with its checksum, and QuickJS, which comes as C inside one
/// of them, with our patches.
pub(crate) fn write(directory: &Path, locks: &[&str], quickjs: &str, patches: &[Patch]) -> Result<()> {
    let packages: BTreeMap<_, _> = locks
        .iter()
        .flat_map(|lock| packages(lock))
        .map(|package| ((package.name, package.version), package))
        .collect();
    let mut components: Vec<Value> = packages.into_values().map(Package::component).collect();
    components.push(engine(quickjs, patches));
    let document = json!({
        "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
        "metadata": { "component": { "type": "library", "name": "agent-spaces-engine" } },
        "components": components,
    });
    let path = directory.join("engine.cdx.json");
    std::fs::write(&path, format!("{}\n", serde_json::to_string_pretty(&document)?))
        .with_context(|| format!("writing {}", path.display()))
}

/// QuickJS with its pedigree: each patch by its file and what that holds.
fn engine(quickjs: &str, patches: &[Patch]) -> Value {
    let mut component = json!({
        "type": "library", "name": "quickjs-ng", "version": quickjs,
        "purl": format!("pkg:github/quickjs-ng/quickjs@v{quickjs}"),
    });
    if !patches.is_empty() {
        // The schema has no place for the hash of a patch: it stands beside them.
        let file = |patch: &Patch| format!("guest-js/patches/{}.patch", patch.name);
        let listed = patches.iter().map(|patch| json!({ "type": "unofficial", "diff": { "url": file(patch) } }));
        let hashes =
            patches.iter().map(|patch| json!({ "name": format!("sha256 of {}", file(patch)), "value": patch.sha256 }));
        component["pedigree"] = json!({ "patches": listed.collect::<Vec<_>>() });
        component["properties"] = json!(hashes.collect::<Vec<_>>());
    }
    component
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
    use super::{engine, packages};
    use crate::patches::Patch;

    #[test]
    fn crates_of_a_registry_are_listed_and_others_are_not() {
        let lock = "version = 4\n\n[[package]]\nname = \"a\"\nversion = \"1.0.0\"\nchecksum = \"ab\"\n\n[[package]]\nname = \"own\"\nversion = \"0.1.0\"\n";
        let names: Vec<_> = packages(lock).map(|package| (package.name, package.version, package.checksum)).collect();
        assert_eq!(names, [("a", "1.0.0", "ab")]);
    }

    #[test]
    fn patches_are_part_of_the_pedigree() {
        let patch = Patch { name: "0001-a".to_owned(), sha256: "ab".to_owned() };
        let component = engine("1.2.3", &[patch]);
        assert_eq!(component["pedigree"]["patches"][0]["diff"]["url"], "guest-js/patches/0001-a.patch");
        assert_eq!(component["properties"][0]["value"], "ab");
        assert!(engine("1.2.3", &[]).get("pedigree").is_none());
    }
}
