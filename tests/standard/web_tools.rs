//! Functions implemented by HTTP requests: a JSON tool and an OpenAPI document.

use crate::standard::support::{CommandOutput, Project, Reply, RunningCommand, Site};
use serde_json::{Value, json};

const TOKEN: &str = "open-sesame-of-the-weather-cave";

/// Tells what it was asked, credentials and all.
fn site() -> Site {
    Site::start(|request| {
        let answer =
            |status: u16, value: Value| Reply::Whole(status, "application/json", value.to_string().into_bytes());
        let path = request.path.split('?').next().unwrap_or_default();
        let told = json!({ "path": request.path, "headers": request.headers });
        match path {
            "/v1/cities/Bern/forecast" => answer(200, json!({ "data": { "city": "Bern", "days": 3 } })),
            "/v1/echo" | "/v1/pets/7" => {
                answer(200, json!({ "data": told, "id": 7, "name": "Rex", "told": told.to_string() }))
            }
            "/v1/pets" => answer(201, serde_json::from_slice(&request.body).unwrap()),
            "/v1/fails" => answer(500, told),
            _ => answer(404, json!({ "error": { "message": "nowhere" } })),
        }
    })
}

fn weather(site: &Site) -> Value {
    let function = |http: Value| {
        json!({ "description": "Asks", "parameters": {
            "type": "object", "properties": { "city": { "type": "string" } }, "required": ["city"],
        }, "http": http })
    };
    json!({
        "name": "weather", "description": "The weather", "http": { "baseUrl": site.url("/v1") },
        "functions": {
            "forecast": function(json!({
                "path": "/cities/{{city}}/forecast", "result": "/data",
                "errors": { "404": { "code": "weather.no_such_city", "message": "No such city: {{city}}" } },
            })),
            "echo": function(json!({ "path": "/echo", "query": { "city": "{{city}}" }, "result": "/data" })),
            "fails": function(json!({ "path": "/fails", "query": { "city": "{{city}}" } })),
        },
    })
}

fn pets(server: &str) -> Value {
    let pet = json!({ "type": "object", "properties": { "id": { "type": "integer" }, "name": { "type": "string" } } });
    let answer = json!({ "description": "A pet", "content": { "application/json": { "schema": pet } } });
    json!({
        "openapi": "3.1.0", "info": { "title": "Pets", "version": "1.0.0" }, "servers": [{ "url": server }],
        "paths": {
            "/pets/{petId}": { "get": {
                "operationId": "getPet",
                "parameters": [{ "name": "petId", "in": "path", "required": true, "schema": { "type": "integer" } }],
                "responses": { "200": answer },
            } },
            "/pets": { "post": {
                "operationId": "addPet", "responses": { "201": answer },
                "requestBody": { "required": true, "content": { "application/json": { "schema": pet } } },
            } },
        },
    })
}

/// Project with a definition, whose module has these settings.
fn project(file: &str, definition: &Value, given: Value) -> Project {
    let module = format!("@capabilities/{}", file.trim_end_matches(".json"));
    let project = Project::empty();
    project.write(file, definition.to_string());
    project.configure(json!({
        "capabilities": { "global": [format!("./{file}")] }, "spaces": { "work": {} }, "providers": { module: given },
        "accounting": { "file": "./calls.jsonl" },
    }));
    project.trust();
    project
}

/// Provider settings: localhost, and a token for the site only.
fn provider_settings(site: &Site) -> Value {
    json!({
        "http": { "domains": ["localhost"], "private": ["localhost"] },
        "origins": { site.url(""): {
            "headers": { "Authorization": "Bearer ${WEATHER_TOKEN}" }, "query": { "key": "${WEATHER_TOKEN}" },
        } },
    })
}

fn run(project: &Project, source: &str, options: &[&str]) -> CommandOutput {
    let attempt = "const attempt = async (work) => {
        try { return { value: (await work()) ?? null }; }
        catch (error) { return { code: error.code, message: error.message, details: error.details ?? null }; }
    };\n";
    project.write("script.ts", format!("{attempt}{source}"));
    let mut command = project.command(&[&["run", "script.ts", "--space", "work"], options].concat());
    command.env("WEATHER_TOKEN", TOKEN);
    RunningCommand::start(command).finish()
}

const WEATHER: &str = "import { weather } from '@capabilities/weather';\n";

#[test]
fn a_json_tool_calls_its_server() {
    let site = site();
    let project = project("weather.json", &weather(&site), provider_settings(&site));
    let done =
        run(&project, &format!("{WEATHER}export default await weather.forecast({{ city: 'Bern' }});"), &["--json"]);
    assert_eq!(done.value(), json!({ "city": "Bern", "days": 3 }), "{done:?}");
    let asked = site.asked().remove(0);
    assert_eq!(asked.header("authorization"), Some(format!("Bearer {TOKEN}").as_str()));
    assert_eq!(asked.path, format!("/v1/cities/Bern/forecast?key={TOKEN}"));
    let source = format!("{WEATHER}export default await attempt(() => weather.forecast({{ city: '../admin?x=' }}));");
    let value = run(&project, &source, &["--json"]).value();
    assert_eq!(value["code"], "weather.no_such_city", "{value}");
    assert_eq!(value["message"], "No such city: ../admin?x=");
    assert_eq!(value["details"], json!({ "status": 404, "body": { "error": { "message": "nowhere" } } }));
    assert!(site.paths()[1].starts_with("/v1/cities/..%2Fadmin%3Fx%3D/forecast?"), "{:?}", site.paths());
}

#[test]
fn credentials_appear_in_no_output_event_error_or_file() {
    let site = site();
    let project = project("weather.json", &weather(&site), provider_settings(&site));
    let source = format!(
        "{WEATHER}const told = await weather.echo({{ city: 'x' }});
        console.log(JSON.stringify(told));
        export default [told, await attempt(() => weather.fails({{ city: 'x' }})), await weather.fails({{ city: 'x' }})];"
    );
    for options in [&["--json"][..], &["--events"], &[]] {
        let done = run(&project, &source, options);
        assert_ne!(done.status, Some(0), "{done:?}");
        let shown = format!("{}{}", done.stdout, done.stderr);
        assert!(!shown.contains(TOKEN), "{shown}");
        assert!(shown.contains("500"), "the server's error is told: {shown}");
    }
    assert!(site.asked().iter().all(|request| request.path.contains(TOKEN)), "the server had them");
    let calls = project.read("calls.jsonl").unwrap();
    assert!(calls.contains("weather") && !calls.contains(TOKEN), "{calls}");
}

#[test]
fn an_openapi_operation_calls_its_server() {
    let site = site();
    let project = project("pets.json", &pets(&site.url("/v1")), provider_settings(&site));
    let source = "import { pets } from '@capabilities/pets';
        const pet = await pets.getPet({ petId: 7 });
        export default [pet.name, pet.id, await pets.addPet({ id: 8, name: 'Ada' })];";
    let done = run(&project, source, &["--json"]);
    assert_eq!(done.value(), json!(["Rex", 7, { "id": 8, "name": "Ada" }]), "{done:?}");
    let asked = site.asked();
    assert_eq!((asked[1].method.as_str(), asked[1].header("content-type")), ("POST", Some("application/json")));
    assert!(asked.iter().all(|request| request.header("authorization").is_some()));
    let manifest = project.agent_spaces(&["manifest", "script.ts", "--space", "work", "--json"]);
    assert!(manifest.stdout.contains("\"kind\":\"http\""), "{manifest:?}");
}

#[test]
fn an_openapi_document_cannot_choose_its_server() {
    let (site, other) = (site(), site());
    let source = "import { pets } from '@capabilities/pets';
        export default await attempt(() => pets.getPet({ petId: 7 }));";
    // Another port is another origin: it may be reached, and gets no credentials.
    let elsewhere = project("pets.json", &pets(&other.url("/v1")), provider_settings(&site));
    assert_eq!(run(&elsewhere, source, &["--json"]).value()["value"]["name"], "Rex");
    assert!(!format!("{:?}", other.asked()).contains(TOKEN));
    let hostile = project("pets.json", &pets("http://169.254.169.254/latest"), provider_settings(&site));
    let done = run(&hostile, source, &["--json"]);
    assert_eq!(done.value()["code"], "call.denied");
    assert_eq!(done.value()["message"], "Domain \"169.254.169.254\" is not allowed");
    assert!(done.stderr.contains("@capabilities/pets") && done.stderr.contains("\"domains\""), "{}", done.stderr);
    for server in ["/relative", "https://user:pass@localhost", "file:///etc/passwd"] {
        let nowhere = project("pets.json", &pets(server), provider_settings(&site));
        assert_eq!(run(&nowhere, source, &["--json"]).value()["code"], "call.unavailable", "{server}");
    }
}

#[test]
fn without_a_grant_nothing_is_sent() {
    let site = site();
    let source = format!("{WEATHER}export default await attempt(() => weather.forecast({{ city: 'Bern' }}));");
    let project = project("weather.json", &weather(&site), json!({}));
    let done = run(&project, &source, &["--json"]);
    assert_eq!(done.value()["message"], "Network access is disabled");
    let line = r#"{"providers":{"@capabilities/weather":{"http":{"domains":["localhost"]}}}}"#;
    assert!(done.stderr.contains(line), "{}", done.stderr);
    // A configuration that its user did not accept gives nothing.
    project.configure(json!({
        "capabilities": { "global": ["./weather.json"] }, "spaces": { "work": {} },
        "providers": { "@capabilities/weather": provider_settings(&site) },
    }));
    let done = run(&project, &source, &["--json"]);
    assert_eq!(done.value()["message"], "Network access is disabled", "{done:?}");
    assert_eq!(site.asked().len(), 0);
}

#[test]
fn the_operator_learns_once_how_to_allow_a_request_and_the_number_of_refusals() {
    let inner = site();
    let to = inner.url("/v1/echo").replace("localhost", "127.0.0.1");
    let site = Site::start(move |_| Reply::Redirect(302, to.clone()));
    let source = format!(
        "{WEATHER}const ask = () => attempt(() => weather.forecast({{ city: 'Bern' }}));
        export default [await ask(), await ask(), await ask()];"
    );
    let told = |http: Value| {
        let project = project("weather.json", &weather(&site), json!({ "http": http }));
        let done = run(&project, &source, &["--json"]);
        assert_eq!(done.value()[2]["code"], "call.denied", "{done:?}");
        let told: Vec<&str> = done.stderr.lines().filter(|line| line.contains("@capabilities/weather")).collect();
        assert_eq!(told.len(), 2, "{done:?}");
        assert!(told[1].contains("forecast: 2 more like this in one minute ("), "{done:?}");
        told[0].to_owned()
    };
    let here = json!(["localhost"]);
    let line = told(json!({ "domains": here }));
    assert!(line.contains(r#"{"http":{"private":["localhost"]}}"#), "{line}");
    let line = told(json!({ "domains": here, "private": here, "methods": ["POST"] }));
    assert!(line.contains(r#"{"http":{"methods":["POST","GET"]}}"#), "{line}");
    let line = told(json!({ "domains": here, "blocked": here }));
    assert!(line.contains("\"blocked\"") && !line.contains("To allow it"), "{line}");
    // A server does not choose what an operator is advised to allow.
    let line = told(json!({ "domains": ["localhost", "127.0.0.1"], "private": here }));
    assert!(line.contains("was redirected from localhost to 127.0.0.1"), "{line}");
    assert!(!line.contains("To allow it"), "{line}");
    assert_eq!(inner.asked().len(), 0);
}

#[test]
fn handler_files_take_precedence_over_requests() {
    let site = site();
    let project = project("weather.json", &weather(&site), provider_settings(&site));
    project.write("weather.ts", "export const forecast = ({ city }) => `by hand: ${city}`;");
    let source = format!("{WEATHER}export default await weather.forecast({{ city: 'Bern' }});");
    assert_eq!(run(&project, &source, &["--json"]).value(), "by hand: Bern");
    assert_eq!(site.asked().len(), 0);
}
