//! Hand-built models: the specification's three modules, and one with every feature.

use capability_gen::definition::{Annotations, Config, Period, Place, RateLimit, SourceKind};
use capability_gen::model::{
    Capability, Docs, Field, Function, Module, Presence, Record, Rest, ServerInterface, Type, TypeDefinition, TypeId,
    Types,
};
use capability_gen::names;
use capability_gen::server::ServerPart;
use serde_json::{Value, json};

pub(crate) fn module(name: &str, capabilities: Vec<Capability>, types: Vec<TypeDefinition>) -> Module {
    Module {
        name: name.to_owned(),
        specifier: format!("@capabilities/{name}"),
        version: "1.0.0".to_owned(),
        capabilities,
        types: Types(types),
        dependencies: Vec::new(),
        notes: Vec::new(),
    }
}

pub(crate) fn capability(name: &str, source: SourceKind, functions: Vec<Function>) -> Capability {
    Capability {
        name: name.to_owned(),
        export: names::camel(name),
        interface: names::kebab(name),
        is_single_function: false,
        description: String::new(),
        version: "1.0.0".to_owned(),
        source,
        owner: None,
        tags: Vec::new(),
        functions,
        config: Config::default(),
        place: Place::default(),
        server: Vec::new(),
        component: None,
    }
}

pub(crate) fn function(name: &str, params: Type, result: Option<Type>) -> Function {
    Function {
        name: name.to_owned(),
        js_name: names::camel(name),
        wit_name: names::kebab(name),
        title: None,
        description: String::new(),
        params,
        has_result_schema: result.is_some(),
        result: result.unwrap_or(Type::Any),
        params_schema: json!({"type": "object", "additionalProperties": false}),
        result_schema: None,
        source_parameters: json!({"type": "object"}),
        source_returns: None,
        is_result_wrapped: false,
        annotations: Annotations::default(),
        tags: Vec::new(),
        config: Config::default(),
        implementation: None,
        provider: None,
        place: Place::default(),
    }
}

pub(crate) fn definition(name: &str, ty: Type) -> TypeDefinition {
    TypeDefinition { name: name.to_owned(), docs: Docs::default(), ty }
}

pub(crate) fn record(fields: Vec<Field>) -> Type {
    Type::Record(Record { fields, rest: Rest::Closed })
}

pub(crate) fn field(name: &str, ty: Type, presence: Presence) -> Field {
    Field { name: name.to_owned(), ty, presence, docs: Docs::default() }
}

pub(crate) fn required(name: &str, ty: Type) -> Field {
    field(name, ty, Presence::Required)
}

pub(crate) fn optional(name: &str, ty: Type) -> Field {
    field(name, ty, Presence::Optional)
}

/// Record of a result: nothing is `required`, and it is open.
pub(crate) fn result(fields: &[(&str, Type)]) -> Type {
    let fields = fields.iter().map(|(name, ty)| field(name, ty.clone(), Presence::Expected)).collect();
    Type::Record(Record { fields, rest: Rest::Undeclared })
}

pub(crate) fn documented(mut field: Field, description: &str) -> Field {
    field.docs.description = description.to_owned();
    field
}

pub(crate) fn list(item: Type) -> Type {
    Type::List(Box::new(item))
}

pub(crate) fn named(id: usize) -> Type {
    Type::Named(TypeId(id))
}

pub(crate) fn literals(values: Value) -> Type {
    Type::Literals(values.as_array().cloned().unwrap_or_default())
}

pub(crate) fn train_schedule() -> Module {
    let types = vec![
        definition(
            "GetScheduleParams",
            record(vec![
                documented(optional("station", Type::String), "Filter by station name"),
                documented(optional("date", Type::String), "Date to check (YYYY-MM-DD)"),
            ]),
        ),
        definition(
            "Trip",
            result(&[
                ("id", Type::String),
                ("hour", Type::Integer),
                ("minute", Type::Integer),
                ("destination", Type::String),
                ("platform", Type::String),
            ]),
        ),
        definition("GetTrainDetailsParams", record(vec![required("trainId", Type::String)])),
        definition(
            "TrainDetails",
            result(&[("id", Type::String), ("operator", Type::String), ("stops", list(Type::String))]),
        ),
    ];
    let mut get_schedule = function("getSchedule", named(0), Some(list(named(1))));
    get_schedule.description = "Get all scheduled trains".to_owned();
    get_schedule.source_parameters = json!({"type": "object", "properties": {"station": {"type": "string"}}});
    get_schedule.source_returns = Some(json!({"type": "array"}));
    get_schedule.params_schema = json!({
        "type": "object",
        "properties": {"station": {"type": "string", "description": "Filter by station name"}},
        "additionalProperties": false,
    });
    let mut get_details = function("getTrainDetails", named(2), Some(named(3)));
    get_details.description = "Get details for a specific train".to_owned();
    let mut trains = capability("trainSchedule", SourceKind::Tool, vec![get_schedule, get_details]);
    trains.description = "Get train schedule information".to_owned();
    trains.config = Config {
        requires_approval: Some(false),
        rate_limit: Some(RateLimit { requests: 100, period: Period::Minute }),
        ..Config::default()
    };
    module("train-schedule", vec![trains], types)
}

pub(crate) fn weather() -> Module {
    let types = vec![
        definition(
            "GetWeatherParams",
            record(vec![
                documented(required("location", Type::String), "City name"),
                optional("unit", literals(json!(["celsius", "fahrenheit"]))),
            ]),
        ),
        definition(
            "WeatherResult",
            result(&[("temperature", Type::Number), ("unit", Type::String), ("description", Type::String)]),
        ),
    ];
    let mut get_weather = function("get_weather", named(0), Some(named(1)));
    get_weather.description = "Get current weather for a location".to_owned();
    let mut weather = capability("weather", SourceKind::Tool, vec![get_weather]);
    weather.is_single_function = true;
    weather.export = "getWeather".to_owned();
    module("weather", vec![weather], types)
}

pub(crate) fn slack() -> Module {
    let types = vec![
        definition("Channel", result(&[("id", Type::String), ("name", Type::String)])),
        definition(
            "PostMessageParams",
            record(vec![required("channel", Type::String), required("text", Type::String)]),
        ),
        definition("Message", result(&[("channel", Type::String), ("text", Type::String), ("ts", Type::String)])),
        definition(
            "GetChannelHistoryParams",
            record(vec![required("channel", Type::String), optional("limit", Type::Integer)]),
        ),
    ];
    let functions = vec![
        function("listChannels", record(Vec::new()), Some(list(named(0)))),
        function("postMessage", named(1), Some(named(2))),
        function("getChannelHistory", named(3), Some(list(named(2)))),
    ];
    module("mcp-slack", vec![capability("slack", SourceKind::Mcp, functions)], types)
}

/// All parts of a server.
pub(crate) fn server_parts() -> Vec<ServerInterface> {
    [ServerPart::Resources, ServerPart::Prompts]
        .map(|part| ServerInterface { part, interface: part.name().to_owned() })
        .to_vec()
}

/// A server with resources and prompts, and a tool without an output schema.
pub(crate) fn docs_server() -> Module {
    let mut search = function("search", record(vec![required("query", Type::String)]), None);
    search.description = "Searches the pages.".to_owned();
    let mut docs = capability("docs", SourceKind::Mcp, vec![search]);
    docs.description = "Ask for few pages.".to_owned();
    docs.server = server_parts();
    module("mcp-docs", vec![docs], Vec::new())
}

/// Texts that would be harmful as code.
pub(crate) const HOSTILE: &[&str] = &[
    "*/ export const broken: string; /*",
    "*\u{200b}/ } }",
    "**/",
    "@deprecated",
    "* @deprecated do not use",
    "first\n@ts-ignore\r\n * @type {any}\r@see",
    "see {@link https://example.com x}",
    "'; alert(1); '",
    "\\",
    "\\' + x + '",
    "`${process.exit()}`",
    "</script><script>alert(1)</script>",
    "<!-- -->",
    "\u{2028}x\u{2029}y",
    "\u{202e}reversed\u{202c}",
    "\0\u{1b}[31m",
    "__proto__",
    "constructor",
    "",
    " ",
    "1",
    "-1",
    "a-b",
    "[key: string]",
    "get x",
    "readonly",
    "new",
    "?",
    "x?: string; y",
    "naïve",
    "日本語",
    "🚂",
    "\u{e0041}\u{feff}",
    "// comment\n",
    "/** ",
];

/// Every kind of type in every place, with the names and texts of [`HOSTILE`].
pub(crate) fn torture() -> Module {
    let mut fields: Vec<Field> = HOSTILE.iter().map(|name| documented(optional(name, Type::String), name)).collect();
    for (index, field) in fields.iter_mut().enumerate() {
        field.docs.default = Some(json!({"text": HOSTILE[index]}));
        field.docs.limits = vec![HOSTILE[index].to_owned(), "1 to 100".to_owned()];
        field.docs.is_deprecated = index % 2 == 0;
    }
    let nullable = Type::Union(vec![Type::String, Type::Null]);
    let tuple = Type::Tuple {
        items: vec![Type::Integer, nullable.clone(), Type::Boolean],
        required: 1,
        rest: Some(Box::new(Type::Union(vec![Type::Null, named(1)]))),
    };
    let numbers = || record(vec![required("count", Type::Integer), optional("label", Type::String)]);
    let with_rest =
        |fields: Vec<Field>, rest: Type| Type::Record(Record { fields, rest: Rest::Declared(Box::new(rest)) });
    let types = vec![
        definition("Names", record(fields)),
        definition(
            "Kinds",
            record(vec![
                required("any", Type::Any),
                required("never", Type::Never),
                required("nothing", Type::Null),
                required("yes", Type::Boolean),
                required("integer", Type::Integer),
                required("number", Type::Number),
                required("text", Type::String),
                required("literals", literals(json!(["a", "it's", 1, -1.5, 1e300, true, u64::MAX]))),
                required("hostileLiterals", Type::Literals(HOSTILE.iter().map(|text| json!(text)).collect())),
                required("list", list(list(nullable.clone()))),
                required("objects", list(numbers())),
                required("tuple", tuple.clone()),
                required("emptyTuple", Type::Tuple { items: Vec::new(), required: 0, rest: None }),
                required("restTuple", Type::Tuple { items: Vec::new(), required: 3, rest: Some(Box::new(Type::Any)) }),
                required("map", Type::Map(Box::new(Type::Map(Box::new(nullable.clone()))))),
                required(
                    "union",
                    Type::Union(vec![Type::Integer, Type::Number, numbers(), list(Type::Null), named(4)]),
                ),
                required(
                    "nested",
                    record(vec![required("deeper", record(vec![documented(required("a", Type::Any), "x")]))]),
                ),
                required("closed", record(Vec::new())),
                required("open", Type::Record(Record { fields: Vec::new(), rest: Rest::Undeclared })),
                required("openOf", with_rest(Vec::new(), named(1))),
                required("itself", named(1)),
                optional("tree", named(4)),
                optional("aliases", Type::Tuple { items: (2..17).map(named).collect(), required: 2, rest: None }),
            ]),
        ),
        definition(
            "ScalarsAndMore",
            with_rest(
                vec![required("a", Type::String), optional("b", Type::Integer), optional("c", literals(json!(["x"])))],
                Type::Boolean,
            ),
        ),
        definition(
            "ObjectsAndMore",
            with_rest(vec![required("a", named(1)), optional("b", list(Type::Null))], Type::String),
        ),
        // Recursive through an array and a map, as JSON is.
        definition("Tree", Type::Union(vec![Type::String, Type::Null, list(named(4)), Type::Map(Box::new(named(4)))])),
        definition("MapOfItself", Type::Map(Box::new(named(5)))),
        definition("ListOfItself", list(named(6))),
        definition("TupleOfItself", Type::Tuple { items: vec![named(7)], required: 0, rest: None }),
        // Circular aliases.
        definition("Circular", Type::Union(vec![named(8), Type::String])),
        definition("Round", Type::Union(vec![named(10), Type::String])),
        definition("AndRound", Type::Union(vec![named(9), Type::Integer])),
        definition("Nothing", Type::Union(vec![named(11), named(11)])),
        // Names that the declarations themselves use.
        definition("Promise", record(vec![required("then", Type::String)])),
        definition("Record", result(&[("id", Type::String)])),
        definition("CapabilityPromise", list(Type::String)),
        definition("Uint8Array", record(vec![required("length", Type::String)])),
        definition("McpContent", record(vec![required("type", Type::Integer)])),
    ];
    let mut functions: Vec<Function> = vec![
        function("everything", named(0), Some(named(1))),
        function("noSchema", Type::Any, None),
        function("inline", record(vec![documented(required("a-b", Type::String), "*/")]), Some(tuple)),
        function("ofNamedList", named(2), Some(named(6))),
        function("maybe", named(3), Some(nullable)),
        function(
            "choice",
            Type::Union(vec![named(0), named(1)]),
            Some(list(Type::Union(vec![Type::Null, Type::String]))),
        ),
        function("constructor", record(Vec::new()), Some(Type::Null)),
        function("delete", record(Vec::new()), Some(Type::Never)),
    ];
    for (index, function) in functions.iter_mut().enumerate() {
        function.description = HOSTILE[index].to_owned();
        let properties: serde_json::Map<String, Value> =
            HOSTILE.iter().map(|name| ((*name).to_owned(), json!({"const": name, "description": name}))).collect();
        function.params_schema = json!({"type": "object", "properties": properties, "required": HOSTILE});
    }
    let mut single = capability("createCapabilityProxy", SourceKind::Sdk, vec![function("alone", named(0), None)]);
    single.is_single_function = true;
    single.export = "alone".to_owned();
    let mut everything = capability("torture", SourceKind::Mcp, functions);
    everything.description = HOSTILE.join("\n");
    everything.server = server_parts();
    module("torture", vec![everything, single], types)
}
