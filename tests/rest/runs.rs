//! Runs: values, output, input, limits, errors, lists, and repeated requests.

use crate::rest::client::{Api, id, text};
use crate::rest::server::RestServer;
use serde_json::{Value, json};

/// Starts a run with these members and waits for its end.
fn run(api: &Api, space: &str, members: Value) -> crate::rest::client::Answer {
    api.post(&format!("/v1/spaces/{space}/runs?wait=30"), &members)
}

#[test]
fn a_run_has_value_output_and_usage() {
    let served = RestServer::new();
    let api = served.operator();
    let space = api.new_space();
    let source = "import input from '@agent-spaces/input';
        import { files } from '@capabilities/files';
        console.log('looking at', input.path); console.error('twice');
        export default [await files.look({ path: input.path }), input.count + 1];";
    let body = json!({ "source": source, "input": { "path": "ä/b", "count": 41 }, "name": "look twice" });
    let answer = run(&api, &space, body).with_status(201);
    let run = answer.json();
    assert_eq!(answer.header("location"), Some(&*format!("/v1/runs/{}", id(&run))));
    assert!(id(&run).starts_with("run_"));
    assert_eq!((&run["status"], &run["value"]), (&json!("finished"), &json!(["saw ä/b", 42])), "{run}");
    assert_eq!((&run["spaceId"], &run["hasValue"]), (&json!(space), &json!(true)));
    let lines = json!([{ "level": "log", "text": "looking at ä/b" }, { "level": "error", "text": "twice" }]);
    assert_eq!(run["console"], lines);
    assert_eq!(run["usage"]["calls"], 1);
    assert!(run["usage"]["fuel"].as_u64().unwrap() > 1_000 && run["usage"]["memoryBytes"].as_u64().unwrap() > 0);
    assert!(text(&run["createdAt"]) <= text(&run["endedAt"]), "{run}");
    assert_eq!(api.get(&format!("/v1/runs/{}", id(&run))).json(), run);
}

#[test]
fn a_run_without_a_value_or_input_says_so() {
    let served = RestServer::new();
    let api = served.operator();
    let space = api.new_space();
    let none = api.run(&space, "console.log(1);");
    assert_eq!((&none["status"], &none["hasValue"]), (&json!("finished"), &json!(false)), "{none}");
    let null = api.run(&space, "import input from '@agent-spaces/input'; export default input;");
    assert_eq!((&null["value"], &null["hasValue"]), (&Value::Null, &json!(true)), "{null}");
    for input in [json!(false), json!(""), json!([]), json!({ "__proto__": 1, "\u{2028}": "'\"`${x}\\" })] {
        let source = "import input from '@agent-spaces/input'; export default input;";
        let run = run(&api, &space, json!({ "source": source, "input": input })).with_status(201).json();
        assert_eq!(run["value"], input, "{run}");
    }
}

#[test]
fn a_run_has_at_most_the_limits_of_its_space() {
    let served = RestServer::new();
    let api = served.operator();
    let space = id(&api.space(&json!({ "name": "small", "limits": { "fuel": 500_000_000, "timeMs": 5_000 } })));
    let looping = "for (;;);";
    let of_space = api.run(&space, looping);
    assert_eq!((&of_space["status"], &of_space["error"]["code"]), (&json!("failed"), &json!("limit.fuel")));
    assert_eq!(of_space["usage"]["fuel"], 500_000_000);
    let lower = json!({ "source": looping, "limits": { "fuel": 1_000_000 } });
    assert_eq!(run(&api, &space, lower).with_status(201).json()["usage"]["fuel"], 1_000_000);
    let sleeping = json!({ "source": crate::rest::server::SLEEPS, "limits": { "timeMs": 200 } });
    let slept = run(&api, &space, sleeping).with_status(201).json();
    assert_eq!(slept["error"]["code"], "limit.time", "{slept}");
    for (limits, named) in [
        (json!({ "fuel": 500_000_001 }), "/limits/fuel"),
        (json!({ "timeMs": 5_001 }), "/limits/timeMs"),
        (json!({ "memoryBytes": u64::MAX }), "/limits/memoryBytes"),
    ] {
        let detail = run(&api, &space, json!({ "source": "1", "limits": limits })).problem(403, "space.denied");
        assert!(detail.contains(named), "{detail}");
    }
    run(&api, &space, json!({ "source": "1", "limits": { "fuel": 0 } })).problem(400, "request.invalid");
}

#[test]
fn errors_have_their_place() {
    let served = RestServer::new();
    let api = served.operator();
    let space = api.new_space();
    let answer = run(&api, &space, json!({ "source": "const one = 1;\nconst two = ;\n", "name": "sum" }));
    answer.problem(422, "script.syntax");
    let place = json!({ "file": "sum.ts", "line": 2, "column": 13 });
    assert_eq!(answer.json()["error"]["location"], place, "{answer:?}");
    assert_eq!(api.get("/v1/runs").json()["items"], json!([]), "it is not a run");
    let thrown = api.run(&space, "const one = 1;\nthrow new TypeError('no');");
    let error = &thrown["error"];
    assert_eq!((&thrown["status"], &error["code"]), (&json!("failed"), &json!("script.error")), "{thrown}");
    assert_eq!((&error["name"], &error["message"]), (&json!("TypeError"), &json!("no")));
    assert_eq!(error["location"], json!({ "file": "program.ts", "line": 2, "column": 7 }));
    for wrong in [json!({}), json!({ "source": "1", "program": "x" }), json!({ "source": null })] {
        run(&api, &space, wrong).problem(400, "request.invalid");
    }
    for name in ["", "a/b", "..\\x", "a\nb", &"n".repeat(101)] {
        run(&api, &space, json!({ "source": "1", "name": name })).problem(400, "request.invalid");
    }
}

#[test]
fn a_repeated_request_starts_one_run() {
    let served = RestServer::new();
    let (api, other) = (served.operator(), served.caller(0));
    let (space, others) = (api.new_space(), other.new_space());
    let start = |api: &Api, space: &str, key: &str, source: &str| {
        let path = format!("/v1/spaces/{space}/runs?wait=30");
        api.send_json("POST", &path, &[("idempotency-key", key)], &json!({ "source": source }))
    };
    let first = start(&api, &space, "key", "export default Math.random();").with_status(201).json();
    let again = start(&api, &space, "key", "export default Math.random();").with_status(201);
    assert_eq!(again.json(), first);
    assert_eq!(again.header("location"), Some(&*format!("/v1/runs/{}", id(&first))));
    start(&api, &space, "key", "export default 2;").problem(422, "request.idempotency");
    let second = start(&api, &space, "other key", "export default Math.random();").with_status(201).json();
    assert_ne!(id(&second), id(&first));
    let theirs = start(&other, &others, "key", "export default 3;").with_status(201).json();
    assert_eq!(theirs["value"], 3, "a key is its caller's own");
    for wrong in ["", &"k".repeat(256)] {
        start(&api, &space, wrong, "1").problem(400, "request.invalid");
    }
    let served = served.killed_and_started();
    let again = start(&served.operator(), &space, "key", "export default Math.random();").with_status(201).json();
    assert_eq!(again, first, "also after a crash");
}

#[test]
fn a_key_whose_run_was_removed_starts_nothing() {
    let served = RestServer::new();
    let api = served.operator();
    let path = format!("/v1/spaces/{}/runs?wait=30", api.new_space());
    let start = || api.send_json("POST", &path, &[("idempotency-key", "once")], &json!({ "source": "1" }));
    let run = id(&start().with_status(201).json());
    std::thread::sleep(std::time::Duration::from_millis(20));
    let pruned = served.home.finish(&["runs", "prune", "--older-than", "10ms", "--json"]).json();
    assert_eq!(pruned["removed"], 1, "{pruned}");
    let detail = start().problem(409, "request.idempotency");
    assert!(detail.contains("no longer kept"), "{detail}");
    api.get(&format!("/v1/runs/{run}")).problem(404, "not_found");
    assert_eq!(api.get("/v1/runs").json()["items"], json!([]));
}

/// Many clients that did not get the answer to one request.
#[test]
fn concurrent_repeated_requests_start_one_run() {
    let served = RestServer::new();
    let api = served.operator();
    let path = format!("/v1/spaces/{}/runs?wait=30", api.new_space());
    let start = || api.send_json("POST", &path, &[("idempotency-key", "one")], &json!({ "source": "1" }));
    let answers: Vec<_> = std::thread::scope(|scope| {
        let all: Vec<_> = (0..8).map(|_| scope.spawn(start)).collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let mut ids: Vec<String> = Vec::new();
    for answer in answers {
        match answer.status {
            201 | 202 => ids.push(id(&answer.json())),
            _ => drop(answer.problem(409, "conflict")),
        }
    }
    ids.dedup();
    assert_eq!(ids.len(), 1, "{ids:?}");
    assert_eq!(api.get("/v1/runs").json()["items"].as_array().unwrap().len(), 1);
}

#[test]
fn runs_are_listed_by_state_space_and_time() {
    let served = RestServer::new();
    let api = served.operator();
    let (one, two) = (api.new_space(), api.new_space());
    let finished = id(&api.run(&one, "1"));
    let failed = id(&api.run(&one, "throw 1;"));
    std::thread::sleep(std::time::Duration::from_millis(20));
    let other = api.run(&two, "2");
    let list = |query: &str| -> Vec<String> {
        let page = api.get(&format!("/v1/runs?{query}")).with_status(200).json();
        page["items"].as_array().unwrap().iter().map(id).collect()
    };
    assert_eq!(list(""), [id(&other), failed.clone(), finished.clone()], "newest first");
    assert_eq!(list("status=finished"), [id(&other), finished.clone()]);
    assert_eq!(list("status=failed"), std::slice::from_ref(&failed));
    assert_eq!(list(&format!("space={one}&status=finished")), std::slice::from_ref(&finished));
    let time = text(&other["createdAt"]);
    assert_eq!(list(&format!("createdFrom={time}")), [id(&other)]);
    assert_eq!(list(&format!("createdUntil={time}")), [failed.clone(), finished.clone()]);
    let first = api.get("/v1/runs?limit=2").json();
    assert_eq!(first["items"].as_array().unwrap().len(), 2);
    assert_eq!(list(&format!("limit=2&cursor={}", text(&first["next"]))), [finished]);
    assert!(first["items"][0].get("value").is_none(), "a list has no values: {first}");
    for wrong in ["status=done", "createdFrom=yesterday", "state=failed", "status=failed&status=finished"] {
        api.get(&format!("/v1/runs?{wrong}")).problem(400, "request.invalid");
    }
}
