use crate::sources::{one, read, refused};
use capability_gen::definition::{Period, RateLimit, SourceKind};
use serde_json::{Value, json};

fn train_schedule() -> Value {
    json!({
        "name": "trainSchedule",
        "description": "Get train schedule information",
        "version": "1.0.0",
        "functions": [
            {
                "name": "getSchedule",
                "description": "Get all scheduled trains",
                "parameters": {
                    "type": "object",
                    "properties": {
                        "station": { "type": "string", "description": "Filter by station name" },
                        "date": { "type": "string", "format": "date", "description": "Date to check (YYYY-MM-DD)" }
                    }
                },
                "returns": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {
                            "id": { "type": "string" },
                            "hour": { "type": "integer" },
                            "minute": { "type": "integer" },
                            "destination": { "type": "string" },
                            "platform": { "type": "string" }
                        }
                    }
                }
            },
            {
                "name": "getTrainDetails",
                "description": "Get details for a specific train",
                "parameters": {
                    "type": "object",
                    "properties": { "trainId": { "type": "string", "required": true } },
                    "required": ["trainId"]
                },
                "returns": {
                    "type": "object",
                    "properties": {
                        "id": { "type": "string" },
                        "operator": { "type": "string" },
                        "stops": { "type": "array" }
                    }
                }
            }
        ],
        "config": { "requiresApproval": false, "rateLimit": { "requests": 100, "period": "minute" } }
    })
}

#[test]
fn the_train_schedule_sample_parses() {
    let source = train_schedule();
    let tool = one(&source);
    assert_eq!((tool.name.as_str(), tool.version.as_deref()), ("trainSchedule", Some("1.0.0")));
    assert_eq!(tool.description, "Get train schedule information");
    assert_eq!((tool.source, tool.is_single_function), (SourceKind::Tool, false));
    assert_eq!(tool.config.requires_approval, Some(false));
    assert_eq!(tool.config.rate_limit, Some(RateLimit { requests: 100, period: Period::Minute }));
    assert_eq!(tool.notes, []);
    let [schedule, details] = tool.functions.as_slice() else { panic!("two functions") };
    assert_eq!((schedule.name.as_str(), details.name.as_str()), ("getSchedule", "getTrainDetails"));
    assert_eq!(schedule.description, "Get all scheduled trains");
    assert_eq!(schedule.place.to_string(), "dir/company-crm.json: $.functions[0]");
    for (function, source) in tool.functions.iter().zip(source["functions"].as_array().unwrap()) {
        assert_eq!(function.parameters, source["parameters"]);
        assert_eq!(function.returns.as_ref(), source.get("returns"));
    }
}

/// The TypeScript samples' objects, without their handlers.
#[test]
fn functions_may_be_a_map_with_flat_parameters() {
    let crm = one(&json!({
        "name": "crm",
        "functions": {
            "searchCustomers": {
                "parameters": {
                    "query": { "type": "string", "required": true },
                    "limit": { "type": "number", "default": 10 }
                },
                "returns": {}
            },
            "createTicket": {
                "parameters": {
                    "customerId": { "type": "string", "required": true },
                    "subject": { "type": "string", "required": true },
                    "priority": { "type": "string", "enum": ["low", "medium", "high"] }
                },
                "requiresApproval": true,
                "approvalMessage": "Create {{priority}} ticket for customer {{customerId}}?"
            }
        }
    }));
    let [search, create] = crm.functions.as_slice() else { panic!("two functions") };
    assert_eq!(
        search.parameters,
        json!({
            "type": "object",
            "properties": { "query": { "type": "string" }, "limit": { "type": "number", "default": 10 } },
            "required": ["query"]
        })
    );
    assert_eq!(create.parameters["required"], json!(["customerId", "subject", "priority"]));
    assert_eq!(create.config.requires_approval, Some(true));
    assert_eq!(
        create.config.approval_message.as_deref(),
        Some("Create {{priority}} ticket for customer {{customerId}}?")
    );
    assert_eq!(create.place.path, "$.functions.createTicket");
    assert_eq!(search.config.requires_approval, None);
}

#[test]
fn an_array_of_tools_is_several_capabilities() {
    let notes = json!({"name": "notes", "owner": "office", "functions": [{"name": "create"}], "x-team": 1});
    let tools = read(&json!([train_schedule(), notes])).unwrap();
    let names: Vec<_> = tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["trainSchedule", "notes"]);
    assert_eq!(tools[1].owner.as_deref(), Some("office"));
    assert_eq!(tools[1].functions[0].place.path, "$[1].functions[0]");
    assert_eq!(read(&json!({"tools": [train_schedule()]})).unwrap().len(), 1);
    refused(&json!([train_schedule(), train_schedule()]), "$[1]", "first at dir/company-crm.json: $[0]", "Rename");
}

#[test]
fn a_functions_configuration_and_hints_are_its_own() {
    let tool = one(&json!({"name": "fileSystem", "functions": [{
        "name": "deleteFile",
        "title": "Delete a file",
        "annotations": {"destructiveHint": true},
        "config": {"requiresApproval": true, "scopes": ["files:write"], "rateLimit": {"requests": 1, "period": "day"}}
    }]}));
    let function = &tool.functions[0];
    assert_eq!(function.title.as_deref(), Some("Delete a file"));
    assert_eq!(function.annotations.destructive_hint, Some(true));
    assert_eq!(function.config.scopes, ["files:write"]);
    assert_eq!(function.config.requires_approval, Some(true));
    assert_eq!(function.parameters, json!({"type": "object", "properties": {}}));
    assert_eq!(function.returns, None);
}

fn with(path: &str, value: Value) -> Value {
    let mut tool = train_schedule();
    let (parent, key) = path.rsplit_once('/').unwrap();
    tool.pointer_mut(parent).unwrap()[key] = value;
    tool
}

#[test]
fn unknown_keys_are_refused_with_the_nearest_known_one() {
    refused(&with("/desciption", json!("")), "$.desciption", "not a key of a tool", "Did you mean \"description\"?");
    refused(&with("/handlers", json!({})), "$.handlers", "not a key of a tool", "Known keys: ");
    let misspelt = with("/functions/1/requires_approval", json!(true));
    refused(&misspelt, "$.functions[1].requires_approval", "of a function", "\"requiresApproval\"");
    refused(&with("/config/ratelimit", json!({})), "$.config.ratelimit", "of a config", "\"rateLimit\"");
    let limit = with("/config/rateLimit/perod", json!("day"));
    refused(&limit, "$.config.rateLimit.perod", "of a rateLimit", "\"period\"");
    let misspelt = json!({"name": "a", "fuctions": [{"name": "b"}]});
    refused(&misspelt, "$.fuctions", "of a tool", "\"functions\"");
    refused(&with("/functions/0/handler", json!("x")), "$.functions[0].handler", "code", "TypeScript");
}

#[test]
fn missing_and_mistyped_members_are_refused_at_their_place() {
    refused(&with("/name", Value::Null), "$", "has no name", "\"name\"");
    refused(&with("/name", json!(" ")), "$.name", "name is empty", "Give it a name");
    refused(&with("/name", json!("n".repeat(65_537))), "$.name", "65537 bytes", "shorter");
    refused(&with("/name", json!(5)), "$.name", "is a number", "text");
    refused(&with("/description", json!(5)), "$.description", "is a number", "text");
    refused(&with("/version", json!("1.0")), "$.version", "\"1.0\" is not a semantic version", "1.0.0");
    refused(&with("/functions", json!([])), "$.functions", "no function", "at least one");
    refused(&with("/functions", json!("all")), "$.functions", "is text", "an array");
    refused(&with("/functions", Value::Null), "$", "no \"functions\"", "at least one");
    refused(&with("/functions/0/name", json!("")), "$.functions[0].name", "name is empty", "name");
    refused(&with("/functions", json!([{"name": "a"}, 3])), "$.functions[1]", "is a number", "an object");
    refused(&with("/functions/1/parameters", json!([])), "$.functions[1].parameters", "is an array", "an object");
    refused(&with("/functions/1/returns", json!(3)), "$.functions[1].returns", "is a number", "an object");
    let limit =
        |requests: Value, period: Value| with("/config/rateLimit", json!({"requests": requests, "period": period}));
    refused(&limit(json!(0), json!("day")), "$.config.rateLimit.requests", "above 0", "100");
    refused(&limit(json!(1.5), json!("day")), "$.config.rateLimit.requests", "above 0", "100");
    refused(&limit(json!(1), json!("minutes")), "$.config.rateLimit.period", "unknown period", "\"minute\"");
    refused(&limit(json!(1), json!("fortnight")), "$.config.rateLimit.period", "unknown period", "second, minute");
    refused(&limit(json!(1), Value::Null), "$.config.rateLimit", "\"period\" is missing", "minute");
    refused(&with("/config/requiresApproval", json!("no")), "$.config.requiresApproval", "is text", "true or false");
    refused(&with("/config/scopes", json!(["a", 1])), "$.config.scopes[1]", "is a number", "text");
}

#[test]
fn duplicate_functions_are_refused_with_both_places() {
    let twice = with("/functions/1/name", json!("getSchedule"));
    refused(&twice, "$.functions[1]", "first at dir/company-crm.json: $.functions[0]", "Rename");
    let renamed = json!({"name": "a", "functions": {"b": {"name": "c"}}});
    refused(&renamed, "$.functions.b.name", "differs from the function's key \"b\"", "Remove");
    let twice =
        json!({"name": "a", "functions": {"b": {"requiresApproval": true, "config": {"requiresApproval": false}}}});
    refused(&twice, "$.functions.b.requiresApproval", "contradicts the function's config", "one of the two");
}
