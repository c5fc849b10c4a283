//! What an import of a package is made of.

/// The package of a bare specifier: `zod` of `zod/v4`, `@scope/name` of `@scope/name/part`. Nothing for what cannot name
/// a package.
pub(crate) fn package_of(specifier: &str) -> Option<&str> {
    let parts = if specifier.starts_with('@') { 2 } else { 1 };
    let end = specifier.match_indices('/').nth(parts - 1).map_or(specifier.len(), |(at, _)| at);
    let name = specifier.get(..end)?;
    let is_part = |part: &str| !part.is_empty() && !part.starts_with('.') && part != super::FOLDER;
    let is_name = name.split('/').count() == parts
        && name.split('/').all(|part| is_part(part.strip_prefix('@').unwrap_or(part)))
        && !specifier.contains(['\\', '\0', ':', '?', '%'])
        && !specifier.split('/').any(|part| part == "..");
    is_name.then_some(name)
}

/// The folder of the package that a path lies in; nothing where it lies in no `node_modules`.
pub(crate) fn root_of(path: &str) -> Option<&str> {
    let marker = format!("/{}/", super::FOLDER);
    let start = path.rfind(&marker)? + marker.len();
    let name = package_of(path.get(start..)?)?;
    path.get(..start + name.len())
}

#[cfg(test)]
mod tests {
    use super::{package_of, root_of};

    #[test]
    fn a_specifier_begins_with_the_package() {
        for (specifier, name) in
            [("zod", "zod"), ("zod/v4/core", "zod"), ("@a/b", "@a/b"), ("@a/b/c/d", "@a/b"), ("__proto__", "__proto__")]
        {
            assert_eq!(package_of(specifier), Some(name), "{specifier}");
        }
    }

    #[test]
    fn what_is_no_package_has_no_name() {
        for specifier in [
            "",
            "@a",
            "@/b",
            "@a/",
            ".x",
            "https://x/y.js",
            "node:fs",
            "a\\b",
            "a/../../b",
            "node_modules",
            "file:///x",
            "/x",
        ] {
            assert_eq!(package_of(specifier), None, "{specifier}");
        }
    }

    #[test]
    fn the_innermost_package_has_a_file() {
        assert_eq!(root_of("/node_modules/a/node_modules/@b/c/d/e.js"), Some("/node_modules/a/node_modules/@b/c"));
        assert_eq!(root_of("/x/node_modules/a/index.js"), Some("/x/node_modules/a"));
        assert_eq!(root_of("/src/a.js"), None);
    }
}
