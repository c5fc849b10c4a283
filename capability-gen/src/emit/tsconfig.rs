//! Base `tsconfig.json` that a project's own extends.

/// `.agent-spaces/tsconfig.json`: checks scripts as the sandbox runs them. Paths are relative to its folder.
pub fn tsconfig() -> String {
    include_str!("typescript/tsconfig.json").to_owned()
}
