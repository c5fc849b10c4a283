//! Prompts and resources of MCP servers. Scripts find them on the server's export, handlers by their part.

use agent_spaces::project::{Outlines, Project, find};
use agent_spaces::{
    Call, CapabilityError, Handlers, Interfaces, Limits, Package, PackageOutline, ServerPart, Space, Target, TypedCall,
    audit, compile,
};
use agent_spaces_tests::{code, engine, error, refusal, run_with_events, value};
use capability_gen::compile::{ModuleSource, compile as compile_module};
use capability_gen::model::Module;
use capability_gen::sources::{Format, parse_value};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

/// Bytes that are neither text nor without a zero.
const BYTES: [u8; 5] = [0, 1, 0xff, 0x80, 7];

fn module(name: &str, listing: &Value) -> Module {
    let definitions = parse_value("mcp", listing, Some(name), Some(Format::Mcp)).unwrap();
    compile_module(ModuleSource { specifier: None, stem: None, definitions }).unwrap()
}

fn listing() -> Value {
    json!({
        "tools": [{ "name": "echo", "inputSchema": { "properties": { "message": { "type": "string" } } } }],
        "instructions": "Echo first.",
        "capabilities": { "resources": {}, "prompts": {} },
    })
}

/// A space with one server, and the calls that its handlers saw.
fn space(module: Module) -> (Space, Arc<Mutex<Vec<Value>>>) {
    let outline = PackageOutline::of(&module);
    let mut interfaces = Interfaces::new().unwrap();
    interfaces.add_package(Package::new(module)).unwrap();
    let calls = Arc::new(Mutex::new(Vec::new()));
    let mut handlers = Handlers::new();
    for interface in outline.interfaces {
        let seen = calls.clone();
        handlers.add_interface(interface.name, move |call| {
            assert_eq!(call.part, interface.part);
            seen.lock().unwrap().push(json!([&*call.capability, &*call.function, &*call.source_name, call.params]));
            let answer = answer(&call);
            async { answer }
        });
    }
    (Space::builder(&engine()).interfaces(interfaces, handlers).build().unwrap(), calls)
}

/// As a server answers, with what the protocol allows besides.
fn answer(call: &Call) -> Result<Value, CapabilityError> {
    Ok(match (call.part, &*call.function) {
        (None, _) => json!(["echoed", call.params]),
        (Some(ServerPart::Resources), "read") if call.params["uri"] == "demo://none" => {
            return Err(CapabilityError::new("resource.unknown", "there is no such resource"));
        }
        (Some(ServerPart::Resources), "read") => json!({
            "contents": [
                { "uri": call.params["uri"], "mimeType": "image/png", "blob": "AAH/gAc=", "_meta": { "etag": "1" } },
                { "uri": call.params["uri"], "text": "as text" },
            ],
        }),
        (Some(ServerPart::Resources), "list") => json!([
            { "uri": "demo://x", "name": "x", "size": 5, "annotations": { "priority": 0.5 } },
            { "uri": "demo://y", "name": "y", "title": "Y", "description": "Why", "mimeType": "text/plain" },
        ]),
        (Some(ServerPart::Resources), _) => json!([{ "uriTemplate": "demo://{id}", "name": "any" }]),
        (Some(ServerPart::Prompts), "list") => {
            json!([{ "name": "greet", "arguments": [{ "name": "who", "required": true }] }])
        }
        (Some(ServerPart::Prompts), _) => json!({
            "description": "A greeting",
            "messages": [{ "role": "user", "content": { "type": "text", "text": "Hello" } }],
        }),
    })
}

#[tokio::test]
async fn a_script_reads_resources_as_text_and_bytes() {
    let (space, calls) = space(module("everything", &listing()));
    let script = "
        import { everything } from '@capabilities/mcp-everything';
        const { contents } = await everything.$resources.read('demo://x');
        const [first, second] = contents;
        export default {
            isBytes: first.blob instanceof Uint8Array, bytes: [...first.blob], has: 'text' in first,
            etag: first._meta.etag, mimeType: first.mimeType, second, again: [...Uint8Array.fromBase64('AAH/gAc=')],
        };";
    assert_eq!(
        value(&space, script).await,
        json!({
            "isBytes": true, "bytes": BYTES, "has": false, "etag": "1", "mimeType": "image/png",
            "second": { "uri": "demo://x", "text": "as text" }, "again": BYTES,
        })
    );
    assert_eq!(*calls.lock().unwrap(), [json!(["everything", "read", "resources/read", { "uri": "demo://x" }])]);
}

#[tokio::test]
async fn lists_and_prompts_match_the_server() {
    let (space, calls) = space(module("everything", &listing()));
    let script = "
        import { everything } from '@capabilities/mcp-everything';
        const { $resources, $prompts } = everything;
        export default [
            await everything.echo({ message: 'hi' }),
            await $resources.list().map(({ uri }) => uri), await $resources.list({}), await $resources.templates(),
            await $prompts.list(), await $prompts.get('greet', { who: 'x' }), await $prompts.get('greet'),
            Object.keys(everything),
        ];";
    let resources = json!([
        { "uri": "demo://x", "name": "x", "size": 5, "annotations": { "priority": 0.5 } },
        { "uri": "demo://y", "name": "y", "title": "Y", "description": "Why", "mimeType": "text/plain" },
    ]);
    let prompt = json!({
        "description": "A greeting", "messages": [{ "role": "user", "content": { "type": "text", "text": "Hello" } }],
    });
    let expected = json!([
        ["echoed", { "message": "hi" }],
        ["demo://x", "demo://y"], resources, [{ "uriTemplate": "demo://{id}", "name": "any" }],
        [{ "name": "greet", "arguments": [{ "name": "who", "required": true }] }], prompt, prompt,
        ["echo", "$prompts", "$resources"],
    ]);
    assert_eq!(value(&space, script).await, expected);
    let calls = calls.lock().unwrap();
    let asked: Vec<&str> = calls.iter().map(|call| call[2].as_str().unwrap()).collect();
    let lists = ["resources/list", "resources/list", "resources/templates/list", "prompts/list"];
    assert_eq!(asked, [&["echo"][..], &lists, &["prompts/get"; 2]].concat());
    assert_eq!(calls[5][3], json!({ "name": "greet", "arguments": { "who": "x" } }));
    assert_eq!(calls[6][3], json!({ "name": "greet", "arguments": null }));
}

/// Invalid arguments are refused before the handler, under the name that the script wrote.
#[tokio::test]
async fn refusals_and_failures_name_the_part() {
    let (space, calls) = space(module("everything", &listing()));
    let with =
        |call: &str| format!("import {{ everything }} from '@capabilities/mcp-everything'; await everything.{call}");
    for (call, message) in [
        ("$resources.read({ uri: 'x' })", "everything.$resources.read: expected a string"),
        ("$resources.read()", "everything.$resources.read: "),
        ("$resources.read('')", "everything.$resources.read: uri: "),
        ("$resources.list({ cursor: 'x' })", "everything.$resources.list: "),
        ("$prompts.get('greet', { who: 1 })", "everything.$prompts.get: arguments.who: "),
        ("$prompts.get('greet', {}, 1)", "everything.$prompts.get: expected 2 arguments"),
    ] {
        let error = error(&space, &with(call)).await;
        assert_eq!(error.code, "call.invalid", "{call}");
        assert!(error.message.starts_with(message), "{call}: {}", error.message);
    }
    assert_eq!(calls.lock().unwrap().len(), 0);
    assert_eq!(code(&space, &with("$resources.read('demo://none')")).await, "resource.unknown");
    let misnamed = error(&space, &with("$resources.reed('demo://x')")).await;
    let hint = misnamed.hint.unwrap_or_default();
    assert_eq!(hint, "everything.$resources has no function `reed`; did you mean `read`?");
    let member = refusal(&space, "x.ts", "import { $resources } from '@capabilities/mcp-everything'; $resources");
    assert_eq!(member.hint.as_deref(), Some("it exports everything"));
}

/// A part is an interface of its own: linked with the server, seen in events, taken back by itself.
#[tokio::test]
async fn parts_are_granted_reported_and_audited_separately() {
    let (space, _) = space(module("everything", &listing()));
    let script = "import { everything } from '@capabilities/mcp-everything'; await everything.$prompts.list()";
    let (report, events) = run_with_events(&space, script, Limits::default()).await;
    assert!(report.outcome.is_ok(), "{:?}", report.outcome);
    assert!(format!("{events:?}").contains("capabilities:mcp-everything/prompts@1.0.0"), "{events:?}");

    let mut interfaces = Interfaces::new().unwrap();
    interfaces.add_package(Package::new(module("everything", &listing()))).unwrap();
    let compiled = compile("x.ts", script, &interfaces, None, Target::Host).unwrap();
    let part = |name: &str| format!("capabilities:mcp-everything/{name}@1.0.0");
    assert_eq!(compiled.interfaces, [part("everything"), part("prompts"), part("resources")]);
    let audited = audit(&compiled.wasm).unwrap();
    let resources = audited.imports.iter().find(|import| import.name == part("resources")).unwrap();
    assert_eq!(resources.functions, ["read", "list", "templates"]);
    assert!(resources.wit.contains("blob: option<list<u8>>"), "{}", resources.wit);

    assert!(space.grants().revoke(&part("resources")));
    let call =
        |call: &str| format!("import {{ everything }} from '@capabilities/mcp-everything'; await everything.{call}");
    assert_eq!(code(&space, &call("$resources.list()")).await, "call.denied");
    value(&space, &call("$prompts.list()")).await;
}

/// The capability's configuration holds for its parts.
#[tokio::test]
async fn a_server_that_requires_approval_requires_it_for_its_parts() {
    let mut module = module("everything", &listing());
    module.capabilities[0].config.requires_approval = Some(true);
    let (space, _) = space(module);
    let script = "import { everything } from '@capabilities/mcp-everything'; await everything.$resources.templates()";
    assert_eq!(code(&space, script).await, "call.approval_denied");
    space.approvals().approve(space.identify("everything.$resources.templates").unwrap());
    value(&space, script).await;
}

/// Whichever name sorts first, and whatever the server is called.
#[tokio::test]
async fn any_server_may_have_parts() {
    for (name, export) in [("zebra", "zebra"), ("a-b", "aB"), ("resources", "resources"), ("import", "import_")] {
        let (space, _) = space(module(name, &listing()));
        let script = format!(
            "import {{ {export} as server }} from '@capabilities/mcp-{name}';
             const lists = [server.$resources.list(), server.$prompts.list()];
             export default [await server.echo({{}}), ...(await Promise.all(lists)).map((list) => list.length)];"
        );
        assert_eq!(value(&space, &script).await, json!([["echoed", {}], 2, 1]), "{name}");
    }
    let mut listing = listing();
    listing["tools"] = json!([]);
    let (space, _) = space(module("files", &listing));
    let script =
        "import * as module from '@capabilities/mcp-files'; (await module.files.$resources.templates())[0].name";
    assert_eq!(value(&space, script).await, json!("any"));
}

#[tokio::test]
async fn a_host_and_a_generated_module_call_parts_too() {
    let (space, _) = space(module("everything", &listing()));
    let call = TypedCall::<Value>::new("everything.$resources", "read", &json!({ "uri": "demo://x" })).unwrap();
    assert_eq!(space.call(call).await.unwrap()["contents"][0]["blob"], "AAH/gAc=");
    let tool = TypedCall::<Value>::new("everything", "list", &json!({})).unwrap();
    assert_eq!(space.call(tool).await.unwrap_err().code, "call.denied", "a part's function is none of the tools'");
    let script = "
        import '@capabilities/mcp-everything';
        import { createCapabilityProxy } from '@agent-spaces/runtime';
        const everything = createCapabilityProxy('everything', {
            $prompts: createCapabilityProxy('everything.$prompts', { get: { handler: 'everything.$prompts.get' } }),
        });
        (await everything.$prompts.get('greet', { who: 'x' })).description";
    assert_eq!(value(&space, script).await, json!("A greeting"));
}

/// A handler file beside a tool list answers parts from an export of the part's name.
#[tokio::test]
async fn a_handler_file_answers_parts() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("agent-spaces.config.json", r#"{ "capabilities": { "global": ["./mcp-everything.json"] } }"#);
    write("mcp-everything.json", &listing().to_string());
    write(
        "mcp-everything.ts",
        "export const echo = ({ message }) => message;
         export const $resources = {
             read: ({ uri }) => ({ contents: [{ uri, blob: new Uint8Array([1, 2, 255]).toBase64() }] }),
             list: () => [{ uri: 'demo://x', name: 'x' }],
         };",
    );
    let file = find(folder.path(), None).unwrap().unwrap();
    let project = Project::open(&file, &engine(), &Outlines::none()).unwrap();
    let space = project.space(None).unwrap().assemble(&engine()).unwrap();
    let with = |call: &str| format!("import {{ everything }} from '@capabilities/mcp-everything'; {call}");
    let read = with("export default [...(await everything.$resources.read('demo://x')).contents[0].blob]");
    assert_eq!(value(&space, &read).await, json!([1, 2, 255]));
    assert_eq!(value(&space, &with("(await everything.$resources.list())[0].name")).await, json!("x"));
    assert_eq!(code(&space, &with("await everything.$prompts.list()")).await, "call.unavailable");
}
