//! Bundle of a module: all generated files, and `bundle.json`, the manifest with their hash.

use super::{dts, js, schema_json, wit};
use crate::definition::{Config, SourceKind};
use crate::model::Module;
use data_encoding::HEXLOWER;
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// Manifest file.
const METADATA: &str = "bundle.json";

/// Compiled module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bundle {
    /// Path in the module's folder and text, sorted by path.
    pub files: Vec<(String, String)>,
    /// Hash of all files except `bundle.json`: `sha256:…`. Deterministic for the same definitions.
    pub hash: String,
}

/// `bundle.json`
#[derive(Serialize)]
struct Metadata<'a> {
    #[serde(flatten)]
    about: About<'a>,
    files: BTreeMap<&'a str, String>,
    hash: &'a str,
}

#[derive(Serialize)]
struct About<'a> {
    name: &'a str,
    specifier: &'a str,
    version: &'a str,
    /// Kinds of sources; a single name if there is only one kind, as in nearly all modules.
    source: Source,
    /// The module that `index.js` imports, and the npm dependencies of the handlers.
    dependencies: Vec<&'a str>,
    /// Settings by capability.
    config: BTreeMap<&'a str, &'a Config>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Source {
    One(SourceKind),
    Several(Vec<SourceKind>),
}

/// Generates all files of a module; `text` is its WIT package.
pub fn bundle(module: &Module, text: &str) -> Bundle {
    let mut files = vec![
        ("index.d.ts".to_owned(), dts::standalone(module)),
        ("index.js".to_owned(), js::js(module)),
        ("schema.json".to_owned(), schema_json::schema_json(module)),
        (format!("{}.wit", module.name), text.to_owned()),
        (wit::HOST_FILE.to_owned(), wit::HOST.to_owned()),
    ];
    files.sort();
    let about = About {
        name: &module.name,
        specifier: &module.specifier,
        version: &module.version,
        source: source(module),
        dependencies: std::iter::once(js::RUNTIME).chain(module.dependencies.iter().map(String::as_str)).collect(),
        config: module.capabilities.iter().map(|one| (one.name.as_str(), &one.config)).collect(),
    };
    sealed(files, about)
}

/// Bundle of a module with hand-written WIT, which has no schemas and no stub.
pub fn by_hand(specifier: &str, version: &str, text: &str, declarations: &str) -> Bundle {
    let name = specifier.rsplit('/').next().unwrap_or_default();
    let mut files = vec![("index.d.ts".to_owned(), declarations.to_owned()), (format!("{name}.wit"), text.to_owned())];
    if text.contains(wit::HOST_PACKAGE) {
        files.push((wit::HOST_FILE.to_owned(), wit::HOST.to_owned()));
    }
    files.sort();
    let (source, dependencies, config) = (Source::One(SourceKind::Tool), Vec::new(), BTreeMap::new());
    sealed(files, About { name, specifier, version, source, dependencies, config })
}

/// Adds the manifest to the files.
fn sealed(mut files: Vec<(String, String)>, about: About<'_>) -> Bundle {
    let hash = hash(&files);
    let hashes = files.iter().map(|(path, text)| (path.as_str(), labelled(&Sha256::digest(text)))).collect();
    let metadata = schema_json::pretty(&Metadata { about, files: hashes, hash: &hash });
    files.push((METADATA.to_owned(), metadata));
    files.sort();
    Bundle { files, hash }
}

fn source(module: &Module) -> Source {
    let mut kinds: Vec<SourceKind> = Vec::new();
    for capability in &module.capabilities {
        if !kinds.contains(&capability.source) {
            kinds.push(capability.source);
        }
    }
    match kinds.as_slice() {
        [one] => Source::One(*one),
        _ => Source::Several(kinds),
    }
}

/// Returns true if these files of a bundle, including `bundle.json`, match the hash.
pub fn is_intact(files: &[(String, String)], expected: &str) -> bool {
    let mut hashed: Vec<(String, String)> = files.to_vec();
    hashed.retain(|(path, _)| path != METADATA);
    hashed.sort();
    let metadata = files.iter().find(|(path, _)| path == METADATA);
    hash(&hashed) == expected && metadata.is_some_and(|(_, text)| text.contains(expected))
}

/// Hash of the files. Lengths are hashed too, so that text cannot be moved from one file to the next.
fn hash(files: &[(String, String)]) -> String {
    let mut hasher = Sha256::new();
    for (path, text) in files {
        for part in [path, text] {
            hasher.update((part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
    }
    labelled(&hasher.finalize())
}

fn labelled(digest: &[u8]) -> String {
    format!("sha256:{}", HEXLOWER.encode(digest))
}
