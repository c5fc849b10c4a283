//! Module resolution in packages.

use super::Packages;
use super::files::ProjectFiles;
use super::name::{package_of, root_of};
use super::refusal::Refusal;
use agent_spaces_script::has_module_syntax;
use oxc_resolver::{FileSystem, ModuleType, ResolveError, ResolveOptions, ResolverGeneric};
use std::collections::BTreeSet;
use std::path::Path;

type Resolver = ResolverGeneric<ProjectFiles>;

const EXTENSIONS: [&str; 6] = [".js", ".mjs", ".cjs", ".json", ".ts", ".mts"];

/// Kind of an import. Packages may have one file for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum ImportKind {
    /// `import`.
    Import,
    /// `require`.
    Require,
}

/// One resolver for each kind of import; they share a cache.
pub(super) struct Resolvers {
    import: Resolver,
    require: Resolver,
}

impl Resolvers {
    pub(super) fn new(files: &ProjectFiles) -> Resolvers {
        let import = Resolver::new_with_file_system(files.clone(), options(ImportKind::Import));
        Resolvers { require: import.clone_with_options(options(ImportKind::Require)), import }
    }

    fn of(&self, kind: ImportKind) -> &Resolver {
        match kind {
            ImportKind::Import => &self.import,
            ImportKind::Require => &self.require,
        }
    }
}

/// Options of a resolver. Browser builds are preferred because they run without Node. `require` prefers CommonJS, which
/// is what its author tested.
fn options(kind: ImportKind) -> ResolveOptions {
    let texts = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    let (conditions, main) = match kind {
        ImportKind::Import => (["import", "module", "browser", "default"].as_slice(), ["browser", "module", "main"]),
        ImportKind::Require => (["require", "browser", "default"].as_slice(), ["browser", "main", "module"]),
    };
    ResolveOptions {
        condition_names: texts(conditions),
        main_fields: texts(&main),
        alias_fields: vec![texts(&["browser"])],
        extensions: texts(&EXTENSIONS),
        // TypeScript imports a `.ts` file under the name of its output.
        extension_alias: vec![(".js".into(), texts(&[".js", ".ts"])), (".mjs".into(), texts(&[".mjs", ".mts"]))],
        node_path: false,
        module_type: true,
        ..ResolveOptions::default()
    }
}

/// Format of a package's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    EsModule,
    CommonJs,
    Json,
}

/// A resolved file.
#[derive(Clone, Debug)]
pub(super) struct Found {
    /// From the project's folder.
    pub(super) path: String,
    /// Format by the file's name and the nearest `package.json`.
    stated: Option<ModuleType>,
}

impl Found {
    /// Detects the file's format. ES syntax overrides a `package.json` that says CommonJS, as with bundlers.
    pub(super) fn format(&self, text: &str) -> Format {
        let is_typescript = self.path.ends_with(".ts") || self.path.ends_with(".mts");
        match self.stated {
            Some(ModuleType::Json) => Format::Json,
            Some(ModuleType::Module) => Format::EsModule,
            _ if is_typescript => Format::EsModule,
            Some(ModuleType::CommonJs) if self.path.ends_with(".cjs") => Format::CommonJs,
            _ if has_module_syntax(text) => Format::EsModule,
            _ => Format::CommonJs,
        }
    }

    /// True if Node treats it as an ES module without reading it. A default import of CommonJS in such a file is
    /// `module.exports`, whatever `__esModule` says.
    pub(super) fn is_node_module(&self) -> bool {
        self.stated == Some(ModuleType::Module)
    }
}

/// Result of resolving an import.
#[derive(Clone, Debug)]
pub(super) enum Resolution {
    /// A file.
    File(Found),
    /// An empty module: the package's `browser` field maps it to `false`.
    Empty,
}

/// Resolver of imports that keeps track of linked packages outside of `node_modules`.
pub(super) struct Finder<'a> {
    packages: &'a Packages,
    /// Folders of packages that `node_modules` has links to.
    linked: BTreeSet<String>,
}

impl<'a> Finder<'a> {
    pub(super) fn new(packages: &'a Packages) -> Finder<'a> {
        Finder { packages, linked: packages.home_package.iter().cloned().collect() }
    }

    /// Resolves `specifier` in the file `from`, a path from the project's folder.
    pub(super) fn find(&mut self, from: &str, specifier: &str, kind: ImportKind) -> Result<Resolution, Refusal> {
        let folder = parent(from);
        let is_relative =
            [".", ".."].contains(&specifier) || specifier.starts_with("./") || specifier.starts_with("../");
        let is_own = specifier.starts_with('#');
        let package = package_of(specifier);
        let root = match package {
            Some(name) if !is_own => self.package_root(folder, name)?,
            // A module of Node, which the package may replace.
            _ => None,
        };
        if !is_relative && !is_own && package.is_none() && !specifier.starts_with("node:") {
            return Err(Refusal::unknown(specifier, self.packages));
        }
        let resolver = self.packages.resolvers.of(kind);
        let found = match resolver.resolve(Path::new(folder), specifier) {
            Ok(found) => found,
            Err(ResolveError::Ignored(_)) => return Ok(Resolution::Empty),
            Err(error) => return Err(self.refusal(specifier, is_relative, root.is_some(), &error)),
        };
        let path = found.path().to_str().ok_or_else(|| Refusal::not_code(specifier))?.to_owned();
        let is_below = |root: &str| path.strip_prefix(root).is_some_and(|rest| rest.starts_with('/'));
        // The package's `browser` or `imports` map may replace the import by one of its own files, or by another
        // package.
        let is_inside = self.owner(from).is_some_and(is_below)
            || !is_relative && (root.as_deref().is_some_and(is_below) || root_of(&path).is_some());
        if !is_inside {
            return Err(Refusal::outside(specifier));
        }
        if !EXTENSIONS.iter().any(|extension| path.ends_with(extension)) {
            return Err(Refusal::not_code(&path));
        }
        Ok(Resolution::File(Found { path, stated: found.module_type() }))
    }

    /// The folder of the package that a file belongs to.
    fn owner<'p>(&'p self, file: &'p str) -> Option<&'p str> {
        let is_around = |root: &&String| file.strip_prefix(root.as_str()).is_some_and(|rest| rest.starts_with('/'));
        let linked = self.linked.iter().filter(is_around).max_by_key(|root| root.len()).map(String::as_str);
        root_of(file).into_iter().chain(linked).max_by_key(|root| root.len())
    }

    /// The real folder of a package that a file in `folder` can import by name.
    fn package_root(&mut self, folder: &str, name: &str) -> Result<Option<String>, Refusal> {
        for above in Path::new(if folder.is_empty() { "/" } else { folder }).ancestors() {
            let place = above.join(super::FOLDER).join(name);
            if self.packages.files.symlink_metadata(&place).is_err() {
                continue;
            }
            let real = self.packages.files.canonicalize(&place).map_err(|_| Refusal::leads_out(name))?;
            let Some(real) = real.to_str() else { continue };
            if root_of(&format!("{real}/")) != Some(real) {
                self.linked.insert(real.to_owned());
            }
            return Ok(Some(real.to_owned()));
        }
        Ok(None)
    }

    fn refusal(&self, specifier: &str, is_relative: bool, is_installed: bool, error: &ResolveError) -> Refusal {
        let is_missing = matches!(
            error,
            ResolveError::NotFound(_) | ResolveError::ExtensionAlias(..) | ResolveError::MatchedAliasNotFound(..)
        );
        match error {
            _ if is_missing && is_relative => Refusal::no_file(specifier, "the package has no such file"),
            _ if is_missing && is_installed => Refusal::missing_file(specifier),
            _ if is_missing => Refusal::unknown(specifier, self.packages),
            ResolveError::Json(json) => Refusal::no_file(
                specifier,
                &format!("{}:{}: not JSON: {}", json.path.display(), json.line, json.message),
            ),
            error => Refusal::no_file(specifier, &error.to_string()),
        }
    }
}

/// The folder of a file.
fn parent(file: &str) -> &str {
    match file.rsplit_once('/') {
        Some(("", _)) | None => "/",
        Some((folder, _)) => folder,
    }
}
