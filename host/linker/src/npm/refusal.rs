//! Errors of imports from packages.

use super::Packages;
use super::name::package_of;
use agent_spaces_script::absent;
use agent_spaces_script::absent::Position;

/// Error of an import, with a hint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) message: String,
    pub(super) hint: String,
}

impl Refusal {
    fn new(message: impl Into<String>, hint: impl Into<String>) -> Refusal {
        Refusal { message: message.into(), hint: hint.into() }
    }

    /// No package of the project has this name.
    pub(super) fn unknown(specifier: &str, packages: &Packages) -> Refusal {
        if let Some(instead) = absent::instead_of(specifier, Position::Handler, |_| true) {
            return Refusal::new(format!("'{specifier}' is a Node.js module, which is not available here"), instead);
        }
        if specifier.starts_with('#') {
            let hint = "add it to `imports` of the package.json above the file";
            return Refusal::new(format!("Cannot find '{specifier}'"), hint);
        }
        match package_of(specifier) {
            Some(name) => Refusal::new(format!("Cannot find package '{name}'"), packages.install(name)),
            None => {
                Refusal::new(format!("Cannot find '{specifier}'"), "name a package, or a file by its relative path")
            }
        }
    }

    /// The package is installed and has no such file.
    pub(super) fn no_file(specifier: &str, why: &str) -> Refusal {
        Refusal::new(format!("Cannot find '{specifier}'"), why)
    }

    pub(super) fn missing_file(specifier: &str) -> Refusal {
        Refusal::no_file(specifier, "its package is installed and has no such file")
    }

    /// The import leads out of the package.
    pub(super) fn outside(specifier: &str) -> Refusal {
        Refusal::new(
            format!("'{specifier}' resolves outside its package"),
            "a package can import its own files, and other packages by name",
        )
    }

    /// The package is a link that leads out of the project.
    pub(super) fn leads_out(name: &str) -> Refusal {
        Refusal::new(
            format!("the package '{name}' is a link to outside the project's folder"),
            format!("install it there: `npm install {name}`"),
        )
    }

    pub(super) fn not_code(path: &str) -> Refusal {
        let hint = "packages can have .js, .mjs, .cjs, .json, .ts and .mts files";
        Refusal::new(format!("'{path}' has an unsupported file type"), hint)
    }

    pub(super) fn unreadable(path: &str, error: &std::io::Error) -> Refusal {
        Refusal::new(format!("Cannot read '{path}': {error}"), "reinstall the package")
    }

    pub(super) fn too_much(what: String) -> Refusal {
        Refusal::new(what, "import a part of the package, or bundle what is needed of it into a file")
    }
}
