//! `$ref` → the place in the document that it names.

use super::super::error::{SourceError, quoted};
use super::super::node::{Node, push_key};
use serde_json::Value;

/// The longest chain of references that only refer to the next.
const MAX_HOPS: usize = 32;

/// The longest reference: real ones name a component.
const MAX_REFERENCE_BYTES: usize = 2048;

/// A document whose parts refer to each other.
pub(super) struct Document<'a> {
    root: Node<'a>,
}

impl<'a> Document<'a> {
    pub(super) fn new(root: &Node<'a>) -> Self {
        Self { root: root.clone() }
    }

    /// The component of this kind and all its members.
    pub(super) fn components(&self, kind: &str) -> Option<Node<'a>> {
        self.root.get("components")?.get(kind)
    }

    /// What a value is, through its references.
    pub(super) fn resolve(&self, node: Node<'a>) -> Result<Node<'a>, SourceError> {
        let mut node = node;
        for _ in 0..MAX_HOPS {
            let Some(reference) = node.value.get("$ref").and_then(Value::as_str) else { return Ok(node) };
            node = self.target(&node, &pointer(&node, reference)?)?;
        }
        Err(node.error("the references here lead nowhere", "Let one of them refer to a definition."))
    }

    /// The place that a pointer names; `from` is where it was found.
    pub(super) fn target(&self, from: &Node<'a>, pointer: &str) -> Result<Node<'a>, SourceError> {
        let Node { file, mut path, mut value } = self.root.clone();
        for segment in pointer.split('/').skip(1) {
            let key = segment.replace("~1", "/").replace("~0", "~");
            let next = match value {
                Value::Object(members) => members.get(&key),
                Value::Array(items) => key.parse().ok().and_then(|index: usize| items.get(index)),
                _ => None,
            };
            let Some(next) = next else {
                let message =
                    format!("the reference {} names nothing in this document", quoted(&format!("#{pointer}")));
                return Err(from.error(message, "Correct it, or add what it names under \"components\"."));
            };
            push_key(&mut path, &key);
            value = next;
        }
        Ok(Node { file, path, value })
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
