//! `$ref` → the place in the document that it names.

use super::super::error::{SourceError, quoted};
use super::super::node::{Node, push_key};
use crate::definition::Note;
use crate::names::nearest;
use serde_json::Value;
use std::cell::RefCell;

/// The longest chain of references that only refer to the next.
const MAX_HOPS: usize = 32;

/// The longest reference: real ones name a component.
const MAX_REFERENCE_BYTES: usize = 2048;

/// References to nothing that are told, each with the name that was probably meant.
const MAX_LOST: usize = 32;

/// Names that are looked at for the one that was probably meant.
const MAX_COMPARED: usize = 1_000;

/// A document whose parts refer to each other.
pub(super) struct Document<'a> {
    root: Node<'a>,
    /// References that name nothing.
    lost: RefCell<Vec<Note>>,
}

impl<'a> Document<'a> {
    pub(super) fn new(root: &Node<'a>) -> Self {
        Self { root: root.clone(), lost: RefCell::default() }
    }

    /// The component of this kind and all its members.
    pub(super) fn components(&self, kind: &str) -> Option<Node<'a>> {
        self.root.get("components")?.get(kind)
    }

    /// What a value is, through its references, all of which must name something.
    pub(super) fn resolve(&self, node: Node<'a>) -> Result<Node<'a>, SourceError> {
        self.follow(node)?.map_err(|(from, pointer)| {
            let message = format!("the reference {} names nothing in this document", quoted(&format!("#{pointer}")));
            let fix = match self.meant(&pointer) {
                Some(near) => format!("Did you mean {}?", quoted(&near)),
                None => "Correct it, or add what it names under \"components\".".to_owned(),
            };
            from.error(message, fix)
        })
    }

    /// The same; nothing, with a note, where a reference names nothing. `instead` is what then becomes of it.
    pub(super) fn find(&self, node: Node<'a>, instead: &str) -> Result<Option<Node<'a>>, SourceError> {
        match self.follow(node)? {
            Ok(found) => Ok(Some(found)),
            Err((from, pointer)) => {
                self.lose(&from, &pointer, instead);
                Ok(None)
            }
        }
    }

    /// The end of a chain of references, or the one that names nothing and where it stands.
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
        Err(node.error("the references here lead nowhere", "Let one of them refer to a definition."))
    }

    /// The place that a pointer names.
    pub(super) fn target(&self, pointer: &str) -> Option<Node<'a>> {
        let Node { file, mut path, mut value } = self.root.clone();
        for segment in pointer.split('/').skip(1) {
            let key = unescaped(segment);
            value = step(value, &key)?;
            push_key(&mut path, &key);
        }
        Some(Node { file, path, value })
    }

    /// Notes a reference that names nothing.
    pub(super) fn lose(&self, from: &Node<'a>, pointer: &str, instead: &str) {
        let mut lost = self.lost.borrow_mut();
        if lost.len() >= MAX_LOST {
            return;
        }
        let fix = match self.meant(pointer) {
            Some(near) => format!("did you mean {}?", quoted(&near)),
            None => "correct it, or add what it names under \"components\"".to_owned(),
        };
        let shown = quoted(&format!("#{pointer}"));
        let note = from.note(format!("`$ref` to {shown} leads nowhere, so {instead}; {fix}"));
        if !lost.contains(&note) {
            lost.push(note);
        }
    }

    /// What was noted.
    pub(super) fn notes(&self) -> Vec<Note> {
        self.lost.take()
    }

    /// The reference that a pointer to nothing was probably meant to be.
    fn meant(&self, pointer: &str) -> Option<String> {
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

/// The JSON pointer in a reference, percent-decoded: one text for one place.
pub(super) fn pointer(from: &Node<'_>, reference: &str) -> Result<String, SourceError> {
    let fix = "Bundle everything into one document first, with references such as \"#/components/schemas/Pet\".";
    let refuse = |why: &str| Err(from.error(format!("the reference {} {why}", quoted(reference)), fix));
    if reference.len() > MAX_REFERENCE_BYTES {
        return refuse("is too long");
    }
    let Some(pointer) = reference.strip_prefix('#').filter(|pointer| pointer.starts_with('/')) else {
        return refuse("leads out of this document");
    };
    match percent_decoded(pointer) {
        Some(pointer) => Ok(pointer),
        None => refuse("is not well-formed"),
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
