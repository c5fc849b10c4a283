//! From what a file imports to the file that it means.

use super::Packages;
use super::files::ProjectFiles;
use super::name::{package_of, root_of};
use super::refusal::Refusal;
use crate::script::has_module_syntax;
use oxc_resolver::{FileSystem, ModuleType, ResolveError, ResolveOptions, ResolverGeneric};
use std::collections::BTreeSet;
use std::path::Path;

type Resolver = ResolverGeneric<ProjectFiles>;

const EXTENSIONS: [&str; 6] = [".js", ".mjs", ".cjs", ".json", ".ts", ".mts"];

/// Who asks for a module: packages may have one file for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Way {
    Import,
    Require,
}

/// One resolver for each way; they share what they have read.
pub(super) struct Resolvers {
    import: Resolver,
    require: Resolver,
}

impl Resolvers {
    pub(super) fn new(files: &ProjectFiles) -> Resolvers {
        let import = Resolver::new_with_file_system(files.clone(), options(Way::Import));
        Resolvers { require: import.clone_with_options(options(Way::Require)), import }
    }

    fn of(&self, way: Way) -> &Resolver {
        match way {
            Way::Import => &self.import,
            Way::Require => &self.require,
        }
    }
}

/// What a package offers to browsers runs without Node, which is what matters here. Whoever requires is given
/// CommonJS where there is a choice, as its author tried it.
fn options(way: Way) -> ResolveOptions {
    let texts = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    let (conditions, main) = match way {
        Way::Import => (["import", "module", "browser", "default"].as_slice(), ["browser", "module", "main"]),
        Way::Require => (["require", "browser", "default"].as_slice(), ["browser", "main", "module"]),
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

/// What a file of a package holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    EsModule,
    CommonJs,
    Json,
}

/// The file that an import means.
#[derive(Clone, Debug)]
pub(super) struct Found {
    /// From the project's folder.
    pub(super) path: String,
    /// What the file's name and the nearest `package.json` say of it.
    stated: Option<ModuleType>,
}

impl Found {
    /// What the file holds. ES syntax counts more than a `package.json` that says CommonJS, as with bundlers.
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

    /// Whether Node would take it for an ES module without looking into it. What such a file imports by default from
    /// CommonJS is all that is exported, whatever its compiler meant.
    pub(super) fn is_node_module(&self) -> bool {
        self.stated == Some(ModuleType::Module)
    }
}

/// Where an import leads.
#[derive(Clone, Debug)]
pub(super) enum Lead {
    File(Found),
    /// To nothing: the package says that it does without it in browsers.
    Nothing,
}

/// Finds what files import, and knows which packages lie elsewhere than in `node_modules`.
pub(super) struct Finder<'a> {
    packages: &'a Packages,
    /// Folders of packages that `node_modules` has links to.
    linked: BTreeSet<String>,
}

impl<'a> Finder<'a> {
    pub(super) fn new(packages: &'a Packages) -> Finder<'a> {
        Finder { packages, linked: packages.home_package.iter().cloned().collect() }
    }

    /// The file that `specifier` means in the file `from`, both from the project's folder.
    pub(super) fn find(&mut self, from: &str, specifier: &str, way: Way) -> Result<Lead, Refusal> {
        let folder = parent(from);
        let is_relative =
            [".", ".."].contains(&specifier) || specifier.starts_with("./") || specifier.starts_with("../");
        let is_own = specifier.starts_with('#');
        let package = package_of(specifier);
        let root = match package {
            Some(name) if !is_own => self.package_root(folder, name)?,
            // A module of Node that the package may replace.
            _ => None,
        };
        if !is_relative && !is_own && package.is_none() && !specifier.starts_with("node:") {
            return Err(Refusal::unknown(specifier, self.packages));
        }
        let resolver = self.packages.resolvers.of(way);
        let found = match resolver.resolve(Path::new(folder), specifier) {
            Ok(found) => found,
            Err(ResolveError::Ignored(_)) => return Ok(Lead::Nothing),
            Err(error) => return Err(self.refusal(specifier, is_relative, root.is_some(), &error)),
        };
        let path = found.path().to_str().ok_or_else(|| Refusal::not_code(specifier))?.to_owned();
        let is_given = |root: &str| path.strip_prefix(root).is_some_and(|rest| rest.starts_with('/'));
        // A map of the package may put one of its own files, or another package, in the place of what is imported.
        let is_inside = self.owner(from).is_some_and(is_given)
            || !is_relative && (root.as_deref().is_some_and(is_given) || root_of(&path).is_some());
        if !is_inside {
            return Err(Refusal::outside(specifier));
        }
        if !EXTENSIONS.iter().any(|extension| path.ends_with(extension)) {
            return Err(Refusal::not_code(&path));
        }
        Ok(Lead::File(Found { path, stated: found.module_type() }))
    }

    /// The folder of the package that a file is of.
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
