use proptest::prelude::*;

use super::*;
use crate::ModelErrorKind;

type Pairs = Vec<(String, String)>;

fn pair(name: &str, data: &str) -> (String, String) {
    (name.to_owned(), data.to_owned())
}

/// All frames of the chunks.
fn frames<'a>(framing: Framing, chunks: impl IntoIterator<Item = &'a [u8]>) -> Result<Pairs, ModelErrorKind> {
    let (mut frames, mut found) = (Frames::new(framing), Vec::new());
    let mut take = |frame: Frame<'_>| -> Result<bool, ModelError> {
        found.push(pair(frame.name, frame.data));
        Ok(false)
    };
    for chunk in chunks {
        assert!(!frames.push(chunk, &mut take).map_err(|error| error.kind)?);
    }
    assert!(!frames.end(&mut take).map_err(|error| error.kind)?);
    Ok(found)
}

fn events(text: &str) -> Pairs {
    frames(Framing::Events, [text.as_bytes()]).unwrap()
}

fn lines(text: &str) -> Pairs {
    frames(Framing::Lines, [text.as_bytes()]).unwrap()
}

/// Another reading of the rules: line ends are made equal first.
fn plain_events(text: &str) -> Pairs {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n").replace('\r', "\n");
    let (mut found, mut name, mut data) = (Vec::new(), String::new(), Vec::new());
    // An empty line more ends the last event.
    for line in text.split('\n').chain([""]) {
        if let Some(value) = line.strip_prefix("data:") {
            data.push(value.strip_prefix(' ').unwrap_or(value));
        } else if line == "data" {
            data.push("");
        } else if let Some(value) = line.strip_prefix("event:") {
            name = value.strip_prefix(' ').unwrap_or(value).to_owned();
        } else if line == "event" {
            name.clear();
        } else if line.is_empty() {
            let data = std::mem::take(&mut data).join("\n");
            let name = std::mem::take(&mut name);
            found.extend((!data.trim().is_empty()).then_some((name, data)));
        }
    }
    found
}

#[test]
fn events_are_read_with_any_line_end() {
    for end in ["\n", "\r\n", "\r"] {
        let text = ["event: a", "data: 1", "", ": comment", "data:2", "data:  3", "id: 9", "", ""].join(end);
        assert_eq!(events(&text), [pair("a", "1"), pair("", "2\n 3")], "{end:?}");
    }
}

#[test]
fn the_name_belongs_to_one_event_and_the_last_one_counts() {
    assert_eq!(events("event: a\nevent: b\ndata: 1\n\ndata: 2\n\n"), [pair("b", "1"), pair("", "2")]);
    assert_eq!(events("event: a\n\ndata: 2\n\n"), [pair("", "2")], "an event without data is dropped with its name");
}

#[test]
fn a_byte_order_mark_is_dropped_at_the_start_alone() {
    assert_eq!(events("\u{feff}data: 1\n\n"), [pair("", "1")]);
    assert!(events("\n\u{feff}data: 1\n\n").is_empty(), "the field has another name");
    assert_eq!(lines("\u{feff}{}\n"), [pair("", "{}")]);
    assert_eq!(events("data: \u{feff}1\n\n"), [pair("", "\u{feff}1")]);
}

#[test]
fn fields_are_lines_up_to_the_first_colon() {
    assert_eq!(events("data: a: b\n\n"), [pair("", "a: b")]);
    assert!(events(" data: a\nDATA: b\ndatax: c\n:data: d\n\n").is_empty());
    assert_eq!(events("data\ndata: a\ndata\n\n"), [pair("", "\na\n")]);
    assert!(events("data:\n\ndata: \n\n: keep-alive\n\n").is_empty(), "no data");
}

#[test]
fn an_unfinished_end_is_given_too() {
    assert_eq!(events("data: 1\n\ndata: 2"), [pair("", "1"), pair("", "2")]);
    assert_eq!(events("data: 1\n\nevent: x\ndata: 2\n"), [pair("", "1"), pair("x", "2")]);
    assert_eq!(lines("{}\n[1]"), [pair("", "{}"), pair("", "[1]")]);
}

#[test]
fn lines_end_with_a_line_feed() {
    assert_eq!(lines("{\"a\":\r1}\r\n\n  \n [] \n"), [pair("", "{\"a\":\r1}"), pair("", "[]")]);
}

#[test]
fn nothing_is_read_after_the_last_frame() {
    let mut frames = Frames::new(Framing::Events);
    let mut seen = 0;
    let mut take = |_: Frame<'_>| -> Result<bool, ModelError> {
        seen += 1;
        Ok(true)
    };
    assert!(frames.push(b"data: 1\n\ndata: 2\n\n\xFF", &mut take).unwrap());
    assert!(frames.push(b"data: 3\n\n", &mut take).unwrap());
    assert!(frames.end(&mut take).unwrap());
    assert_eq!(seen, 1);
}

#[test]
fn a_failure_of_the_receiver_is_passed_on() {
    let mut take =
        |_: Frame<'_>| -> Result<bool, ModelError> { Err(ModelError::new(ModelErrorKind::Server, "overloaded")) };
    let error = Frames::new(Framing::Lines).push(b"{}\n{}\n", &mut take).unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Server);
}

#[test]
fn characters_may_be_split_and_invalid_ones_are_refused() {
    let text = "data: 世界𝄞\n\n".as_bytes();
    assert_eq!(frames(Framing::Events, text.chunks(1)).unwrap(), [pair("", "世界𝄞")]);
    for bytes in [&b"data: \xFF\n\n"[..], b"data: \xE4\xB8\n\n", b"data: \xED\xA0\x80\n\n"] {
        assert_eq!(frames(Framing::Events, [bytes]), Err(ModelErrorKind::Malformed), "{bytes:?}");
        assert_eq!(frames(Framing::Lines, bytes.chunks(1)), Err(ModelErrorKind::Malformed), "{bytes:?}");
    }
}

#[test]
fn an_end_within_a_character_is_a_cut() {
    for bytes in [&b"data: \xE4"[..], b"data: 1\n\ndata: \xF0\x9D\x84"] {
        assert_eq!(frames(Framing::Events, [bytes]), Err(ModelErrorKind::Cut));
        assert_eq!(frames(Framing::Lines, bytes.chunks(1)), Err(ModelErrorKind::Cut));
    }
}

/// Pushes the chunk until that fails; gives the failure and the number of bytes before it.
fn pushed(framing: Framing, chunk: &[u8]) -> (ModelErrorKind, usize) {
    let mut frames = Frames::new(framing);
    let mut before = 0;
    loop {
        match frames.push(chunk, &mut |_| Ok(false)) {
            Ok(_) => before += chunk.len(),
            Err(error) => return (error.kind, before),
        }
    }
}

#[test]
fn events_and_streams_are_bounded() {
    let piece = "x".repeat(1 << 20);
    // One line, many data lines, many lines of the name: each is one event.
    for (framing, chunk) in [
        (Framing::Lines, piece.clone()),
        (Framing::Events, piece.clone()),
        (Framing::Events, format!("data: {piece}\n")),
    ] {
        let (kind, before) = pushed(framing, chunk.as_bytes());
        assert_eq!(kind, TooLarge);
        assert!(before <= MAX_EVENT + 1024 && before + chunk.len() + 1024 > MAX_EVENT, "{before}");
    }
    for (framing, chunk) in [(Framing::Lines, format!("{piece}\n")), (Framing::Events, format!(": {piece}\n"))] {
        let (kind, before) = pushed(framing, chunk.as_bytes());
        assert_eq!(kind, TooLarge);
        assert!(before <= MAX_STREAM && before + chunk.len() > MAX_STREAM, "{before}");
    }
}

/// Texts out of what matters to the framing.
fn stream() -> impl Strategy<Value = String> {
    let pieces = ["\r", "\n", "\r\n", "data", "data:", "data: ", "event: ", "event", ":", " ", "id: 1", "\u{feff}"];
    let piece = prop_oneof![
        4 => proptest::sample::select(pieces.to_vec()).prop_map(str::to_owned),
        1 => proptest::sample::select(vec!["é", "世", "𝄞", "{\"a\": 1}", "x"]).prop_map(str::to_owned),
    ];
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_cutting_gives_the_same_frames(text in stream(), cuts in proptest::collection::vec(0..200_usize, 0..8)) {
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
        cuts.extend([0, text.len()]);
        cuts.sort_unstable();
        let chunks: Vec<&[u8]> = cuts.windows(2).map(|pair| &text.as_bytes()[pair[0]..pair[1]]).collect();
        for framing in [Framing::Events, Framing::Lines] {
            let whole = frames(framing, [text.as_bytes()]);
            prop_assert_eq!(&frames(framing, chunks.iter().copied()), &whole);
            prop_assert_eq!(&frames(framing, text.as_bytes().chunks(1)), &whole);
        }
        prop_assert_eq!(events(&text), plain_events(&text));
    }

    #[test]
    fn bytes_never_panic(chunks in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..20), 0..8)) {
        for framing in [Framing::Events, Framing::Lines] {
            let whole: Vec<u8> = chunks.concat();
            prop_assert_eq!(frames(framing, chunks.iter().map(Vec::as_slice)), frames(framing, [whole.as_slice()]));
        }
    }
}
