//! Suggestions for misspelt paths and module names: the nearest file or folder that exists.

use super::files;
use crate::find::join;
use capability_gen::compile::NAMESPACE;
use capability_gen::names::{module_name, nearest, single_function_module};
use std::path::{Path, PathBuf};

/// Most entries of one folder that are compared.
const MAX_NAMES: usize = 1_000;

/// Most components of a path that a suggestion is searched for. Each component is looked up together with all before
/// it, so the time grows with the square of their number; paths that people write have fewer than 20.
const MAX_PARTS: usize = 64;

/// Default folder of definitions.
const DEFAULT_FOLDER: &str = "./capabilities";

/// Returns the existing path nearest to `written`, as the configuration would write it. Returns `None` for a path of
/// more than [`MAX_PARTS`] components.
pub(super) fn near_path(folder: &Path, written: &str) -> Option<String> {
    let parts: Vec<&str> = written.split('/').take(MAX_PARTS + 1).collect();
    if parts.len() > MAX_PARTS {
        return None;
    }
    let mut known = String::new();
    for (index, part) in parts.iter().enumerate() {
        let is_last = index + 1 == parts.len();
        let path = |name: &str| if index == 0 { name.to_owned() } else { format!("{known}/{name}") };
        let is_there = part.is_empty() || matches!(*part, "." | ".." | "~") || join(folder, &path(part)).exists();
        let name = match is_there {
            true => (*part).to_owned(),
            false => near_name(&join(folder, if index == 0 { "." } else { &known }), part, is_last)?,
        };
        known = path(&name);
    }
    (known != written && files::at(&join(folder, &known)).is_ok()).then_some(known)
}

/// Returns the nearest name in a folder. Extensions are not compared: `a.json` is not near `b.json`.
fn near_name(folder: &Path, name: &str, may_be_file: bool) -> Option<String> {
    let stem = |name: &str| name.split_once('.').map_or(name, |(stem, _)| stem).to_owned();
    let listed = std::fs::read_dir(folder).ok()?.take(MAX_NAMES).filter_map(Result::ok).map(|entry| entry.path());
    let is_meant = |path: &PathBuf| path.is_dir() || (may_be_file && files::may_define(path));
    let mut names: Vec<String> = listed
        .filter(is_meant)
        .filter_map(|path| Some(path.file_name()?.to_str()?.to_owned()))
        .filter(|name| !name.starts_with('.'))
        .collect();
    // The order of a folder differs from machine to machine.
    names.sort();
    let stems: Vec<String> = names.iter().map(|name| stem(name)).collect();
    let near = nearest(&stem(name), stems.iter().map(String::as_str))?.to_owned();
    names.into_iter().find(|name| stem(name) == near)
}

/// Finds the file in the default folder whose module has this name or a similar one. Returns the module's name and the
/// file's path.
pub(crate) fn default_folder_file(folder: &Path, module: &str) -> Option<(String, String)> {
    let name = module.strip_prefix(&format!("@{NAMESPACE}/"))?;
    let files = files::at(&join(folder, DEFAULT_FOLDER)).ok()?;
    let named: Vec<(String, String)> = files
        .iter()
        .take(MAX_NAMES)
        .filter_map(|file| Some((file.file_stem()?.to_str()?, file.file_name()?.to_str()?)))
        .flat_map(|(stem, file)| [module_name(stem), single_function_module(stem)].map(|name| (name, file)))
        .map(|(name, file)| (name, format!("{DEFAULT_FOLDER}/{file}")))
        .collect();
    let near = nearest(name, named.iter().map(|(name, _)| name.as_str()))?;
    let (name, path) = named.iter().find(|(name, _)| name == near)?;
    Some((format!("@{NAMESPACE}/{name}"), path.clone()))
}

#[cfg(test)]
mod tests {
    use crate::definitions::near_path::{MAX_PARTS, default_folder_file, near_path};

    #[test]
    fn a_misspelt_path_gets_a_suggestion() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        std::fs::create_dir_all(root.join("capabilities/inner")).unwrap();
        for file in ["capabilities/orders.ts", "capabilities/b.json", "capabilities/readme.md", "weather.json"] {
            std::fs::write(root.join(file), "defineTool").unwrap();
        }
        for (written, meant) in [
            ("./capabilities/order.ts", Some("./capabilities/orders.ts")),
            ("./capabilities/order", Some("./capabilities/orders.ts")),
            ("./capabilities/orders.json", Some("./capabilities/orders.ts")),
            ("./capabilites/orders.ts", Some("./capabilities/orders.ts")),
            ("./capabilites", Some("./capabilities")),
            ("./capabilities/iner", Some("./capabilities/inner")),
            ("weathr.json", Some("weather.json")),
            ("./capabilities/invoices.json", None),
            ("./capabilities/redme.md", None),
            ("./elsewhere/orders.ts", None),
        ] {
            assert_eq!(near_path(root, written).as_deref(), meant, "{written}");
        }
    }

    #[test]
    fn a_path_of_too_many_components_gets_no_suggestion() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("orders.json"), "").unwrap();
        // One component for each dot, and one for the name.
        let found = |dots: usize| near_path(folder.path(), &format!("{}order.json", "./".repeat(dots)));
        assert_eq!(found(MAX_PARTS - 1), Some(format!("{}orders.json", "./".repeat(MAX_PARTS - 1))));
        assert_eq!((found(MAX_PARTS), found(1_000_000)), (None, None));
    }

    #[test]
    fn a_module_in_the_default_folder_is_found_by_its_name() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("capabilities")).unwrap();
        for file in ["my_orders.ts", "get_weather.json"] {
            std::fs::write(folder.path().join("capabilities").join(file), "").unwrap();
        }
        let found = |name: &str| default_folder_file(folder.path(), name).map(|(name, path)| format!("{name} {path}"));
        let orders = Some("@capabilities/my-orders ./capabilities/my_orders.ts".to_owned());
        assert_eq!(found("@capabilities/my-orders"), orders);
        assert_eq!(found("@capabilities/my-order"), orders);
        assert_eq!(found("@capabilities/weather").unwrap(), "@capabilities/weather ./capabilities/get_weather.json");
        assert_eq!((found("@capabilities/lodash"), found("@company/my-orders")), (None, None));
    }
}
