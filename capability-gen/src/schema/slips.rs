//! Slips of the pen in a schema: `requird`, `minLenght`, `"type": "intger"`. Who writes a schema for this project is
//! told at once; of another's schema only the operator is.

use super::keywords::{self, KNOWN, LIST, MAP, ONE};
use super::notes::{Notes, Path};
use super::words::TYPES;
use crate::names::nearest;
use serde_json::{Map, Value};

/// The longest key that is compared with all keywords, of which the longest has 21 letters.
const MAX_KEY_BYTES: usize = 32;

/// Keys of one schema document that are compared: a hostile one has nothing but unknown keys.
pub(super) const MAX_COMPARED: usize = 1_000;

/// Too short, or too plain a word, to be what somebody meant to write.
const NEVER_MEANT: &[&str] = &["if", "then", "else", "not", "id", "example", "examples"];

/// Notes keys that are no keywords.
pub(super) fn unknown_keywords(map: &Map<String, Value>, path: &Path<'_>, notes: &mut Notes<'_>) {
    for key in map.keys().filter(|key| !keywords::is_known(key)) {
        if !notes.may_compare() {
            return;
        }
        let shown = short(key);
        match meant(key) {
            Some(meant) => {
                let at = Path::Key(path, &shown);
                notes.slip(&at, format!("`{shown}` is no keyword of JSON Schema"), format!("did you mean `{meant}`?"));
            }
            None if notes.is_strict() => {
                notes.add(&Path::Key(path, &shown), "no keyword of JSON Schema, so it changes nothing");
            }
            None => {}
        }
    }
}

/// A type that JSON has not.
pub(super) fn unknown_type(word: &Value, path: &Path<'_>, notes: &mut Notes<'_>) {
    let near = word.as_str().and_then(|word| nearest(word, TYPES.iter().copied()));
    let fix = match near {
        Some(near) => format!("did you mean \"{near}\"?"),
        None => format!("write one of {}", TYPES.join(", ")),
    };
    let shown = short(&word.to_string());
    notes.slip(path, format!("type {shown} read as anything: JSON has no such type"), fix);
}

/// A reference to nothing.
pub(super) fn lost_reference(text: &str, root: &Value, path: &Path<'_>, notes: &mut Notes<'_>) {
    let folders = ["$defs", "definitions"].into_iter();
    let names = folders.filter_map(|folder| Some((folder, root.get(folder)?.as_object()?)));
    let names: Vec<(&str, &str)> =
        names.flat_map(|(folder, names)| names.keys().map(move |name| (folder, name.as_str()))).collect();
    let last = text.rsplit(['/', '#']).next().unwrap_or(text);
    let near = match notes.may_compare() {
        true => nearest(last, names.iter().take(MAX_COMPARED).map(|(_, name)| *name)),
        false => None,
    };
    let place = near.and_then(|near| names.iter().find(|(_, name)| *name == near));
    let fix = match place {
        Some((folder, name)) => format!("did you mean \"#/{folder}/{}\"?", short(name)),
        None => "put what it refers to under `$defs` and refer to it as `#/$defs/…`".to_owned(),
    };
    notes.slip(path, format!("read as anything: `$ref` to {:?} leads nowhere", short(text)), fix);
}

/// A required name that is almost that of a member.
pub(super) fn lost_required(name: &str, members: &Map<String, Value>, path: &Path<'_>, notes: &mut Notes<'_>) {
    if members.contains_key(name) || !notes.may_compare() {
        return;
    }
    if let Some(near) = nearest(name, members.keys().take(MAX_COMPARED).map(String::as_str)) {
        let message = format!("`required` names `{}`, which is not among the properties", short(name));
        notes.slip(path, message, format!("did you mean `{}`?", short(near)));
    }
}

/// The keyword that a key is one slip away from; of a long one, two or more.
fn meant(key: &str) -> Option<&'static str> {
    if key.len() < 3 || key.len() > MAX_KEY_BYTES {
        return None;
    }
    let plain = |name: &str| name.replace(['_', '-'], "").to_lowercase();
    let wanted = plain(key);
    let known = [KNOWN, ONE, LIST, MAP].into_iter().flatten().copied();
    let candidates = known.filter(|known| !NEVER_MEANT.contains(known));
    let distances = candidates.map(|known| (strsim::osa_distance(&wanted, &plain(known)), known));
    let near = distances.filter(|(distance, known)| *distance <= (known.len() / 5).max(1));
    near.min_by_key(|(distance, _)| *distance).map(|(_, known)| known)
}

fn short(text: &str) -> String {
    match text.char_indices().nth(64) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
