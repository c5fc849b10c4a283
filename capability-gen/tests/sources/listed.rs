use crate::sources::{check_error, one, read_as, refused};
use capability_gen::definition::SourceKind;
use capability_gen::sources::{Format, Source, parse};
use serde_json::{Value, json};

fn get_weather() -> Value {
    json!({
        "name": "get_weather",
        "description": "Get current weather for a location",
        "parameters": {
            "type": "object",
            "properties": {
                "location": { "type": "string", "description": "City name" },
                "unit": { "type": "string", "enum": ["celsius", "fahrenheit"] }
            },
            "required": ["location"]
        }
    })
}

#[test]
fn one_openai_function_is_a_capability_of_its_own() {
    let mut with_type = get_weather();
    with_type["type"] = json!("function");
    with_type["strict"] = json!(true);
    let wrapped = json!({"type": "function", "function": get_weather()});
    for source in [get_weather(), with_type, wrapped] {
        let weather = one(&source);
        assert_eq!((weather.name.as_str(), weather.is_single_function), ("get_weather", true));
        assert_eq!((weather.source, weather.notes.as_slice()), (SourceKind::Tool, [].as_slice()));
        assert_eq!(weather.functions[0].parameters, get_weather()["parameters"]);
        assert_eq!(weather.functions[0].description, "Get current weather for a location");
        assert_eq!(weather.description, weather.functions[0].description);
    }
}

#[test]
fn a_list_of_openai_functions_is_one_capability_named_by_its_source() {
    let wrapped = json!({"type": "function", "function": get_weather()});
    let other =
        json!({"name": "now", "output_schema": {"type": "string"}, "requiresApproval": true, "defer_loading": true});
    for source in [json!([wrapped, other]), json!({"tools": [wrapped, other]})] {
        let tools = one(&source);
        assert_eq!((tools.name.as_str(), tools.is_single_function), ("company-crm", false));
        let names: Vec<_> = tools.functions.iter().map(|function| function.name.as_str()).collect();
        assert_eq!(names, ["get_weather", "now"]);
        assert_eq!(tools.functions[1].returns, Some(json!({"type": "string"})));
        assert_eq!(tools.functions[1].config.requires_approval, Some(true));
        assert_eq!(tools.functions[1].parameters, json!({"type": "object", "properties": {}}));
        assert!(tools.notes[0].place.path.ends_with("[1].defer_loading"), "{:?}", tools.notes);
    }
    let text = json!([get_weather()]).to_string();
    let named = Source { file: "tools.json", text: &text, name: Some("sky"), format: None };
    let sky = &parse(&named).unwrap()[0];
    assert_eq!((sky.name.as_str(), sky.is_single_function), ("sky", false));
}

#[test]
fn built_in_tools_are_left_out_with_a_note() {
    let search = json!({"name": "search", "description": "", "input_schema": get_weather()["parameters"]});
    let bash = json!({"type": "bash_20250124", "name": "bash"});
    let tools = one(&json!([bash, search]));
    assert_eq!(tools.functions.len(), 1);
    assert_eq!(tools.functions[0].parameters, get_weather()["parameters"]);
    assert_eq!((tools.notes.len(), tools.notes[0].place.path.as_str()), (1, "$[0]"));
    assert!(tools.notes[0].message.contains("\"bash_20250124\""), "{:?}", tools.notes);
    let single = one(&search);
    assert_eq!((single.name.as_str(), single.is_single_function), ("search", true));
    refused(&bash, "$", "\"bash_20250124\"", "at least one function");
    refused(&json!([{"type": "web_search"}, {"type": "file_search"}]), "$", "\"web_search\"", "at least one function");
}

#[test]
fn mistakes_in_listed_functions_are_refused() {
    refused(&json!([get_weather(), get_weather()]), "$[1]", "first at dir/company-crm.json: $[0]", "Rename");
    refused(&json!([get_weather(), 1]), "$[1]", "is a number", "an object");
    refused(&json!({"type": "function", "function": {"parameters": {}}}), "$.function", "no name", "\"name\"");
    refused(&json!({"name": "", "parameters": {}}), "$.name", "is empty", "name");
    let misspelt = json!({"name": "a", "parameters": {}, "requireApproval": true});
    refused(&misspelt, "$.requireApproval", "not a key", "\"requiresApproval\"");
    let outside = json!({"type": "function", "requiresApproval": true, "function": get_weather()});
    refused(&outside, "$.requiresApproval", "beside \"function\"", "Move it");
    let twice = json!({"name": "a", "parameters": {}, "input_schema": {"type": "object"}});
    refused(&twice, "$.input_schema", "$.parameters", "Keep one");
    refused(&json!([]), "$", "the list is empty", "Give a tool");
    refused(&json!({"tools": {}, "name": "a"}), "$.tools", "is an object", "an array");
    refused(&json!("text"), "$", "neither an object nor an array", "Give a tool");
    refused(&json!({"colour": "red"}), "$", "unknown format", "say which format");
    check_error(read_as(&json!({"a": 1}), Format::OpenAi), "$", "no name", "\"name\"");
    check_error(read_as(&json!(7), Format::Anthropic), "$", "is a number", "an object");
}
