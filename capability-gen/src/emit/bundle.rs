//! A module's folder: every generated file, and `bundle.json`, which says what they are and pins them.

use super::{dts, js, schema_json};
use crate::definition::{Config, SourceKind};
use crate::model::Module;
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// The file that says what the others are.
const METADATA: &str = "bundle.json";

/// A compiled module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bundle {
    /// Path in the module's folder and text, sorted by path.
    pub files: Vec<(String, String)>,
    /// Over all files but `bundle.json` itself: `sha256:…`. The same definitions always give the same.
    pub hash: String,
}

/// `bundle.json`
#[derive(Serialize)]
struct Metadata<'a> {
    name: &'a str,
    specifier: &'a str,
    version: &'a str,
    /// One to a kind that occurs; a module of one kind, which nearly all are, has just its name here.
    source: Source,
    /// The modules that `index.js` imports.
    dependencies: [&'static str; 1],
    /// By capability.
    config: BTreeMap<&'a str, &'a Config>,
    files: BTreeMap<&'a str, String>,
    hash: &'a str,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Source {
    One(SourceKind),
    Several(Vec<SourceKind>),
}

/// All files of a module; `wit` is the text of its WIT package.
pub fn bundle(module: &Module, wit: &str) -> Bundle {
    let mut files = vec![
        ("index.d.ts".to_owned(), dts::dts(module)),
        ("index.js".to_owned(), js::js(module)),
        ("schema.json".to_owned(), schema_json::schema_json(module)),
        (format!("{}.wit", module.name), wit.to_owned()),
    ];
    files.sort();
    let hash = hash(&files);
    let metadata = Metadata {
        name: &module.name,
        specifier: &module.specifier,
        version: &module.version,
        source: source(module),
        dependencies: [js::RUNTIME],
        config: module.capabilities.iter().map(|one| (one.name.as_str(), &one.config)).collect(),
        files: files.iter().map(|(path, text)| (path.as_str(), hex(&Sha256::digest(text)))).collect(),
        hash: &hash,
    };
    let metadata = schema_json::pretty(&metadata);
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

/// Whether these files of a bundle, `bundle.json` among them, are those that gave this hash.
pub fn is_intact(files: &[(String, String)], expected: &str) -> bool {
    let mut hashed: Vec<(String, String)> = files.to_vec();
    hashed.retain(|(path, _)| path != METADATA);
    hashed.sort();
    let metadata = files.iter().find(|(path, _)| path == METADATA);
    hash(&hashed) == expected && metadata.is_some_and(|(_, text)| text.contains(expected))
}

/// Lengths are hashed with the texts, so that no text can be moved from one file into the next.
fn hash(files: &[(String, String)]) -> String {
    let mut hasher = Sha256::new();
    for (path, text) in files {
        for part in [path, text] {
            hasher.update((part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
    }
    hex(&hasher.finalize())
}

fn hex(digest: &[u8]) -> String {
    let mut text = String::from("sha256:");
    for byte in digest {
        text.push_str(&format!("{byte:02x}"));
    }
    text
}
