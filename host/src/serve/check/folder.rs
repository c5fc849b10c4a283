//! What the compiler is given: a folder that has everything and leads nowhere.

use super::loosen::loosen;
use super::unavailable::Unavailable;
use crate::script::{LEAVE_DECLARATION, checkable};
use crate::standard;
use capability_gen::emit::globals::globals_dts;
use serde_json::json;
use std::io;
use std::path::Path;
use tempfile::TempDir;

/// The program's file.
pub(super) const PROGRAM: &str = "program.ts";

/// What the compiler is told with.
pub(super) const SETTINGS: &str = "tsconfig.json";

/// What every name of a module leads to, so that it is looked for nowhere else. It says nothing: what is declared counts.
const ANYTHING: &str = "anything.d.ts";

/// Most bytes of all declarations. Those of three hundred servers have four million.
const MAX_DECLARATIONS: usize = 16 * 1024 * 1024;

/// The declarations of a module, as `agent-spaces capabilities build` writes them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleDeclaration {
    /// What programs import: `@capabilities/mcp-slack`.
    pub specifier: String,
    /// `declare module '…' { … }`
    pub dts: String,
}

/// A folder of our own with a program and all that it is checked against. It is gone when this is dropped.
pub(super) struct Folder(TempDir);

impl Folder {
    /// Writes all files.
    pub(super) fn make(code: &str, modules: &[ModuleDeclaration]) -> Result<Folder, Unavailable> {
        let bytes = modules.iter().map(|module| module.dts.len()).sum();
        if bytes > MAX_DECLARATIONS {
            return Err(Unavailable::TooLarge { bytes, most: MAX_DECLARATIONS });
        }
        let is_declared =
            |name: &str| name == standard::SPECIFIER || modules.iter().any(|module| module.specifier == name);
        let program = checkable(code, PROGRAM, is_declared).map_err(|_| Unavailable::Unread)?.text;
        // The first line is ours, so that no text of others begins the file, where directives count.
        let mut declarations = LEAVE_DECLARATION.to_owned();
        // The standard library is declared once, with all its types.
        let others = modules.iter().filter(|module| module.specifier != standard::SPECIFIER);
        for dts in others.map(|module| module.dts.as_str()).chain([agent_spaces_std::TYPES]) {
            declarations.push_str(&loosen(dts));
            declarations.push('\n');
        }
        let files = [
            (PROGRAM, program.as_str()),
            ("globals.d.ts", globals_dts()),
            ("modules.d.ts", &declarations),
            (ANYTHING, "export {};\n"),
            // Compilers look for the next one above a program: this is it.
            ("package.json", "{}"),
            (SETTINGS, &settings()),
        ];
        Folder::write(&files).map_err(|error| Unavailable::Folder(error.to_string()))
    }

    fn write(files: &[(&str, &str)]) -> io::Result<Folder> {
        let mut builder = tempfile::Builder::new();
        builder.prefix("agent-spaces-check-");
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        let folder = builder.tempdir()?;
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text)?;
        }
        Ok(Folder(folder))
    }

    pub(super) fn path(&self) -> &Path {
        self.0.path()
    }
}

/// The settings: all files are named, and nothing is looked for.
///
/// Otherwise they are those of `capabilities build`, but for what people want of code that stays and nobody needs of a
/// program that runs once. The library is the newest: the engine has more than ES2023, and what it lacks says so itself.
fn settings() -> String {
    let settings = json!({
        "compilerOptions": {
            "strict": true,
            "strictPropertyInitialization": false,
            "useUnknownInCatchVariables": false,
            "noImplicitThis": false,
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
            "paths": { "*": [format!("./{ANYTHING}")] },
            "skipLibCheck": true,
        },
        "files": ["globals.d.ts", "modules.d.ts", PROGRAM],
    });
    settings.to_string()
}
