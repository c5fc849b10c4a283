//! Conversion of parser events to a value.

use super::{Bounds, Step, YamlError, scalar};
use crate::json_memory;
use saphyr_parser::{Event, Marker, Parser, ScalarStyle, Span, StrInput, Tag};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// Merge key of YAML 1.1, still in use.
const MERGE: &str = "<<";

/// Prefix of a full core tag.
const CORE: &str = "tag:yaml.org,2002:";

pub(super) fn document(text: &str, bounds: Bounds) -> Result<Value, YamlError> {
    let mut build = Build {
        events: Parser::new_from_str(text),
        path: Vec::new(),
        depth: bounds.depth,
        bytes: bounds.bytes,
        left: bounds.bytes,
        aliased: aliased(text),
        anchors: HashMap::new(),
    };
    let mut value = None;
    loop {
        let (event, span) = build.next()?;
        match event {
            Event::Nothing | Event::StreamStart | Event::DocumentStart(_) | Event::DocumentEnd => {}
            Event::StreamEnd => return Ok(value.unwrap_or(Value::Null)),
            _ if value.is_some() => {
                let message = "a second document starts here";
                return Err(build.error(span.start, message, "Keep one document to a file."));
            }
            event => value = Some(build.node(event, span, 1)?.value),
        }
    }
}

/// Anchors that an alias refers to. Only these are kept.
fn aliased(text: &str) -> HashSet<usize> {
    if !text.contains('*') {
        return HashSet::new();
    }
    let events = Parser::new_from_str(text).map_while(Result::ok);
    events.filter_map(|(event, _)| if let Event::Alias(anchor) = event { Some(anchor) } else { None }).collect()
}

struct Build<'t> {
    events: Parser<'t, StrInput<'t>>,
    path: Vec<Step>,
    depth: usize,
    bytes: usize,
    /// Bytes left for copies of anchored values.
    left: usize,
    aliased: HashSet<usize>,
    anchors: HashMap<usize, Built>,
}

/// Value and its depth.
#[derive(Clone)]
struct Built {
    value: Value,
    levels: usize,
}

impl<'t> Build<'t> {
    fn next(&mut self) -> Result<(Event<'t>, Span), YamlError> {
        match self.events.next_event() {
            Some(Ok(event)) => Ok(event),
            Some(Err(error)) => Err(YamlError { path: self.path.clone(), ..YamlError::of_syntax(&error) }),
            // The parser's last event ends the loop.
            None => Ok((Event::StreamEnd, Span::default())),
        }
    }

    fn error(&self, marker: Marker, message: impl Into<String>, fix: &'static str) -> YamlError {
        YamlError { position: marker.into(), path: self.path.clone(), message: message.into(), fix }
    }

    fn node(&mut self, event: Event<'t>, span: Span, depth: usize) -> Result<Built, YamlError> {
        let at = span.start;
        self.check_depth(at, depth)?;
        let (anchor, built) = match event {
            Event::Alias(anchor) => return self.alias(anchor, at, depth),
            Event::Scalar(text, style, anchor, tag) => {
                (anchor, Built { value: self.scalar(&text, style, tag.as_deref(), at)?, levels: 1 })
            }
            Event::SequenceStart(anchor, tag) => {
                self.check_tag(tag, "seq", at)?;
                (anchor, self.list(depth)?)
            }
            Event::MappingStart(anchor, tag) => {
                self.check_tag(tag, "map", at)?;
                (anchor, self.object(depth)?)
            }
            _ => return Err(self.error(at, "this is not YAML: a value is missing", "Write one at this place.")),
        };
        if self.aliased.contains(&anchor) {
            self.take(&built.value, at)?;
            self.anchors.insert(anchor, built.clone());
        }
        Ok(built)
    }

    fn alias(&mut self, anchor: usize, at: Marker, depth: usize) -> Result<Built, YamlError> {
        let Some(built) = self.anchors.get(&anchor).cloned() else {
            return Err(self.error(at, "this alias is inside the value that it refers to", "Write the value out."));
        };
        self.check_depth(at, depth + built.levels - 1)?;
        self.take(&built.value, at)?;
        Ok(built)
    }

    fn check_depth(&self, at: Marker, depth: usize) -> Result<(), YamlError> {
        match depth > self.depth {
            true => Err(self.error(at, format!("it is nested more than {} deep", self.depth), "Flatten it.")),
            false => Ok(()),
        }
    }

    /// Charges a copy of a value.
    fn take(&mut self, value: &Value, at: Marker) -> Result<(), YamlError> {
        let size = json_memory::size(value, self.left as u64 + 1);
        match usize::try_from(size).ok().and_then(|size| self.left.checked_sub(size)) {
            Some(left) => self.left = left,
            None => {
                let message = format!("the document has more than {} bytes with its aliases expanded", self.bytes);
                return Err(self.error(at, message, "Use fewer aliases."));
            }
        }
        Ok(())
    }

    fn list(&mut self, depth: usize) -> Result<Built, YamlError> {
        let (mut items, mut levels) = (Vec::new(), 0);
        loop {
            let (event, span) = self.next()?;
            if event == Event::SequenceEnd {
                return Ok(Built { value: Value::Array(items), levels: levels + 1 });
            }
            self.path.push(Step::Index(items.len()));
            let item = self.node(event, span, depth + 1)?;
            self.path.pop();
            levels = levels.max(item.levels);
            items.push(item.value);
        }
    }

    fn object(&mut self, depth: usize) -> Result<Built, YamlError> {
        let (mut members, mut merged, mut levels) = (Map::new(), Vec::new(), 0);
        loop {
            let (event, span) = self.next()?;
            if event == Event::MappingEnd {
                break;
            }
            let (key, is_merge) = self.key(event, span.start)?;
            self.path.push(Step::Key(key.clone()));
            if !is_merge && members.contains_key(&key) {
                let message = format!("duplicate key {} in this object", shown(&key));
                return Err(self.error(span.start, message, "Rename or remove one of the two."));
            }
            let (event, value_span) = self.next()?;
            let built = self.node(event, value_span, depth + 1)?;
            levels = levels.max(built.levels);
            match is_merge {
                true => self.merge(built.value, &mut merged, span.start)?,
                false => drop(members.insert(key, built.value)),
            }
            self.path.pop();
        }
        // Own members take precedence, then those merged first.
        for (key, value) in merged.into_iter().flatten() {
            members.entry(key).or_insert(value);
        }
        Ok(Built { value: Value::Object(members), levels: levels + 1 })
    }

    /// The text of a key, and whether it is a merge key. `200` and `true` are keys as written.
    fn key(&self, event: Event<'t>, at: Marker) -> Result<(String, bool), YamlError> {
        match event {
            Event::Scalar(text, style, _, tag) => {
                self.check_tag(tag, "str", at)?;
                let is_plain = style == ScalarStyle::Plain;
                if is_plain && text.is_empty() {
                    return Err(self.error(at, "a key is missing before this `:`", "Write the key."));
                }
                Ok((text.clone().into_owned(), is_plain && text == MERGE))
            }
            Event::Alias(_) => Err(self.error(at, "a key cannot be an alias", "Write the key out.")),
            _ => Err(self.error(at, "a key cannot be a list or an object", "Put a key that is text in its place.")),
        }
    }

    fn merge(&self, value: Value, merged: &mut Vec<Map<String, Value>>, at: Marker) -> Result<(), YamlError> {
        let values = match value {
            Value::Array(values) => values,
            value => vec![value],
        };
        for value in values {
            let Value::Object(members) = value else {
                let fix = "Name an object with an alias, or write the key in quotation marks.";
                return Err(self.error(at, "`<<` can merge only objects", fix));
            };
            merged.push(members);
        }
        Ok(())
    }

    fn scalar(&self, text: &str, style: ScalarStyle, tag: Option<&Tag>, at: Marker) -> Result<Value, YamlError> {
        let value = match tag.map(|tag| core_tag(tag).unwrap_or_default()) {
            None if style != ScalarStyle::Plain => Some(Value::String(text.to_owned())),
            None => scalar::plain(text),
            Some("str" | "!") => Some(Value::String(text.to_owned())),
            Some("int") => scalar::integer(text).map(Value::Number),
            Some("float") => scalar::float(text).map(Value::Number),
            Some("bool") => scalar::plain(text).filter(Value::is_boolean),
            Some("null") => scalar::plain(text).filter(Value::is_null),
            Some(_) => return Err(self.unknown_tag(tag, at)),
        };
        let missing = || match tag {
            Some(tag) => {
                self.error(at, format!("the value does not match its tag `{}`", shown(&tag.suffix)), "Remove the tag.")
            }
            None => self.error(
                at,
                "this number has no JSON representation",
                "Write a finite number, or text in quotation marks.",
            ),
        };
        value.ok_or_else(missing)
    }

    /// Refuses a tag that differs from the value's own type.
    fn check_tag(&self, tag: Option<Cow<'t, Tag>>, usual: &str, at: Marker) -> Result<(), YamlError> {
        match tag.as_deref() {
            Some(tag) if core_tag(tag).is_none_or(|name| name != usual && name != "!") => {
                Err(self.unknown_tag(Some(tag), at))
            }
            _ => Ok(()),
        }
    }

    fn unknown_tag(&self, tag: Option<&Tag>, at: Marker) -> YamlError {
        let name = tag.map(|tag| format!("{}{}", tag.handle, tag.suffix)).unwrap_or_default();
        self.error(at, format!("unknown tag {}", shown(&name)), "Remove it.")
    }
}

/// The name of a core tag; `!` for the non-specific tag of strings.
fn core_tag(tag: &Tag) -> Option<&str> {
    match (tag.handle.as_str(), tag.suffix.as_str()) {
        (CORE, name) => Some(name),
        ("", "!") | ("!", "") => Some("!"),
        ("" | "!", name) => name.strip_prefix(CORE),
        _ => None,
    }
}

/// A name of the document for a message, escaped and truncated.
fn shown(name: &str) -> String {
    let mut shown: String = name.chars().take(80).flat_map(char::escape_debug).collect();
    if name.chars().nth(80).is_some() {
        shown.push('…');
    }
    format!("`{shown}`")
}
