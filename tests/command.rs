//! Command-line interface: real processes, their output and exit status.

mod definitions;
mod suggestions;

use serde_json::{Value, json};
use std::io::Write;
use std::process::{Command, Output, Stdio};

/// Runs the command with a home of its own, so that nothing of the user's is read or written.
fn agent_spaces(arguments: &[&str], stdin: &str) -> Output {
    agent_spaces_in(std::path::Path::new("."), arguments, stdin)
}

/// The same, in a folder.
fn agent_spaces_in(folder: &std::path::Path, arguments: &[&str], stdin: &str) -> Output {
    let mut child = spawn(folder, arguments);
    // A command that refuses its arguments reads nothing.
    let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
    child.wait_with_output().unwrap()
}

fn spawn(folder: &std::path::Path, arguments: &[&str]) -> std::process::Child {
    static HOME: std::sync::OnceLock<tempfile::TempDir> = std::sync::OnceLock::new();
    let home = HOME.get_or_init(|| tempfile::tempdir().unwrap());
    Command::new(env!("CARGO_BIN_EXE_agent-spaces"))
        .args(arguments)
        .current_dir(folder)
        .env("XDG_CONFIG_HOME", home.path().join("config"))
        .env("XDG_CACHE_HOME", home.path().join("cache"))
        .env("XDG_STATE_HOME", home.path().join("state"))
        .env("XDG_DATA_HOME", home.path().join("data"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn last_line(output: &Output) -> Value {
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(text.lines().last().unwrap_or_default()).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

#[test]
fn the_value_goes_to_stdout_and_the_console_to_stderr() {
    let output = agent_spaces(&["run", "-"], "console.log('talk'); ({ data: [1, 2] })");
    assert_eq!(serde_json::from_slice::<Value>(&output.stdout).unwrap(), json!({"data": [1, 2]}));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "talk\n");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn the_quickstart_runs() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/quickstart/agent.ts");
    let output = agent_spaces(&["run", script, "--json"], "");
    let report = last_line(&output);
    assert_eq!(report["value"]["operators"], json!(["Northern", "Coastline"]), "{report}");
    assert_eq!(report["usage"]["calls"], 3);
    assert!(report["runId"].as_str().unwrap().starts_with("run_"));
}

/// Each class of failure has its own exit status, and `--json` ends with one object whatever happens.
#[test]
fn failures_have_exit_status_and_json_shape() {
    let cases: [(&[&str], &str, &str, i32); 9] = [
        (&["run", "-"], "throw new TypeError('x')", "script.error", 1),
        (&["run", "-"], "const = 1", "script.syntax", 1),
        (&["run", "-"], "import { x } from '@capabilities/none'; x", "import.unknown", 1),
        (&["run", "-"], "const m = './x'; await import(m)", "import.denied", 4),
        (&["run", "-", "--fuel", "10M"], "while (true) {}", "limit.fuel", 3),
        (&["run", "-", "--timeout", "50ms"], "await new Promise(r => setTimeout(r, 60_000))", "limit.time", 3),
        (
            &["run", "-", "--memory", "8MiB"],
            "const a = []; for (;;) a.push(new Array(1000).fill(0))",
            "limit.memory",
            3,
        ),
        (&["run", "/no/such/file.ts"], "", "config.file", 2),
        (&["run", "-", "--memory", "2GiB"], "1", "config.limits", 2),
    ];
    for (arguments, stdin, code, status) in cases {
        let output = agent_spaces(&[arguments, &["--json"]].concat(), stdin);
        let report = last_line(&output);
        assert_eq!((report["ok"].as_bool(), report["error"]["code"].as_str()), (Some(false), Some(code)), "{report}");
        assert_eq!(output.status.code(), Some(status), "{report}");
        assert!(report["error"]["message"].as_str().is_some_and(|message| !message.is_empty()), "{report}");
        assert!(report["usage"].is_object() && report["console"].is_array(), "{report}");
    }
}

#[test]
fn bad_usage_is_refused_with_the_expected_syntax() {
    for (arguments, expected) in [
        (&["run", "-", "--timeout", "soon"][..], "expected a duration"),
        (&["run", "-", "--memory", "lots"], "expected a size"),
        (&["run", "-", "--fuel", "-1"], "unexpected argument"),
        (&["complie"], "similar"),
        (&[], "Usage"),
    ] {
        let output = agent_spaces(arguments, "");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains(expected), "{arguments:?}: {output:?}");
    }
}

#[test]
fn events_are_json_lines_and_the_report_comes_last() {
    let output = agent_spaces(&["run", "-", "--events"], "console.log('a'); 1");
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let types: Vec<&str> = lines.iter().filter_map(|line| line["type"].as_str()).collect();
    assert_eq!(types, ["runStarted", "console", "runFinished"]);
    assert_eq!(lines.last().unwrap()["value"], 1);
}

/// A person sees where it happened; what a script says cannot draw on their terminal.
#[test]
fn an_error_shows_its_location_without_control_characters() {
    let output = agent_spaces(&["run", "-"], "// first\nthrow new Error('\\u001b[31mred\\u202e')");
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("error[script.error]: Error: <U+001B>[31mred<U+202E>"), "{text}");
    assert!(text.contains("script.ts:2:") && text.contains("> 2 |"), "{text}");
    assert!(!text.contains('\u{1b}'), "no colour in a pipe: {text:?}");
}

/// A script chooses the code and the name of what it throws: neither draws, hides or fills a terminal or a pipe.
#[test]
fn error_code_and_name_are_bounded_without_control_characters() {
    let throws = |code: &str, name: &str| {
        format!("const e = new CapabilityError('m', {{ code: {code} }}); e.name = {name}; throw e")
    };
    let hostile = "'own\\u001b[2J\\u202e\\nerror[limit.fuel]'";
    let output = agent_spaces(&["run", "-"], &throws(hostile, hostile));
    let text = String::from_utf8(output.stderr).unwrap();
    let shown = "own<U+001B>[2J<U+202E> error[limit.fuel]";
    assert!(text.starts_with(&format!("error[{shown}]: {shown}: m\n")), "{text}");
    assert_eq!(output.status.code(), Some(1));

    let long = throws("'c'.repeat(1e5)", "'n'.repeat(1e7)");
    let output = agent_spaces(&["run", "-"], &long);
    assert!(output.stderr.len() < 10_000, "{}", output.stderr.len());
    let output = agent_spaces(&["run", "-", "--events"], &long);
    assert!(output.stdout.len() < 10_000, "{}", output.stdout.len());
    let text = String::from_utf8(output.stdout).unwrap();
    let report: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    let length = |key: &str| report["error"][key].as_str().unwrap().chars().count();
    assert_eq!((length("code"), length("name"), length("message")), (64, 128, 1));
}

#[test]
fn only_new_sandboxes_are_compiled() {
    let home = tempfile::tempdir().unwrap();
    let entries = || std::fs::read_dir(home.path().join("cache/agent-spaces/compiled")).map_or(0, Iterator::count);
    let run = || {
        let output = Command::new(env!("CARGO_BIN_EXE_agent-spaces"))
            .args(["run", "-"])
            .env("XDG_CACHE_HOME", home.path().join("cache"))
            .env("XDG_STATE_HOME", home.path().join("state"))
            .env("XDG_DATA_HOME", home.path().join("data"))
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(0));
    };
    run();
    let first = entries();
    assert_eq!(first, 1, "a sandbox; the engine's native code came with the program");
    run();
    assert_eq!(entries(), 1, "nothing new was compiled");
}

#[test]
fn compile_and_audit_work_together() {
    let folder = tempfile::tempdir().unwrap();
    let wasm = folder.path().join("out.wasm");
    let wasm = wasm.to_str().unwrap();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/quickstart/agent.ts");
    assert_eq!(agent_spaces(&["compile", script, "-o", wasm], "").status.code(), Some(0));
    let output = agent_spaces(&["audit", wasm], "");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("get-train-details: async func"), "{text}");
    let findings = last_line(&agent_spaces(&["audit", wasm, "--json"], ""));
    let imports = findings["imports"].as_array().unwrap();
    assert!(!imports.is_empty(), "{findings}");
    assert!(imports.iter().all(|import| !import["name"].as_str().unwrap().starts_with("wasi:")), "{findings}");
    assert_eq!(agent_spaces(&["audit", script], "").status.code(), Some(2));
}

#[test]
fn completions_are_printed_for_every_shell() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = agent_spaces(&["completions", shell], "");
        assert!(String::from_utf8_lossy(&output.stdout).contains("agent-spaces"), "{shell}");
    }
}

/// Project with one space that has one of two tools.
fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let file = folder.path().join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    };
    let tool = |name: &str| json!({ "name": name, "functions": [{ "name": "get_it", "parameters": { "id": "string" }, "returns": "string" }] });
    write("tools/alpha.json", &tool("alpha").to_string());
    write("tools/alpha.ts", "export const getIt = ({ id }) => id.toUpperCase();");
    write("tools/beta.json", &tool("beta").to_string());
    write(
        "agent-spaces.config.toml",
        "[spaces.one]\ncapabilities = [\"./tools/alpha.json\"]\n[spaces.two]\ncapabilities = [\"./tools/beta.json\"]\n",
    );
    write("alpha.ts", "import { alpha } from '@capabilities/alpha'; export default await alpha.getIt({ id: 'x' });");
    write("beta.ts", "import { beta } from '@capabilities/beta'; export default await beta.getIt({ id: 'x' });");
    folder
}

#[test]
fn a_script_runs_in_the_named_space() {
    let folder = project();
    let run = |arguments: &[&str]| agent_spaces_in(folder.path(), arguments, "");
    assert_eq!(last_line(&run(&["run", "alpha.ts", "--space", "one", "--json"]))["value"], "X");
    let denied = run(&["run", "beta.ts", "--space", "one"]);
    assert_eq!(denied.status.code(), Some(4));
    let said = String::from_utf8_lossy(&denied.stderr);
    assert!(said.contains("agent-spaces.config.toml: $.spaces.one.capabilities: add \"./tools/beta.json\""), "{said}");
    // No provider: the script gets an error, the operator a fix.
    let unanswered = run(&["run", "beta.ts", "--space", "two"]);
    assert_eq!(unanswered.status.code(), Some(5));
    let said = String::from_utf8_lossy(&unanswered.stderr);
    assert!(said.contains("call.unavailable") && said.contains("Add tools/beta.ts"), "{said}");
    assert_eq!(run(&["run", "alpha.ts", "--space", "three"]).status.code(), Some(2));
}

/// Built modules can be listed and shown; build errors have a location and a fix.
#[test]
fn capabilities_are_built_listed_and_shown() {
    let folder = project();
    let run = |arguments: &[&str]| agent_spaces_in(folder.path(), arguments, "");
    let built = last_line(&run(&["capabilities", "build", "--json"]));
    assert_eq!(built["modules"].as_array().unwrap().len(), 2, "{built}");
    assert!(folder.path().join(".agent-spaces/capabilities/alpha/alpha.wit").is_file());
    assert_eq!(last_line(&run(&["capabilities", "build", "--json"]))["written"], json!([]));

    let listed = last_line(&run(&["capabilities", "list", "--json"]));
    let alpha = &listed["capabilities"]["alpha"];
    assert_eq!(
        (&alpha["name"], &alpha["version"], &alpha["source"]),
        (&json!("alpha"), &json!("1.0.0"), &json!("tool"))
    );
    assert_eq!(alpha["bundle"], ".agent-spaces/capabilities/alpha", "{listed}");
    assert_eq!((&alpha["schema"]["functions"][0]["id"], &listed["mcpServers"]), (&json!("alpha.getIt"), &json!({})));
    let shown = |form: &str| String::from_utf8(run(&["capabilities", "show", "alpha", form]).stdout).unwrap();
    assert!(shown("--dts").contains("getIt(params: GetItParams): Promise<string>;"));
    assert!(shown("--wit").contains("get-it: async func(params: get-it-params) -> result<string, capability-error>;"));
    assert!(shown("--wit").contains("package agent-spaces:host@0.1.0 {"), "with what it depends on");
    wit_parser::UnresolvedPackageGroup::parse("alpha.wit", &shown("--wit")).unwrap();
    assert!(shown("--rust").contains("pub struct GetItParams"));
    let functions = last_line(&run(&["capabilities", "functions", "--space", "one", "--json"]));
    assert_eq!((&functions[0]["function"], functions.as_array().unwrap().len()), (&json!("alpha.getIt"), 1));
    assert_eq!(serde_json::from_str::<Value>(&shown("--schema")).unwrap()["capabilities"][0]["name"], "alpha");
    assert_eq!(run(&["capabilities", "show", "alhpa"]).status.code(), Some(2));
    assert_eq!(last_line(&run(&["spaces", "list", "--json"]))[0]["name"], "one");
    assert_eq!(last_line(&run(&["spaces", "show", "one", "--json"]))["modules"], json!(["@capabilities/alpha"]));

    std::fs::write(folder.path().join("tools/alpha.json"), r#"{ "name": "alpha", "functions": [{ "nmae": "x" }] }"#)
        .unwrap();
    let refused = run(&["capabilities", "build"]);
    assert_eq!(refused.status.code(), Some(2));
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(said.contains("tools/alpha.json") && said.contains("$.functions[0]") && said.contains("name"), "{said}");
    assert!(folder.path().join(".agent-spaces/capabilities/alpha/alpha.wit").is_file(), "a failed build loses nothing");
}

/// Mistakes that agents and operators make are answered with what was probably meant.
#[test]
fn typos_are_reported_with_suggestions() {
    let folder = project();
    let write = |path: &str, text: &str| std::fs::write(folder.path().join(path), text).unwrap();
    let said = |arguments: &[&str]| {
        let output = agent_spaces_in(folder.path(), arguments, "");
        assert_ne!(output.status.code(), Some(0), "{arguments:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    write(
        "slip.ts",
        "import { alpha } from '@capabilities/alpha';\nconst id = 'x';\nexport default await alpha.getItt({ id });",
    );
    let text = said(&["run", "slip.ts", "--space", "one"]);
    assert!(text.contains("alpha has no function `getItt`; did you mean `getIt`?"), "{text}");
    let text = said(&["run", "alpha.ts"]);
    assert!(text.contains("--space one"), "{text}");
    let text = said(&["run", "alpha.ts", "--space", "one", "--approve", "alpha.getItt"]);
    assert!(text.contains("Did you mean `alpha.getIt`?"), "{text}");
    write("tools/alpha.ts", "export const getIt = (x => ;");
    let text = said(&["run", "alpha.ts", "--space", "one"]);
    assert!(text.contains("tools/alpha.ts:1:"), "{text}");
    write("pets.yaml", "openapi: 3.0.0");
    let text = said(&["capabilities", "build", "pets.yaml"]);
    assert!(text.contains("pets.yaml") && text.contains("no \"paths\""), "{text}");
}

/// A build of some definitions leaves the bundles of the others alone.
#[test]
fn a_build_of_one_file_removes_nothing() {
    let folder = project();
    let run = |arguments: &[&str]| agent_spaces_in(folder.path(), arguments, "");
    assert_eq!(run(&["capabilities", "build"]).status.code(), Some(0));
    assert_eq!(last_line(&run(&["capabilities", "build", "tools/alpha.json", "--json"]))["removed"], json!([]));
    assert!(folder.path().join(".agent-spaces/capabilities/beta/index.js").is_file());
    assert_eq!(last_line(&run(&["capabilities", "build", "--json"]))["written"], json!([]));
}

/// Output that cannot be written is a failure; a reader that went away is none.
#[test]
#[cfg(target_os = "linux")]
fn lost_output_is_reported() {
    let run = |arguments: &[&str], stdout: Stdio| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_agent-spaces"));
        command.args(arguments).stdout(stdout).stderr(Stdio::piped()).output().unwrap()
    };
    let arguments = ["completions", "bash"];
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let output = run(&arguments, full.into());
    assert_eq!(output.status.code(), Some(5), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot be written"), "{output:?}");
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    assert_eq!(run(&arguments, writer.into()).status.code(), Some(0));
}

/// Starts the command for a program that reads its stdout, and waits until it heeds signals.
#[cfg(target_os = "linux")]
fn started(arguments: &[&str]) -> std::process::Child {
    let child = spawn(std::path::Path::new("."), arguments);
    let heeds = || {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap_or_default().trim();
        // SIGINT is 2 and SIGTERM is 15.
        u64::from_str_radix(caught, 16).unwrap_or_default() & 0x4002 == 0x4002
    };
    let begun = std::time::Instant::now();
    while !heeds() {
        assert!(begun.elapsed().as_secs() < 60, "it heeds no signals");
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    child
}

#[cfg(target_os = "linux")]
fn signal(child: &std::process::Child, name: &str) {
    assert!(Command::new("kill").args(["-s", name, &child.id().to_string()]).status().unwrap().success());
}

/// Waits for the exit while its stdin stays open.
#[cfg(target_os = "linux")]
fn ended_with_open_stdin(mut child: std::process::Child) -> Output {
    let _open = child.stdin.take();
    child.wait_with_output().unwrap()
}

/// Reads lines until one of them holds this.
#[cfg(target_os = "linux")]
fn read_until(child: &mut std::process::Child, sign: &str) -> std::io::BufReader<std::process::ChildStdout> {
    use std::io::BufRead;
    let mut stdout = std::io::BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while !line.contains(sign) {
        line.clear();
        assert!(stdout.read_line(&mut line).unwrap() > 0, "it ended before it said {sign}");
    }
    stdout
}

/// `--json` prints its one object also when a signal ends the command, before and during the run.
#[test]
#[cfg(target_os = "linux")]
fn a_signal_ends_a_run_with_one_json_object() {
    use std::io::Read;
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("script.ts");
    std::fs::write(&script, "console.log('on'); await new Promise((done) => setTimeout(done, 200_000));").unwrap();
    for (name, status) in [("INT", 130), ("TERM", 143)] {
        // Its script comes from stdin, and does not come.
        let child = started(&["run", "-", "--json"]);
        signal(&child, name);
        let output = ended_with_open_stdin(child);
        assert_eq!(output.status.code(), Some(status), "{output:?}");
        let report = last_line(&output);
        assert_eq!((&report["ok"], &report["error"]["code"]), (&json!(false), &json!("run.cancelled")), "{report}");
        assert!(report["usage"].is_object() && report["console"] == json!([]) && report["runId"].is_null(), "{report}");
        assert_eq!(output.stdout.iter().filter(|byte| **byte == b'\n').count(), 1);

        let mut child = started(&["run", script.to_str().unwrap(), "--events", "--timeout", "5m"]);
        let mut stdout = read_until(&mut child, "\"on\"");
        signal(&child, name);
        let mut rest = String::new();
        stdout.read_to_string(&mut rest).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(status), "{rest}");
        let report: Value = serde_json::from_str(rest.lines().last().unwrap()).unwrap();
        assert_eq!((&report["ok"], &report["error"]["code"]), (&json!(false), &json!("run.cancelled")), "{report}");
        assert_eq!(report["console"][0]["text"], "on", "{report}");
        assert!(report["runId"].as_str().unwrap().starts_with("run_"), "{report}");
    }
}

/// A second signal ends the process at once, even if its output is not read.
#[test]
#[cfg(target_os = "linux")]
fn a_second_signal_ends_a_run_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("script.ts");
    std::fs::write(&script, "for (let i = 0; i < 500; i++) console.log('on ' + 'x'.repeat(1000));").unwrap();
    let mut child = started(&["run", script.to_str().unwrap(), "--events"]);
    let _kept_open = read_until(&mut child, "on x");
    signal(&child, "INT");
    let begun = std::time::Instant::now();
    while child.try_wait().unwrap().is_none() {
        // Whichever of them is the second.
        signal(&child, "TERM");
        assert!(begun.elapsed().as_secs() < 60, "it goes on");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    assert!(matches!(child.wait().unwrap().code(), Some(130 | 143)));
}
