//! Language and role of a source.

use agent_spaces_types::script_error::{SYNTAX, ScriptError};

/// The role of a source in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceKind {
    /// The entry of a run; it has a value.
    Script,
    /// A workspace file that a script or another module imports.
    Module,
    /// An ES module of an npm package. It was written for other hosts, so what is missing here fails only when it runs.
    Package,
    /// A CommonJS file of an npm package.
    CommonJs,
}

/// The language a source is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Language {
    /// TypeScript without JSX. Also the default for a nameless source (stdin), since it includes JavaScript.
    #[default]
    TypeScript,
    /// JavaScript: nothing is erased and no import is dropped.
    JavaScript,
}

impl Language {
    /// The language of a file, by its extension; a file without a known one is TypeScript.
    ///
    /// # Errors
    /// `script.syntax` for CommonJS (`.cts`, `.cjs`) and JSX (`.tsx`, `.jsx`), which do not run here.
    pub fn of_file(file: &str) -> Result<Self, ScriptError> {
        let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
        let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
        match extension {
            "js" | "mjs" => Ok(Self::JavaScript),
            "cts" | "cjs" => Err(ScriptError::new(SYNTAX, file, "CommonJS files are not supported")
                .hint("use ES module syntax (`import`, `export`) in a .ts, .mts, .js or .mjs file")),
            "tsx" | "jsx" => {
                Err(ScriptError::new(SYNTAX, file, "JSX files are not supported")
                    .hint("use a .ts or .js file without JSX"))
            }
            _ => Ok(Self::TypeScript),
        }
    }
}
