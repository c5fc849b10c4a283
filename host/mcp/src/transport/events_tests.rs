//! Tests of the event parser with chunks of all sizes.

use super::*;
use proptest::prelude::*;

fn read_in(text: &[u8], step: usize, limit: usize) -> Vec<String> {
    let mut parser = Parser::new(limit);
    let mut events = Vec::new();
    for chunk in text.chunks(step) {
        let mut bytes = Bytes::copy_from_slice(chunk);
        while let Some(event) = parser.read(&mut bytes) {
            events.push(event);
        }
        assert!(bytes.is_empty());
    }
    events.extend(parser.end());
    let show = |event| match event {
        Event::Sse(Sse { event, data, id, retry }) => format!("{event:?} {data:?} {id:?} {retry:?}"),
        Event::TooLarge(ids) => format!("too large {ids:?}"),
    };
    events.into_iter().map(show).collect()
}

/// Asserts that the events do not depend on how the bytes are split.
fn read(text: &str, limit: usize) -> Vec<String> {
    let whole = read_in(text.as_bytes(), usize::MAX, limit);
    for step in [1, 2, 3, 7] {
        assert_eq!(read_in(text.as_bytes(), step, limit), whole, "in steps of {step}");
    }
    whole
}

#[test]
fn events_are_parsed_as_in_the_html_standard() {
    let text = "\u{feff}event: endpoint\r\ndata:/a\r\n\r\n: comment\n\ndata: 1\ndata\ndata:  2\rid: 7\r\rretry: 5\n\n";
    assert_eq!(
        read(text, 100),
        [
            r#"Some("endpoint") Some("/a") None None"#,
            r#"None Some("1\n\n 2") Some("7") None"#,
            "None None None Some(5)"
        ]
    );
}

#[test]
fn unknown_and_invalid_fields_are_ignored() {
    let text = "garbage\nfoo: bar\nid: é\nretry: soon\nevent: a\nevent: b\ndata: x\n\nretry: 99999999999\ndata: last";
    assert_eq!(read(text, 100), [r#"Some("b") Some("x") None None"#, r#"None Some("last") None Some(30000)"#]);
}

#[test]
fn a_large_event_has_the_id_of_the_request_it_answers() {
    let large = format!(r#"{{"result":"{}","id":7}}"#, "a".repeat(1000));
    assert_eq!(
        read(&format!("data: small\n\nevent: message\ndata: {large}\n\ndata: small\n\n"), 200),
        [r#"None Some("small") None None"#, "too large [Number(7)]", r#"None Some("small") None None"#]
    );
    let lines = format!("data: {{\ndata: \"result\":\nid: 5\ndata: {}\ndata: ,\"id\":7}}\n\n", "[1]".repeat(400));
    assert_eq!(read(&lines, 200), ["too large [Number(7)]"]);
    assert_eq!(read(&format!("data: {}", "x".repeat(1000)), 200), ["too large []"]);
}

#[test]
fn the_limit_holds_for_lines_and_for_all_data_of_an_event() {
    let lines = "data: 12345678\n".repeat(30);
    assert_eq!(read(&format!("{lines}\n"), 200), ["too large []"]);
    assert_eq!(read("data:12345\n\n", 10), [r#"None Some("12345") None None"#]);
    assert_eq!(read("data:123456\n\n", 10), ["too large []"]);
    let mut parser = Parser::new(100);
    for _ in 0..1000 {
        parser.read(&mut Bytes::from_static(&[b'x'; 1000]));
        assert!(parser.line.len() <= 100);
    }
}

proptest! {
    #[test]
    fn any_bytes_are_read_the_same_in_any_pieces(
        text in prop::collection::vec(prop_oneof![Just(b'\n'), Just(b'\r'), Just(b':'), Just(b'd'), any::<u8>()], 0..80),
        step in 1_usize..9,
    ) {
        prop_assert_eq!(read_in(&text, step, 20), read_in(&text, usize::MAX, 20));
    }
}
