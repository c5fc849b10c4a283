//! Temporary folder for the compiler: self-contained, with no references to other files.

use super::any_params::{DeclaredTypes, with_any_params};
use super::passes::Pass;
use super::unavailable::Unavailable;
use super::unknown_to_any::unknown_to_any;
use agent_spaces_script::{Checkable, LEAVE_DECLARATION, ModuleName};
use agent_spaces_types::standard;
use capability_gen::emit::globals::globals_dts;
use serde_json::json;
use std::io;
use std::path::Path;
use tempfile::TempDir;

/// Configuration file of the compiler.
pub(super) const TSCONFIG: &str = "tsconfig.json";

/// File that every module name resolves to, so that no other file is searched. It is empty: `declare module` takes
/// precedence.
const EMPTY_MODULE: &str = "anything.d.ts";

/// Maximum size of all declarations. Those of three hundred servers take four megabytes.
const MAX_DECLARATIONS: usize = 16 * 1024 * 1024;

/// Declarations of a module, as `agent-spaces capabilities build` writes them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleDeclaration {
    /// Module specifier: `@capabilities/mcp-slack`.
    pub specifier: String,
    /// `declare module '…' { … }`
    pub dts: String,
}

/// Folder with programs and declarations, deleted on drop.
pub(super) struct Folder {
    folder: TempDir,
    /// Types that the modules declare.
    pub(super) declared: DeclaredTypes,
}

impl Folder {
    /// Writes all files.
    pub(super) fn make(programs: &[Checkable], modules: &[ModuleDeclaration]) -> Result<Folder, Unavailable> {
        let bytes = modules.iter().map(|module| module.dts.len()).sum();
        if bytes > MAX_DECLARATIONS {
            return Err(Unavailable::TooLarge { bytes, most: MAX_DECLARATIONS });
        }
        let is_declared =
            |name: &str| name == standard::SPECIFIER || modules.iter().any(|module| module.specifier == name);
        // Our line comes first, so that no untrusted text is at the start of the file, where directives count.
        let (mut declarations, mut any_param_declarations) = (LEAVE_DECLARATION.to_owned(), String::new());
        let mut declared = DeclaredTypes::default();
        // The standard library is declared once, below, with all its types.
        let others = modules.iter().filter(|module| module.specifier != standard::SPECIFIER);
        for dts in others.map(|module| module.dts.as_str()) {
            let declaration = unknown_to_any(dts);
            any_param_declarations.push_str(&with_any_params(&declaration, &mut declared));
            any_param_declarations.push('\n');
            declarations.push_str(&declaration);
            declarations.push('\n');
        }
        let standard = unknown_to_any(agent_spaces_std::TYPES);
        any_param_declarations.push_str(&with_any_params(modules_only(&standard), &mut declared));
        declarations.push_str(&standard);
        declarations.push_str(&any_param_declarations);
        let mut files = vec![
            ("globals.d.ts".to_owned(), globals_dts().to_owned()),
            ("modules.d.ts".to_owned(), declarations),
            (EMPTY_MODULE.to_owned(), "export {};\n".to_owned()),
            // Stops the compiler's search for a package.json in parent folders.
            ("package.json".to_owned(), "{}".to_owned()),
        ];
        let mut names = Vec::new();
        for (number, program) in programs.iter().enumerate() {
            for pass in Pass::ALL {
                let name = |module: &str| if is_declared(module) { pass.name() } else { ModuleName::Hidden };
                names.push(pass.file(number));
                files.push((pass.file(number), program.text(name)));
            }
        }
        files.push((TSCONFIG.to_owned(), tsconfig(&names)));
        let folder = Folder::write(&files).map_err(|error| Unavailable::Folder(error.to_string()))?;
        Ok(Folder { folder, declared })
    }

    fn write(files: &[(String, String)]) -> io::Result<TempDir> {
        let mut builder = tempfile::Builder::new();
        builder.prefix("agent-spaces-check-");
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        let folder = builder.tempdir()?;
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text)?;
        }
        Ok(folder)
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Returns the module part of the standard library's declarations, without globals.
fn modules_only(declarations: &str) -> &str {
    declarations.split_inclusive("\n}\n").next().unwrap_or_default()
}

/// Builds the `tsconfig.json`. All files are listed and module resolution is off.
///
/// Strict mode is off: what JavaScript lets a program do with its own values is not reported, such as possibly absent
/// values, implicit types and objects that are filled later. The library is the newest: the engine has more than
/// ES2023, and what it lacks has its own hints.
fn tsconfig(programs: &[String]) -> String {
    let files: Vec<&str> =
        ["globals.d.ts", "modules.d.ts"].into_iter().chain(programs.iter().map(String::as_str)).collect();
    let settings = json!({
        "compilerOptions": {
            "strict": false,
            "noEmit": true,
            "target": "ESNext",
            "lib": ["ESNext"],
            "libReplacement": false,
            "types": [],
            "typeRoots": [],
            "plugins": [],
            "module": "ESNext",
            "moduleResolution": "bundler",
            "moduleDetection": "force",
            "noResolve": true,
            "paths": { "*": [format!("./{EMPTY_MODULE}")] },
            "skipLibCheck": true,
        },
        "files": files,
    });
    settings.to_string()
}
