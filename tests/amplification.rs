//! Memory amplification: each attack runs in its own process, whose peak memory is bounded by a multiple of the input.
//!
//! A new attack is a new [`Row`].

use serde_json::{Value, json};
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

const MB: u64 = 1_000_000;

/// One attack.
struct Row {
    name: &'static str,
    /// Size of the attack's text in bytes.
    bytes_in: u64,
    /// Allowed peak memory of the process as a multiple of that, beyond that of a trivial script. With the default
    /// limits a run has 64 MiB, and the host four times as much for it.
    factor: u64,
    /// The code that the run ends with, or `ok`. Several where it depends on what is met first.
    ends: &'static [&'static str],
    /// The script. It may import `@agent-spaces/std`, `desk` with `take({ rows })`, and the server `heavy`.
    script: &'static str,
}

/// The attacks on values; those on other parts are further rows.
const ROWS: &[Row] = &[
    Row {
        name: "json.parse of a list of zeroes",
        bytes_in: 8 * MB,
        factor: 55,
        ends: &["limit.memory"],
        script: "import { json } from '@agent-spaces/std'; json.parse('[' + '0,'.repeat(4e6) + '0]').length",
    },
    Row {
        name: "json.parse of lists of one",
        bytes_in: 8 * MB,
        factor: 55,
        ends: &["limit.memory"],
        script: "import { json } from '@agent-spaces/std'; json.parse('[' + '[0],'.repeat(2e6) + '0]').length",
    },
    Row {
        name: "json.parse of small objects",
        bytes_in: 7 * MB,
        factor: 65,
        ends: &["limit.memory"],
        script: r#"import { json } from '@agent-spaces/std'; json.parse('[' + '{"":0},'.repeat(1e6) + '0]').length"#,
    },
    Row {
        name: "json.parse of one object with many members",
        bytes_in: 6 * MB,
        factor: 65,
        ends: &["limit.memory", "ok"],
        script: r#"import { json } from '@agent-spaces/std';
            let text = '{'; for (let i = 0; i < 700000; i++) text += '"' + i.toString(36) + '":0,';
            Object.keys(json.parse(text + '"":0}')).length"#,
    },
    Row {
        name: "json.parse again and again",
        bytes_in: 16 * MB,
        factor: 22,
        ends: &["ok"],
        script: "import { json } from '@agent-spaces/std';
            const text = '[' + '0,'.repeat(1e6) + '0]';
            let sum = 0; for (let i = 0; i < 8; i++) sum += json.parse(text).length; sum",
    },
    Row {
        name: "csv.parse of empty fields",
        bytes_in: 4 * MB,
        factor: 80,
        ends: &["limit.memory", "call.failed"],
        script: "import { csv } from '@agent-spaces/std'; csv.parse(','.repeat(4e6), { header: false }).length",
    },
    Row {
        name: "csv.stringify with many columns",
        bytes_in: MB,
        factor: 200,
        ends: &["limit.memory", "call.invalid", "script.error"],
        script: "import { csv } from '@agent-spaces/std';
            csv.stringify([], { columns: new Array(250000).fill('') }).length",
    },
    Row {
        name: "parameters that are lists of empty lists",
        bytes_in: 3 * MB,
        factor: 140,
        ends: &["limit.memory", "limit.bytes", "ok"],
        script: "import { desk } from '@capabilities/desk'; await desk.take({ rows: new Array(1e6).fill([]) })",
    },
    Row {
        name: "a value of many zeroes",
        bytes_in: 4 * MB,
        factor: 110,
        ends: &["limit.memory", "ok"],
        script: "new Array(2000000).fill(0)",
    },
    Row {
        name: "handlers that hold forty megabytes each, two hundred side by side",
        bytes_in: 64 * MB,
        factor: 6,
        ends: &["ok"],
        script: "import { desk } from '@capabilities/desk';
            const calls = Array.from({ length: 200 }, () => desk.hold({}));
            (await Promise.allSettled(calls)).filter((call) => call.status === 'fulfilled').length",
    },
    Row {
        name: "a server's answer of zeroes",
        bytes_in: 15 * MB,
        factor: 28,
        ends: &["call.protocol"],
        script: "import { heavy } from '@capabilities/mcp-heavy'; (await heavy.zeroes()).rows.length",
    },
    Row {
        name: "a server's answer of zeroes in text",
        bytes_in: 15 * MB,
        factor: 28,
        ends: &["call.protocol"],
        script: "import { heavy } from '@capabilities/mcp-heavy'; (await heavy.text()).length",
    },
    Row {
        name: "a server that says without end that its tools changed",
        bytes_in: 10 * MB,
        factor: 5,
        ends: &["ok"],
        script: "import { heavy } from '@capabilities/mcp-heavy';
            await heavy.flood(); await new Promise((resolve) => setTimeout(resolve, 3000)); await heavy.flood()",
    },
];

/// A server whose answers are large.
const SERVER: &str = r#"
import json, sys, threading, time
schema = {"type": "object", "properties": {}}
tools = [{"name": name, "description": name, "inputSchema": schema} for name in ("zeroes", "text", "flood")]
lock, flooding = threading.Lock(), []
def say(text):
    with lock:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()
def flood():
    changed = json.dumps({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
    while True:
        say("\n".join([changed] * 1000))
        time.sleep(0.001)
zeroes = "[" + "0," * 7_499_000 + "0]"
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message or "method" not in message:
        continue
    name = (message.get("params") or {}).get("name")
    results = {"initialize": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                              "serverInfo": {"name": "heavy", "version": "1"}},
               "tools/list": {"tools": tools}, "ping": {}}
    result = json.dumps(results.get(message["method"], {}))
    if name == "zeroes":
        result = '{"content":[],"structuredContent":{"rows":%s}}' % zeroes
    elif name == "text":
        result = '{"content":[{"type":"text","text":"%s"}]}' % zeroes
    elif name == "flood":
        result = '{"content":[{"type":"text","text":"flooding"}]}'
        if not flooding:
            flooding.append(threading.Thread(target=flood, daemon=True))
            flooding[0].start()
    elif message["method"] not in results:
        say(json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "no such method"}}))
        continue
    say('{"jsonrpc":"2.0","id":%s,"result":%s}' % (json.dumps(message["id"]), result))
"#;

const DESK: &str = "import { defineTool } from '@agent-spaces/capabilities';
export const desk = defineTool({ name: 'desk', functions: { take: {
  description: 'Takes rows',
  parameters: { rows: { type: 'array', items: { type: 'array', items: { type: 'number' } }, required: true } },
  returns: {} as number,
  handler: async ({ rows }) => rows.length,
}, hold: {
  description: 'Holds memory for a while',
  parameters: {},
  returns: {} as number,
  handler: async () => {
    const held = new Uint8Array(40e6).fill(1);
    await new Promise((resolve) => setTimeout(resolve, 300));
    return held.length;
  },
} } });";

/// A project with all that the scripts import, in a home of its own.
fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let config = json!({
        "mcpServers": { "heavy": { "command": "python3", "args": ["-B", "heavy.py"] } },
        "capabilities": { "global": ["./desk.ts", "mcp:heavy"] },
    });
    for (name, text) in
        [("agent-spaces.config.json", config.to_string().as_str()), ("heavy.py", SERVER), ("desk.ts", DESK)]
    {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let (status, _, output) = run(folder.path(), &["trust"]);
    assert_eq!(status, Some(0), "{output}");
    folder
}

/// Runs the command; returns exit status, peak memory in bytes, and output.
fn run(folder: &Path, arguments: &[&str]) -> (Option<i32>, u64, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_agent-spaces"));
    for kind in ["CONFIG", "CACHE", "STATE", "DATA"] {
        command.env(format!("XDG_{kind}_HOME"), folder.join("home").join(kind.to_lowercase()));
    }
    command.args(arguments).current_dir(folder).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let (mut stdout, mut stderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let output = thread::spawn(move || {
        let mut text = String::new();
        let _ = stdout.read_to_string(&mut text);
        text
    });
    let errors = thread::spawn(move || {
        let mut text = String::new();
        let _ = stderr.read_to_string(&mut text);
        text
    });
    let (begun, mut peak) = (Instant::now(), 0);
    loop {
        peak = peak.max(peak_memory(child.id()));
        if let Some(status) = child.try_wait().unwrap() {
            let text = format!("{}{}", output.join().unwrap(), errors.join().unwrap());
            return (status.code(), peak, text);
        }
        if begun.elapsed() > Duration::from_secs(120) {
            let _ = child.kill();
            panic!("it hangs: {arguments:?}");
        }
        thread::sleep(Duration::from_millis(2));
    }
}

/// The most memory that a process has had so far. It only grows, so what is missed between two looks is seen by the next.
fn peak_memory(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().strip_suffix(" kB")).and_then(|kilobytes| kilobytes.parse().ok()).unwrap_or(0)
        << 10
}

/// The peak of a script's process, and the code that it ended with.
fn measure(folder: &Path, script: &str) -> (u64, String) {
    std::fs::write(folder.join("script.ts"), script).unwrap();
    let (_, peak, output) = run(folder, &["run", "script.ts", "--json"]);
    let report = output.lines().find_map(|line| serde_json::from_str::<Value>(line).ok().filter(Value::is_object));
    let report = report.unwrap_or_else(|| panic!("no report of {script}: {output:.2000}"));
    let code = if report["ok"] == true { "ok" } else { report["error"]["code"].as_str().unwrap_or("?") };
    (peak, code.to_owned())
}

/// Sources that a parser would read again and again.
const SOURCES: &[(&str, usize)] = &[
    ("a?(b):c=>", 6_000),
    ("a?(b):c=>", 12_000),
    ("a<{[", 250),
    ("x = a<infer B extends (", 100),
    ("x as ({[", 100),
    ("{}/[\\]", 150_000),
    ("const x: number = f<T>(y as any)!\n", 25_000),
];

/// Allowed memory per byte of source, plus some megabytes for any run of a file.
const PER_SOURCE_BYTE: u64 = 450;
const SOURCE_BASE: u64 = 96 * MB;

#[test]
fn sources_are_not_amplified() {
    let folder = tempfile::tempdir().unwrap();
    measure(folder.path(), "1");
    let (idle, _) = measure(folder.path(), "1");
    for (part, times) in SOURCES {
        let source = part.repeat(*times);
        let (peak, code) = measure(folder.path(), &source);
        let more = peak.saturating_sub(idle);
        println!("{part:?} {times} times, {} bytes: {:.0} MB, {code}", source.len(), more as f64 / 1e6);
        assert!(more <= SOURCE_BASE + PER_SOURCE_BYTE * source.len() as u64, "{part:?}: {more} bytes");
    }
    // An untrusted configuration is an input too.
    std::fs::write(folder.path().join("agent-spaces.config.ts"), "a<{[".repeat(250)).unwrap();
    for command in [&["doctor"][..], &["mcp", "list"]] {
        let (status, peak, output) = run(folder.path(), command);
        assert!(status != Some(0) && output.contains("too ambiguous"), "{output}");
        assert!(peak.saturating_sub(idle) <= SOURCE_BASE, "{command:?}: {peak} bytes");
    }
}

#[test]
fn small_inputs_are_not_amplified() {
    if Command::new("python3").arg("--version").output().is_err() {
        assert!(std::env::var_os("AGENT_SPACES_CI").is_none(), "python3 is needed");
        eprintln!("skipped: python3 is not there");
        return;
    }
    let folder = project();
    // The first run compiles the engine; what the second has is what every run has.
    measure(folder.path(), "1");
    let (idle, code) =
        measure(folder.path(), "import { desk } from '@capabilities/desk'; await desk.take({ rows: [[1]] })");
    assert_eq!(code, "ok");
    let mut failures = Vec::new();
    for row in ROWS {
        let (peak, code) = measure(folder.path(), row.script);
        let more = peak.saturating_sub(idle);
        let line = format!(
            "{}: {:.1} MB became {:.0} MB, {:.0} times as much (at most {}), and it ended with {code}",
            row.name,
            row.bytes_in as f64 / 1e6,
            more as f64 / 1e6,
            more as f64 / row.bytes_in as f64,
            row.factor,
        );
        println!("{line}");
        if more > row.bytes_in * row.factor || !row.ends.contains(&code.as_str()) {
            failures.push(line);
        }
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}
