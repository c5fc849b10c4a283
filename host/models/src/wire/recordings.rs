//! Test support: recorded exchanges with real providers, and decoding of their bodies.
//!
//! The recordings are not part of the repository. Tests that need them end early where they are absent.

use std::fs;
use std::path::PathBuf;
use std::sync::Once;

use capability_gen::yaml::{self, Bounds};
use serde_json::Value;

use super::{Framing, Wire};
use crate::frames::{Frame, Frames};
use crate::{Answer, Delta, ModelError, Origin};

/// Places where the recordings may be, from this package: beside the repository, or beside the folder of its worktrees.
const PLACES: [&str; 2] = ["../../../shared/recordings", "../../../../shared/recordings"];

/// Bounds of one recorded exchange.
const BOUNDS: Bounds = Bounds { bytes: 16 << 20, depth: 16 };

/// Positions at which [`decode_cut_everywhere`] cuts at most. Bodies are quadratic in time otherwise.
const MOST_CUTS: usize = 2000;

/// One recorded exchange.
#[derive(Debug)]
pub(crate) struct Exchange {
    /// Name of the file, without its folder.
    pub file: String,
    /// Path of the request.
    pub path: String,
    /// Its body; null without one.
    pub request: Value,
    /// Status of the answer.
    pub status: u16,
    /// Its media type, as the header says it; empty without one.
    pub content_type: String,
    /// Its body.
    pub body: String,
}

/// All exchanges with a provider, ordered by file and then as recorded. `None` without recordings.
pub(crate) fn exchanges(provider: &str) -> Option<Vec<Exchange>> {
    static TOLD: Once = Once::new();
    let Some(folder) = folder() else {
        TOLD.call_once(|| eprintln!("skipped: no recordings; set AGENT_SPACES_RECORDINGS to their folder"));
        return None;
    };
    let folder = folder.join(provider);
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "yaml"));
    files.sort();
    let found: Vec<Exchange> = files
        .iter()
        .flat_map(|file| {
            let name = file.file_name().unwrap().to_string_lossy().into_owned();
            read(&name, &fs::read_to_string(file).unwrap())
        })
        .collect();
    assert!(!found.is_empty(), "{} has no recordings", folder.display());
    Some(found)
}

fn folder() -> Option<PathBuf> {
    if let Some(folder) = std::env::var_os("AGENT_SPACES_RECORDINGS") {
        return Some(folder.into());
    }
    let package = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    PLACES.iter().map(|place| package.join(place)).find(|folder| folder.is_dir())
}

/// Reads the exchanges of a file.
fn read(file: &str, text: &str) -> Vec<Exchange> {
    documents(text).iter().map(|document| exchange(file, document)).collect()
}

/// The documents of a file, each with its last line end: a body may end with it.
fn documents(text: &str) -> Vec<String> {
    let mut documents = vec![String::new()];
    for line in text.split_inclusive('\n') {
        if line.trim_end() == "---" {
            documents.push(String::new());
        } else if let Some(document) = documents.last_mut() {
            document.push_str(line);
        }
    }
    documents.retain(|document| !document.trim().is_empty());
    documents
}

fn exchange(file: &str, document: &str) -> Exchange {
    let document = yaml::read(document, BOUNDS).unwrap_or_else(|error| panic!("{file}: {error}"));
    let (when, then) = (&document["when"], &document["then"]);
    let request = when["body"].as_str().unwrap_or_default();
    let request = if request.is_empty() {
        Value::Null
    } else {
        serde_json::from_str(request).unwrap_or_else(|error| panic!("{file}: request: {error}"))
    };
    let headers = then["header"].as_array().map(Vec::as_slice).unwrap_or_default();
    let is_type =
        |header: &&Value| header["name"].as_str().is_some_and(|name| name.eq_ignore_ascii_case("content-type"));
    let content_type = headers.iter().find(is_type).and_then(|header| header["value"].as_str());
    Exchange {
        file: file.to_owned(),
        path: when["path"].as_str().unwrap_or_else(|| panic!("{file}: no path")).to_owned(),
        request,
        status: then["status"].as_u64().and_then(|status| u16::try_from(status).ok()).unwrap(),
        content_type: content_type.unwrap_or_default().to_owned(),
        body: then["body"].as_str().unwrap_or_default().to_owned(),
    }
}

/// Decodes a streamed body that arrives as one chunk.
pub(crate) fn decode(wire: &dyn Wire, origin: &Origin, framing: Framing, body: &str) -> Result<Answer, ModelError> {
    decode_in_chunks(wire, origin, framing, body, &[])
}

/// Decodes a streamed body that arrives in chunks, cut at these bytes.
pub(crate) fn decode_in_chunks(
    wire: &dyn Wire,
    origin: &Origin,
    framing: Framing,
    body: &str,
    cuts: &[usize],
) -> Result<Answer, ModelError> {
    let mut ends: Vec<usize> = cuts.iter().map(|cut| (*cut).min(body.len())).collect();
    ends.push(body.len());
    ends.sort_unstable();
    let mut frames = Frames::new(framing);
    let mut decoder = wire.decoder(origin);
    let mut watch = |_: Delta<'_>| {};
    let mut is_done = false;
    let mut start = 0;
    for end in ends {
        let chunk = &body.as_bytes()[start..end];
        is_done = frames.push(chunk, &mut |frame: Frame<'_>| decoder.event(frame, &mut watch))?;
        if is_done {
            break;
        }
        start = end;
    }
    if !is_done {
        frames.end(&mut |frame: Frame<'_>| decoder.event(frame, &mut watch))?;
    }
    decoder.finish()
}

/// Asserts that a body decodes to the same wherever it is cut in two, and byte by byte. A long body is cut at some of its
/// bytes, evenly spread.
pub(crate) fn decode_cut_everywhere(wire: &dyn Wire, origin: &Origin, framing: Framing, body: &str) {
    let whole = decode(wire, origin, framing, body);
    for cut in (0..=body.len()).step_by(body.len() / MOST_CUTS + 1) {
        assert_eq!(decode_in_chunks(wire, origin, framing, body, &[cut]), whole, "cut at byte {cut}");
    }
    let everywhere: Vec<usize> = (0..body.len()).collect();
    assert_eq!(decode_in_chunks(wire, origin, framing, body, &everywhere), whole, "cut at every byte");
}

#[test]
fn bodies_keep_their_line_ends() {
    let text = "\
when:
  path: /v1/a
  body: '{\"a\": \"it''s\"}'
then:
  status: 200
  header:
  - name: Content-Type
    value: text/event-stream
  body: |+
    data: 1

    data: [DONE]

---
when:
  path: /v1/b
  body: null
then:
  status: 404
  header: []
  body: \"a\\r\\nb\"
";
    let read = read("f.yaml", text);
    let bodies: Vec<&str> = read.iter().map(|exchange| exchange.body.as_str()).collect();
    assert_eq!(bodies, ["data: 1\n\ndata: [DONE]\n\n", "a\r\nb"]);
    assert_eq!(read[0].request, serde_json::json!({"a": "it's"}));
    assert_eq!((read[0].status, read[0].content_type.as_str()), (200, "text/event-stream"));
    assert_eq!((read[1].status, read[1].path.as_str(), &read[1].request), (404, "/v1/b", &Value::Null));
}

#[test]
fn all_recordings_can_be_read() {
    for provider in ["anthropic", "gemini", "ollama", "openai", "openrouter"] {
        let Some(exchanges) = exchanges(provider) else { return };
        assert!(exchanges.iter().any(|exchange| exchange.status == 200 && !exchange.body.is_empty()), "{provider}");
    }
}
