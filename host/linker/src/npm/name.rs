//! Names of packages in specifiers and paths.

/// Returns the package of a bare specifier: `zod` of `zod/v4`, `@scope/name` of `@scope/name/part`. `None` if it is not
/// the name of a package.
pub fn package_of(specifier: &str) -> Option<&str> {
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

/// Returns the folder of the package that contains a path; `None` outside of `node_modules`.
pub fn root_of(path: &str) -> Option<&str> {
    let marker = format!("/{}/", super::FOLDER);
    let start = path.rfind(&marker)? + marker.len();
    let name = package_of(path.get(start..)?)?;
    path.get(..start + name.len())
}

#[cfg(test)]
mod tests {
    use crate::npm::name::{package_of, root_of};

    #[test]
    fn a_specifier_begins_with_the_package() {
        for (specifier, name) in
            [("zod", "zod"), ("zod/v4/core", "zod"), ("@a/b", "@a/b"), ("@a/b/c/d", "@a/b"), ("__proto__", "__proto__")]
        {
            assert_eq!(package_of(specifier), Some(name), "{specifier}");
        }
    }

    #[test]
    fn other_specifiers_name_no_package() {
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
    fn a_file_belongs_to_the_innermost_package() {
        assert_eq!(root_of("/node_modules/a/node_modules/@b/c/d/e.js"), Some("/node_modules/a/node_modules/@b/c"));
        assert_eq!(root_of("/x/node_modules/a/index.js"), Some("/x/node_modules/a"));
        assert_eq!(root_of("/src/a.js"), None);
    }
}
