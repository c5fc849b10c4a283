//! What the compiler is given: a folder that has everything and leads nowhere.

use super::loosen::loosen;
use super::readings::Reading;
use super::twin::{Declared, twin};
use super::unavailable::Unavailable;
use crate::script::{Checkable, LEAVE_DECLARATION, ModuleName};
use crate::standard;
use capability_gen::emit::globals::globals_dts;
use serde_json::json;
use std::io;
use std::path::Path;
use tempfile::TempDir;

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

/// A folder of our own with programs and all that they are checked against. It is gone when this is dropped.
pub(super) struct Folder {
    folder: TempDir,
    /// What is known of the modules.
    pub(super) declared: Declared,
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
        // The first line is ours, so that no text of others begins the file, where directives count.
        let (mut declarations, mut twins) = (LEAVE_DECLARATION.to_owned(), String::new());
        let mut declared = Declared::default();
        // The standard library is declared once, with all its types.
        let others = modules.iter().filter(|module| module.specifier != standard::SPECIFIER);
        for dts in others.map(|module| module.dts.as_str()) {
            let loose = loosen(dts);
            twins.push_str(&twin(&loose, &mut declared));
            twins.push('\n');
            declarations.push_str(&loose);
            declarations.push('\n');
        }
        let standard = loosen(agent_spaces_std::TYPES);
        twins.push_str(&twin(modules_only(&standard), &mut declared));
        declarations.push_str(&standard);
        declarations.push_str(&twins);
        let mut files = vec![
            ("globals.d.ts".to_owned(), globals_dts().to_owned()),
            ("modules.d.ts".to_owned(), declarations),
            (ANYTHING.to_owned(), "export {};\n".to_owned()),
            // Compilers look for the next one above a program: this is it.
            ("package.json".to_owned(), "{}".to_owned()),
        ];
        let mut names = Vec::new();
        for (number, program) in programs.iter().enumerate() {
            for reading in Reading::ALL {
                let name = |module: &str| if is_declared(module) { reading.name() } else { ModuleName::Hidden };
                names.push(reading.file(number));
                files.push((reading.file(number), program.text(name)));
            }
        }
        files.push((SETTINGS.to_owned(), settings(&names)));
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

/// The part of the standard library's declarations that is a module; globals have no twins.
fn modules_only(declarations: &str) -> &str {
    declarations.split_inclusive("\n}\n").next().unwrap_or_default()
}

/// The settings: all files are named, and nothing is looked for.
///
/// Nothing is strict: what JavaScript lets a program do with its own values is no mistake of it, whatever they are called.
/// Values that may be absent, types that nobody wrote and objects that are filled later are not told. The library is the
/// newest: the engine has more than ES2023, and what it lacks says so itself.
fn settings(programs: &[String]) -> String {
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
            "paths": { "*": [format!("./{ANYTHING}")] },
            "skipLibCheck": true,
        },
        "files": files,
    });
    settings.to_string()
}
