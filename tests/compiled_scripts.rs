//! Scripts compiled into components of their own.

use agent_spaces::{Audit, Interfaces, Target, audit, compile};
use agent_spaces_tests::wasmtime::{WasmtimeServe, wasmtime};
use std::process::Command;

const TRAINS: &str = "package capabilities:trains@1.0.0;
    interface trains {
        record params { tags: list<string> }
        get: async func(params: params) -> result<list<string>, string>;
    }
    interface unused { get: async func() -> u32; }";

fn compiled(source: &str, target: Target) -> Vec<u8> {
    let mut interfaces = Interfaces::new().unwrap();
    interfaces.add("trains.wit", TRAINS).unwrap();
    compile("script.ts", source, &interfaces, None, target).unwrap_or_else(|error| panic!("{error}: {source}")).wasm
}

fn imports(audit: &Audit) -> Vec<&str> {
    audit.imports.iter().map(|interface| interface.name.as_str()).collect()
}

/// A component imports what its script imports, and the engine's services.
#[test]
fn a_component_imports_what_its_script_imports() {
    let services = [
        "agent-spaces:engine/clock@0.1.0",
        "agent-spaces:engine/random@0.1.0",
        "agent-spaces:engine/console@0.1.0",
        "agent-spaces:engine/timers@0.1.0",
    ];
    let plain = audit(&compiled("1 + 1", Target::Host)).unwrap();
    assert_eq!(imports(&plain), [&services[..], &["agent-spaces:engine/types@0.1.0"]].concat());
    let source = "import { trains } from '@capabilities/trains'; await trains.get({ tags: ['a'] })";
    let capable = audit(&compiled(source, Target::Host)).unwrap();
    let expected = [&services[..], &["capabilities:trains/trains@1.0.0", "agent-spaces:engine/types@0.1.0"]].concat();
    assert_eq!(imports(&capable), expected);
    assert!(capable.modules.iter().any(|module| module.is_engine), "the engine inside is this host's");
}

/// Over WASI there is console, clock and randomness, and nothing else.
#[test]
fn a_wasi_component_has_no_files_sockets_environment_or_arguments() {
    for target in [Target::Wasi, Target::WasiHttp] {
        let audit = audit(&compiled("export default () => 'x'", target)).unwrap();
        assert!(!imports(&audit).is_empty(), "{target:?} has a console at least");
        for name in imports(&audit) {
            let allowed = [
                "wasi:io/",
                "wasi:cli/stdout",
                "wasi:cli/stderr",
                "wasi:clocks/",
                "wasi:random/random",
                "wasi:http/types",
            ];
            assert!(allowed.iter().any(|prefix| name.starts_with(prefix)), "{target:?} imports {name}");
        }
    }
}

#[test]
fn a_wasi_component_still_imports_its_capabilities() {
    let source = "import { trains } from '@capabilities/trains'; await trains.get({ tags: [] })";
    let audit = audit(&compiled(source, Target::Wasi)).unwrap();
    assert!(imports(&audit).contains(&"capabilities:trains/trains@1.0.0"), "{:?}", imports(&audit));
}

#[test]
fn an_invalid_component_is_refused() {
    assert!(audit(b"not wasm").is_err());
    assert!(audit(agent_spaces::ENGINE_WASM).unwrap_err().to_string().contains("core module"));
    let mut cut = compiled("1", Target::Host);
    cut.truncate(cut.len() / 2);
    assert!(audit(&cut).is_err());
}

/// Stock `wasmtime run`.
#[test]
fn stock_wasmtime_runs_a_command() {
    let Some(wasmtime) = wasmtime() else { return };
    let folder = tempfile::tempdir().unwrap();
    let run = |source: &str| {
        let path = folder.path().join("script.wasm");
        std::fs::write(&path, compiled(source, Target::Wasi)).unwrap();
        let output = Command::new(&wasmtime).arg("run").arg(&path).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let source = "console.log('hello');
        const begun = performance.now();
        await new Promise((done) => setTimeout(done, 20));
        export default { slept: performance.now() - begun >= 19, year: new Date().getFullYear() > 2020, uuid: crypto.randomUUID().length }";
    let (status, stdout, stderr) = run(source);
    assert_eq!(
        (status, stdout.as_str(), stderr.as_str()),
        (Some(0), "{\"slept\":true,\"year\":true,\"uuid\":36}\n", "hello\n")
    );
    let (status, stdout, stderr) = run("const x: any = {};\nx.nope()");
    assert_eq!((status, stdout.as_str()), (Some(1), ""), "{stderr}");
    assert!(stderr.contains("error[script.error]: TypeError") && stderr.contains("script.ts:2"), "{stderr}");
}

/// Stock `wasmtime serve`, a fresh instance for each request.
#[test]
fn stock_wasmtime_serves_a_handler() {
    let Some(wasmtime) = wasmtime() else { return };
    let source = "let count = 0;
        export default (request: { method: string, url: string, headers: Headers, text(): string }) => {
            count++;
            if (request.url.endsWith('/fails')) throw new Error('secret');
            if (request.url.endsWith('/json')) return { count };
            return { status: 201, headers: { 'x-count': String(count) }, body: request.method + ' ' + request.text() };
        }";
    let served = WasmtimeServe::start(&wasmtime, &compiled(source, Target::WasiHttp));
    for _ in 0..3 {
        let (status, headers, body) = served.request("POST", "/x", "some body");
        assert_eq!((status, body.as_str()), (201, "POST some body"));
        assert!(headers.contains("x-count: 1"), "an instance answered twice: {headers}");
    }
    let (status, headers, body) = served.request("GET", "/json", "");
    assert_eq!((status, body.as_str()), (200, "{\"count\":1}"));
    assert!(headers.contains("application/json"), "{headers}");
    let (status, _, body) = served.request("GET", "/fails", "");
    assert_eq!(status, 500);
    assert!(!body.contains("secret"), "{body}");
}
