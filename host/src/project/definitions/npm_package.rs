//! The npm package that a definition comes from, and the packages that handlers import.

use crate::npm;
use crate::project::text;
use crate::script::{Language, SourceKind, prepare};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The longest `package.json` that is read: the longest of npm have some hundred kilobytes.
const MAX_PACKAGE_BYTES: usize = 1024 * 1024;

/// The longest file of handlers whose imports are looked at.
const MAX_HANDLER_BYTES: usize = 1024 * 1024;

/// The most dependencies that a bundle lists; packages have a few dozen.
const MAX_DEPENDENCIES: usize = 256;

/// Longer names and ranges are nobody's.
const MAX_TEXT: usize = 214;

/// What a package says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct NpmPackage {
    /// Its own, where it is three numbers.
    pub(super) version: Option<String>,
    /// What it depends on: `zod@^4.0.0`.
    pub(super) dependencies: Vec<String>,
}

impl NpmPackage {
    /// The package that a file lies in; nothing for a file outside of every `node_modules`.
    pub(super) fn of(file: &Path) -> Option<NpmPackage> {
        // With a folder before it, as `root_of` wants it.
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

/// `1.2.3`: what a WIT package can have as its version.
fn is_plain(version: &str) -> bool {
    let numbers: Vec<&str> = version.split('.').collect();
    numbers.len() == 3 && numbers.iter().all(|number| number.parse::<u32>().is_ok())
}

/// The npm packages that a file of handlers imports itself. A file that cannot be read or parsed has none: whoever calls
/// it is told why.
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
