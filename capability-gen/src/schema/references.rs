//! Resolution of `$ref`: JSON pointers, anchors and identifiers of the same document.

use super::document::{Address, address, identifier};
use super::keywords;
use percent_encoding::percent_decode_str;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::HashMap;

/// Result of resolving a reference.
pub(super) enum Found<'a> {
    At(&'a Value, String),
    Nowhere,
    Outside,
}

/// Index of the identifiers and anchors of a document.
pub(super) struct Index<'a> {
    root: &'a Value,
    identifiers: HashMap<&'a str, &'a Value>,
    anchors: HashMap<&'a str, &'a Value>,
    /// The enclosing schema with an identifier, for each possible reference target.
    bases: HashMap<Address, &'a Value>,
}

impl<'a> Index<'a> {
    pub(super) fn of(root: &'a Value) -> Self {
        let mut index = Index { root, identifiers: HashMap::new(), anchors: HashMap::new(), bases: HashMap::new() };
        let mut waiting = vec![(root, root)];
        while let Some((value, base)) = waiting.pop() {
            let Value::Object(schema) = value else { continue };
            let mut base = base;
            if let Some(id) = identifier(schema) {
                if let Some(anchor) = id.strip_prefix('#') {
                    index.anchors.entry(anchor).or_insert(value);
                } else {
                    index.identifiers.entry(id.trim_end_matches('#')).or_insert(value);
                    base = value;
                }
            }
            for keyword in ["$anchor", "$dynamicAnchor"] {
                if let Some(anchor) = schema.get(keyword).and_then(Value::as_str) {
                    index.anchors.entry(anchor).or_insert(value);
                }
            }
            if !std::ptr::eq(base, root) {
                index.bases.insert(address(value), base);
            }
            waiting.extend(keywords::children(schema).map(|child| (child, base)));
        }
        index
    }

    pub(super) fn base_of(&self, target: &Value) -> Option<&'a Value> {
        self.bases.get(&address(target)).copied()
    }

    pub(super) fn find(&self, text: &str, base: &'a Value) -> Found<'a> {
        let (document, fragment) = text.split_once('#').unwrap_or((text, ""));
        let (start, is_own) = if document.is_empty() {
            (base, true)
        } else if let Some(found) = self.identified(document) {
            (found, false)
        } else {
            return Found::Outside;
        };
        let fragment = decoded(fragment);
        if fragment.is_empty() {
            let name = document.rsplit('/').find(|part| !part.is_empty()).unwrap_or("root");
            return Found::At(start, name.trim_end_matches(".json").to_owned());
        }
        if !fragment.starts_with('/') {
            return self.anchors.get(fragment.as_str()).map_or(Found::Nowhere, |at| Found::At(at, fragment.clone()));
        }
        // `#/…` inside a schema with its own identifier often means the document's root.
        let starts = [Some(start), is_own.then_some(self.root)];
        let found = starts.into_iter().flatten().find_map(|start| start.pointer(&fragment));
        match found.or_else(|| self.by_name(&fragment)) {
            Some(at) => Found::At(at, pointer_name(&fragment)),
            None => Found::Nowhere,
        }
    }

    fn identified(&self, document: &str) -> Option<&'a Value> {
        self.identifiers.get(document).copied().or_else(|| {
            let own = identifier(self.root.as_object()?)?;
            let folder = &own[..=own.rfind('/')?];
            let relative = document.strip_prefix("./").unwrap_or(document);
            let joined = self.identifiers.get(format!("{folder}{relative}").as_str());
            joined.or_else(|| self.identifiers.get(document.strip_prefix(folder)?)).copied()
        })
    }

    /// Resolves `#/definitions/Trip` if the document has it under `$defs`, and the like.
    fn by_name(&self, fragment: &str) -> Option<&'a Value> {
        let (folder, name) = fragment.rsplit_once('/')?;
        if !["/$defs", "/definitions", "/components/schemas"].contains(&folder) {
            return None;
        }
        let name = name.replace("~1", "/").replace("~0", "~");
        let folders = ["/$defs", "/definitions", "/components/schemas"];
        folders.iter().find_map(|folder| self.root.pointer(folder)?.get(&name))
    }
}

/// Name of a pointer's target: its last step that is neither a keyword nor a number.
fn pointer_name(pointer: &str) -> String {
    let mut steps = pointer.rsplit('/');
    let named = steps.find(|step| !step.is_empty() && !keywords::is_known(step) && step.parse::<u32>().is_err());
    named.unwrap_or("part").replace("~1", "/").replace("~0", "~")
}

/// Percent-decodes a fragment: `%24defs` → `$defs`. What is no escape, or no text once decoded, stays as it is.
fn decoded(fragment: &str) -> String {
    percent_decode_str(fragment).decode_utf8().map_or_else(|_| fragment.to_owned(), Cow::into_owned)
}
