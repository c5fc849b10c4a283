//! Files of spaces.

use crate::rest::client::{id, text};
use crate::rest::server::{RestServer, config};
use serde_json::json;

#[test]
fn files_are_written_read_listed_and_deleted() {
    let served = RestServer::new();
    let api = served.operator();
    let files = format!("/v1/spaces/{}/files", api.new_space());
    let bytes: Vec<u8> = (0..=255).cycle().take(100_000).collect();
    let path = format!("{files}/reports/2026/data%20%C3%A4.bin");
    let made = api.put(&path, &bytes).with_status(201);
    let read = api.get(&path).with_status(200);
    assert_eq!((read.body == bytes, read.etag()), (true, made.etag()));
    assert_eq!(read.header("content-type"), Some("application/octet-stream"));
    assert_eq!(read.header("x-content-type-options"), Some("nosniff"));
    let head = api.send("HEAD", &path, &[], b"").with_status(200);
    assert_eq!((head.body.len(), head.etag(), head.header("content-length")), (0, made.etag(), Some("100000")));
    let known = api.send("GET", &path, &[("if-none-match", &made.etag())], b"").with_status(304);
    assert_eq!(known.body.len(), 0);
    let replaced = api.put(&path, b"new").with_status(200);
    assert_ne!(replaced.etag(), made.etag());
    api.put(&format!("{files}/empty"), b"").with_status(201);

    let listed = api.get(&files).with_status(200).json();
    let items = listed["items"].as_array().unwrap();
    let paths: Vec<String> = items.iter().map(|item| text(&item["path"])).collect();
    assert_eq!(paths, ["empty", "reports/2026/data ä.bin"]);
    assert_eq!((&items[0]["size"], &items[1]["size"]), (&json!(0), &json!(3)));
    assert!(items[1]["modifiedAt"].is_string(), "{listed}");

    api.delete(&path).with_status(204);
    api.get(&path).problem(404, "not_found");
    api.delete(&path).problem(404, "not_found");
    assert_eq!(api.get(&files).json()["items"].as_array().unwrap().len(), 1);
}

#[test]
fn files_are_listed_page_by_page_and_by_prefix() {
    let served = RestServer::new();
    let api = served.operator();
    let files = format!("/v1/spaces/{}/files", api.new_space());
    let names: Vec<String> =
        (0..12).map(|number| format!("{}/{number:02}.txt", if number < 7 { "a" } else { "b" })).collect();
    for name in &names {
        api.put(&format!("{files}/{name}"), b"x").with_status(201);
    }
    let list = |query: &str| {
        let (mut all, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = api.get(&format!("{files}?limit=5{query}{cursor}")).with_status(200).json();
            let items = page["items"].as_array().unwrap();
            assert!(items.len() <= 5, "{page}");
            all.extend(items.iter().map(|item| text(&item["path"])));
            match page["next"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => return all,
            }
        }
    };
    assert_eq!(list(""), names);
    assert_eq!(list("&prefix=b/"), names[7..]);
    assert_eq!(list("&prefix=a/03"), names[3..4]);
    assert_eq!(list("&prefix=c"), [] as [String; 0]);
    for wrong in ["limit=0", "cursor=x", "folder=a", "prefix=%ff"] {
        api.get(&format!("{files}?{wrong}")).problem(400, "request.invalid");
    }
    for odd in ["..", "%2e%2e%2f", "/", "../.."] {
        let answer = api.get(&format!("{files}?prefix={odd}"));
        assert!(
            answer.status == 200 && answer.json()["items"] == json!([]) || answer.status == 403 || answer.status == 400,
            "{answer:?}"
        );
    }
}

#[test]
fn a_change_depends_on_the_etag() {
    let served = RestServer::new();
    let api = served.operator();
    let path = format!("/v1/spaces/{}/files/notes.txt", api.new_space());
    let put = |name: &str, value: &str, bytes: &[u8]| api.send("PUT", &path, &[(name, value)], bytes);
    put("if-match", "*", b"x").problem(412, "precondition");
    let one = put("if-none-match", "*", b"one").with_status(201);
    put("if-none-match", "*", b"two").problem(412, "precondition");
    let two = put("if-match", &one.etag(), b"two").with_status(200);
    put("if-match", &one.etag(), b"three").problem(412, "precondition");
    api.send("DELETE", &path, &[("if-match", &one.etag())], b"").problem(412, "precondition");
    for wrong in ["plain", "\"a\", \"b\"", ""] {
        put("if-match", wrong, b"three").problem(400, "request.invalid");
    }
    assert_eq!(api.get(&path).with_status(200).body, b"two");
    api.send("DELETE", &path, &[("if-match", &two.etag())], b"").with_status(204);
}

/// One of many writers that read the same state wins.
#[test]
fn concurrent_changes_of_one_state_happen_once() {
    let served = RestServer::new();
    let api = served.operator();
    let path = format!("/v1/spaces/{}/files/count", api.new_space());
    let etag = api.put(&path, b"0").with_status(201).etag();
    let written: usize = std::thread::scope(|scope| {
        let write = |number: usize| {
            let (api, path, etag) = (&api, &path, &etag);
            scope.spawn(move || {
                let answer = api.send("PUT", path, &[("if-match", etag)], format!("by {number}").as_bytes());
                if answer.status != 200 {
                    answer.problem(412, "precondition");
                }
                usize::from(answer.status == 200)
            })
        };
        let all: Vec<_> = (0..10).map(write).collect();
        all.into_iter().map(|one| one.join().unwrap()).sum()
    });
    assert_eq!(written, 1);
}

#[test]
fn programs_and_requests_share_the_files() {
    let served = RestServer::new();
    let api = served.operator();
    let (space, other) = (api.new_space(), api.new_space());
    api.put(&format!("/v1/spaces/{space}/files/in.txt"), b"hello").with_status(201);
    let source = "import { fs } from '@agent-spaces/std';
        await fs.writeFile('out.txt', (await fs.readFile('in.txt')).toUpperCase());";
    let run = api.run(&space, source);
    assert_eq!(run["status"], "finished", "{run}");
    assert_eq!(api.get(&format!("/v1/spaces/{space}/files/out.txt")).with_status(200).body, b"HELLO");
    api.get(&format!("/v1/spaces/{other}/files/out.txt")).problem(404, "not_found");
    let served = served.killed_and_started();
    let api = served.operator();
    assert_eq!(api.get(&format!("/v1/spaces/{space}/files/out.txt")).with_status(200).body, b"HELLO");
}

#[test]
fn a_space_without_files_says_so() {
    let served = RestServer::configured(&config());
    let api = served.operator();
    let space = api.get("/v1/spaces").json()["items"][0].clone();
    assert_eq!(space["hasFiles"], false, "{space}");
    let files = format!("/v1/spaces/{}/files", id(&space));
    for answer in [api.get(&files), api.get(&format!("{files}/a")), api.put(&format!("{files}/a"), b"x")] {
        answer.problem(403, "space.denied");
    }
}
