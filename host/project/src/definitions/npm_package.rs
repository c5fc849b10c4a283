//! npm package of a definition, and npm packages that handlers import.

use crate::text;
use agent_spaces_linker::npm;
use agent_spaces_script::{Language, SourceKind, prepare};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Size limit of a `package.json`: the largest on npm have some hundred kilobytes.
const MAX_PACKAGE_BYTES: usize = 1024 * 1024;

/// Size limit of a file of handlers whose imports are listed.
const MAX_HANDLER_BYTES: usize = 1024 * 1024;

/// Most dependencies that a bundle lists. Packages have a few dozen.
const MAX_DEPENDENCIES: usize = 256;

/// Longest name or version range: the limit of npm for names.
const MAX_TEXT: usize = 214;

/// Fields of a `package.json`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct NpmPackage {
    /// Version, if it is three numbers.
    pub(super) version: Option<String>,
    /// Dependencies with their ranges: `zod@^4.0.0`.
    pub(super) dependencies: Vec<String>,
}

impl NpmPackage {
    /// Package that contains a file; `None` outside of `node_modules`.
    pub(super) fn of(file: &Path) -> Option<NpmPackage> {
        // `root_of` needs a folder before `node_modules`.
        let path = Path::new(".").join(file).to_string_lossy().replace('\\', "/");
        let root = npm::root_of(&path)?;
        let text = text::read(&Path::new(root).join("package.json"), MAX_PACKAGE_BYTES).unwrap_or_default();
        let package: Value = serde_json::from_str(&text).unwrap_or_default();
        let version = package.get("version").and_then(Value::as_str).filter(|version| is_plain(version));
        let ranges = package.get("dependencies").and_then(Value::as_object);
        let listed = ranges.into_iter().flatten().filter_map(|(name, range)| Some((name.as_str(), range.as_str()?)));
        let listed = listed.filter(|(name, range)| name.len() <= MAX_TEXT && range.len() <= MAX_TEXT);
        let listed: BTreeMap<&str, &str> = listed.take(MAX_DEPENDENCIES).collect();
        let dependencies = listed.into_iter().map(|(name, range)| format!("{name}@{range}")).collect();
        Some(NpmPackage { version: version.map(str::to_owned), dependencies })
    }
}

/// Returns true for `1.2.3`, the form of a WIT package version.
fn is_plain(version: &str) -> bool {
    let numbers: Vec<&str> = version.split('.').collect();
    numbers.len() == 3 && numbers.iter().all(|number| number.parse::<u32>().is_ok())
}

/// npm packages that a file of handlers imports directly. Returns none for a file that cannot be read or parsed: calls
/// report that error.
pub(super) fn imported(file: &Path) -> Vec<String> {
    let mut packages = BTreeSet::new();
    let Ok(source) = text::read(file, MAX_HANDLER_BYTES) else { return Vec::new() };
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let _ = prepare(&source, &name, Language::of_file(&name).unwrap_or_default(), SourceKind::Module, &mut |site| {
        let specifier = site.specifier;
        let is_ours = ["@agent-spaces/", "@capabilities/"].iter().any(|scope| specifier.starts_with(scope));
        if let (false, Some(package)) = (is_ours || specifier.starts_with('.'), npm::package_of(specifier)) {
            packages.insert(package.to_owned());
        }
        Ok(specifier.to_owned())
    });
    packages.into_iter().take(MAX_DEPENDENCIES).collect()
}
