//! Tests of large results as the loop and the model use them.

use super::*;
use agent_spaces_models::Image;

fn output(text: impl Into<String>) -> ToolOutput {
    ToolOutput { text: text.into(), ..ToolOutput::default() }
}

fn kept(text: &str) -> Handles {
    let handles = Handles::default();
    handles.restore("result_1".into(), text.into());
    handles
}

fn read(handles: &Handles, arguments: Value) -> ToolOutput {
    handles.read(arguments.as_object().unwrap())
}

fn text(handles: &Handles, arguments: Value) -> String {
    let output = read(handles, arguments);
    assert!(!output.is_error, "{}", output.text);
    output.text
}

fn fault(handles: &Handles, arguments: Value) -> String {
    let output = read(handles, arguments);
    assert!(output.is_error, "{}", output.text);
    output.text
}

#[test]
fn a_large_result_becomes_its_beginning_and_a_handle() {
    let handles = Handles::default();
    let whole = "row of a table\n".repeat(140_000);
    let image = Image { media_type: "image/png".into(), data: "AA==".into() };
    let given = ToolOutput { images: vec![image.clone()], is_error: true, ..output(whole.clone()) };
    let (shown, aside) = handles.put_aside(given, 100_000);
    assert!(shown.text.starts_with("row of a table\nrow of") && shown.text.len() < MAX_BEGINNING + 1_000);
    for words in ["2100000 bytes in 140000 lines", "result_1", "read_result", "\"offset\":4096"] {
        assert!(shown.text.contains(words), "{words}: {}", shown.text);
    }
    assert!(shown.is_error);
    assert_eq!(shown.images, [image]);
    assert_eq!(aside, Some(("result_1".to_owned(), whole.clone())));
    let next = text(&handles, json!({ "handle": "result_1", "offset": 4096 }));
    assert!(next.starts_with(&whole[4096..8192]), "{next}");
}

#[test]
fn little_room_leaves_no_beginning() {
    let (shown, aside) = Handles::default().put_aside(output("é".repeat(100_000)), 50);
    assert!(shown.text.starts_with("(The result is too large") && shown.text.len() < 600, "{}", shown.text);
    assert!(aside.is_some());
    // With room for some bytes, the beginning ends between characters.
    for tokens in 121..130 {
        let (shown, _) = Handles::default().put_aside(output("😀".repeat(100_000)), tokens);
        assert!(shown.text.len() < 800, "{}", shown.text);
    }
}

#[test]
fn a_short_result_stays() {
    let handles = Handles::default();
    let short = output("x".repeat(300));
    assert_eq!(handles.put_aside(short.clone(), 0), (short, None));
    let fitting = output("x".repeat(MAX_BEGINNING));
    assert_eq!(handles.put_aside(fitting.clone(), 100_000), (fitting, None));
}

#[test]
fn a_result_beyond_the_bound_is_cut() {
    let handles = Handles::default();
    let (shown, aside) = handles.put_aside(output("日".repeat(MAX_TEXT / 3 + 10)), 1_000);
    assert!(shown.text.contains("were kept"), "{}", shown.text);
    assert!(aside.is_some_and(|(_, text)| text.len() <= MAX_TEXT && text.len() > MAX_TEXT - 3));
}

#[test]
fn parts_follow_each_other_to_the_end() {
    let whole = "aé日😀".repeat(40);
    let handles = kept(&whole);
    let (mut offset, mut joined) = (0, String::new());
    loop {
        let part = text(&handles, json!({ "handle": "result_1", "offset": offset, "length": 7 }));
        let (piece, place) = part.rsplit_once("\n\n(bytes ").unwrap();
        joined.push_str(piece);
        assert!(!piece.is_empty(), "{place}");
        let Some((_, next)) = place.split_once("the next part begins at ") else { break };
        offset = next.trim_end_matches(')').parse().unwrap();
    }
    assert_eq!(joined, whole);
    // A part that begins within a character begins with it, and is never empty.
    assert!(text(&handles, json!({ "handle": "result_1", "offset": 2, "length": 1 })).starts_with('é'));
}

#[test]
fn parts_are_bounded() {
    let handles = kept(&"x".repeat(100_000));
    let length = |arguments| text(&handles, arguments).lines().next().map_or(0, str::len);
    assert_eq!(length(json!({ "handle": "result_1" })), reading::DEFAULT_LENGTH);
    assert_eq!(length(json!({ "handle": "result_1", "length": u64::MAX })), reading::MAX_LENGTH);
    assert_eq!(length(json!({ "handle": "result_1", "length": "10", "offset": 5.0 })), 10);
    assert_eq!(length(json!({ "handle": "result_1", "length": 0 })), 1);
    const { assert!(reading::MAX_LENGTH < Handles::MAX_INLINE) };
}

#[test]
fn a_text_is_found_with_its_surroundings() {
    let handles = kept("first line\nsecond line with the needle in it\nthird needle");
    let found = text(&handles, json!({ "handle": "result_1", "find": "needle" }));
    assert!(found.starts_with("Places of the text from byte 0 to the end, 57: 2."), "{found}");
    assert!(found.contains("[byte 32, line 2] first line second line with the needle in it"), "{found}");
    assert!(found.contains("[byte 51, line 3]"), "{found}");
    let later = text(&handles, json!({ "handle": "result_1", "find": "needle", "offset": 40 }));
    assert!(
        later.starts_with("Places of the text from byte 40 to the end, 57: 1.") && later.contains("[byte 51, line 3]"),
        "{later}"
    );
    assert!(text(&handles, json!({ "handle": "result_1", "find": "NEEDLE" })).ends_with(": 0."));
}

#[test]
fn many_places_are_counted_and_few_are_shown() {
    let handles = kept(&"😀x".repeat(50_000));
    let found = text(&handles, json!({ "handle": "result_1", "find": "x", "offset": 1 }));
    assert!(found.starts_with("Places of the text from byte 0 to the end, 250000: 50000. "), "{found}");
    assert_eq!(found.matches("[byte ").count(), 20);
    assert!(found.contains("follow from offset 104 on"), "{found}");
    assert!(found.len() < 10_000);
}

#[test]
fn wrong_arguments_are_explained() {
    let handles = kept("text");
    let faults = [
        (json!({ "handle": "result_9" }), "There is no result result_9. The newest results are: result_1."),
        (json!({}), "`handle` is missing"),
        (json!({ "handle": 1 }), "`handle` is missing"),
        (json!({ "handle": "result_1", "offset": -1 }), "`offset` is a whole number"),
        (json!({ "handle": "result_1", "offset": 1.5 }), "`offset` is a whole number"),
        (json!({ "handle": "result_1", "length": [] }), "`length` is a whole number"),
        (json!({ "handle": "result_1", "offset": 4 }), "the result has 4 bytes"),
        (json!({ "handle": "result_1", "find": "" }), "`find` is a text"),
        (json!({ "handle": "result_1", "find": "x".repeat(1_001) }), "`find` is a text"),
    ];
    for (arguments, words) in faults {
        let fault = fault(&handles, arguments);
        assert!(fault.contains(words), "{words}: {fault}");
    }
    let none = fault(&Handles::default(), json!({ "handle": "result_1" }));
    assert!(none.contains("No result of this session"), "{none}");
}

#[test]
fn clones_share_results_and_the_tool_says_its_name() {
    let handles = Handles::default();
    handles.clone().restore("result_1".into(), "text".into());
    assert!(text(&handles, json!({ "handle": "result_1" })).starts_with("text\n"));
    let tool = Handles::tool();
    assert_eq!(tool.name, Handles::TOOL);
    assert_eq!(tool.parameters["required"], json!(["handle"]));
}
