//! Resolution of `$ref` within the document.

use super::super::error::{SourceError, quoted};
use super::super::node::{Node, push_key};
use crate::definition::Note;
use crate::names::nearest;
use serde_json::Value;
use std::cell::RefCell;

/// Maximum length of a chain of references.
const MAX_HOPS: usize = 32;

/// Maximum length of a reference: real ones name a component.
const MAX_REFERENCE_BYTES: usize = 2048;

/// Maximum number of unresolved references reported, each with a suggestion.
const MAX_UNRESOLVED: usize = 32;

/// Maximum number of names compared for a suggestion.
const MAX_COMPARED: usize = 1_000;

/// Document with internal references.
pub(super) struct Document<'a> {
    root: Node<'a>,
    /// Unresolved references: each pointer with the note about its first use.
    unresolved: RefCell<Vec<(String, Note)>>,
}

impl<'a> Document<'a> {
    pub(super) fn new(root: &Node<'a>) -> Self {
        Self { root: root.clone(), unresolved: RefCell::default() }
    }

    /// The components of this kind.
    pub(super) fn components(&self, kind: &str) -> Option<Node<'a>> {
        self.root.get("components")?.get(kind)
    }

    /// Resolves a value's references; an unresolved one is an error.
    pub(super) fn resolve(&self, node: Node<'a>) -> Result<Node<'a>, SourceError> {
        self.follow(node)?.map_err(|(from, pointer)| {
            let message = format!("unresolved reference {}", quoted(&format!("#{pointer}")));
            let fix = match self.suggestion(&pointer) {
                Some(near) => format!("Did you mean {}?", quoted(&near)),
                None => "Correct it, or define it under \"components\".".to_owned(),
            };
            from.error(message, fix)
        })
    }

    /// Resolves a value's references; for an unresolved one returns `None` and adds a note. `instead` says what
    /// replaces it.
    pub(super) fn find(&self, node: Node<'a>, instead: &str) -> Result<Option<Node<'a>>, SourceError> {
        match self.follow(node)? {
            Ok(found) => Ok(Some(found)),
            Err((from, pointer)) => {
                self.note_unresolved(&from, &pointer, instead);
                Ok(None)
            }
        }
    }

    /// The end of a chain of references, or the unresolved reference and its place.
    fn follow(&self, node: Node<'a>) -> Result<Result<Node<'a>, (Node<'a>, String)>, SourceError> {
        let mut node = node;
        for _ in 0..MAX_HOPS {
            let Some(reference) = node.value.get("$ref").and_then(Value::as_str) else { return Ok(Ok(node)) };
            let pointer = pointer(&node, reference)?;
            node = match self.target(&pointer) {
                Some(target) => target,
                None => return Ok(Err((node, pointer))),
            };
        }
        Err(node
            .error("circular reference, or too long a chain of references", "Let one of them refer to a definition."))
    }

    /// The target of a pointer.
    pub(super) fn target(&self, pointer: &str) -> Option<Node<'a>> {
        let Node { file, mut path, mut value } = self.root.clone();
        for segment in pointer.split('/').skip(1) {
            let key = unescaped(segment);
            value = step(value, &key)?;
            push_key(&mut path, &key);
        }
        Some(Node { file, path, value })
    }

    /// Adds a note about an unresolved reference, once however often it is used.
    pub(super) fn note_unresolved(&self, from: &Node<'a>, pointer: &str, instead: &str) {
        let mut unresolved = self.unresolved.borrow_mut();
        if unresolved.len() >= MAX_UNRESOLVED || unresolved.iter().any(|(known, _)| known == pointer) {
            return;
        }
        let fix = match self.suggestion(pointer) {
            Some(near) => format!("did you mean {}?", quoted(&near)),
            None => "correct it, or define it under \"components\"".to_owned(),
        };
        let shown = quoted(&format!("#{pointer}"));
        let note = from.note(format!("unresolved `$ref` {shown}, so {instead}; {fix}"));
        unresolved.push((pointer.to_owned(), note));
    }

    /// Takes the notes about unresolved references.
    pub(super) fn notes(&self) -> Vec<Note> {
        self.unresolved.take().into_iter().map(|(_, note)| note).collect()
    }

    /// Suggestion for an unresolved pointer.
    fn suggestion(&self, pointer: &str) -> Option<String> {
        let mut value = self.root.value;
        let mut known = "#".to_owned();
        for segment in pointer.split('/').skip(1) {
            let key = unescaped(segment);
            let key = match step(value, &key) {
                Some(_) => key,
                None => nearest(&key, value.as_object()?.keys().take(MAX_COMPARED).map(String::as_str))?.to_owned(),
            };
            value = step(value, &key)?;
            known.push('/');
            known.push_str(&key.replace('~', "~0").replace('/', "~1"));
        }
        Some(known)
    }
}

fn unescaped(segment: &str) -> String {
    segment.replace("~1", "/").replace("~0", "~")
}

fn step<'a>(value: &'a Value, key: &str) -> Option<&'a Value> {
    match value {
        Value::Object(members) => members.get(key),
        Value::Array(items) => items.get(key.parse::<usize>().ok()?),
        _ => None,
    }
}

/// The JSON pointer of a reference, percent-decoded, so that each place has one spelling.
pub(super) fn pointer(from: &Node<'_>, reference: &str) -> Result<String, SourceError> {
    let fix = "Bundle everything into one document first, with references such as \"#/components/schemas/Pet\".";
    let refuse = |why: &str| Err(from.error(format!("the reference {} {why}", quoted(reference)), fix));
    if reference.len() > MAX_REFERENCE_BYTES {
        return refuse("is too long");
    }
    let Some(pointer) = reference.strip_prefix('#').filter(|pointer| pointer.starts_with('/')) else {
        return refuse("points outside of this document");
    };
    match percent_decoded(pointer) {
        Some(pointer) => Ok(pointer),
        None => refuse("is malformed"),
    }
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        if first != b'%' {
            bytes.push(first);
            continue;
        }
        let (digits, after) = rest.split_at_checked(2)?;
        let digits = std::str::from_utf8(digits).ok().filter(|digits| digits.bytes().all(|d| d.is_ascii_hexdigit()))?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = after;
    }
    String::from_utf8(bytes).ok()
}
