//! Generated code with the real `tsc` and Node; `tests/typescript/README.md` explains their setup.

use crate::emit::{hostile, models};
use capability_gen::emit::{
    bundle::bundle,
    dts::dts,
    globals::{capabilities_dts, globals_dts},
    js,
    tsconfig::tsconfig,
};
use capability_gen::model::Module;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const SCRIPTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/typescript");
/// Number of random modules in one Node process.
const MODULES: usize = 150;

pub(crate) fn tsc() -> Option<PathBuf> {
    let path = std::env::var_os("AGENT_SPACES_TSC").map(PathBuf::from);
    if path.is_none() {
        println!("skipped: AGENT_SPACES_TSC does not name a tsc");
    }
    path
}

/// Temporary folder.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.0.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Installs modules as `capabilities build` does.
    pub(crate) fn install(&self, modules: &[Module]) {
        self.write("tsconfig.json", r#"{ "extends": "./.agent-spaces/tsconfig.json" }"#);
        self.write(".agent-spaces/tsconfig.json", &tsconfig());
        self.write(".agent-spaces/globals.d.ts", globals_dts());
        self.write(".agent-spaces/capabilities.d.ts", capabilities_dts());
        for module in modules {
            for (path, text) in bundle(module, "").files {
                self.write(&format!(".agent-spaces/capabilities/{}/{path}", module.name), &text);
            }
        }
    }

    /// Output of `tsc`; empty if there are no errors.
    pub(crate) fn check(&self, tsc: &Path) -> String {
        let output = Command::new("node").arg(tsc).arg("-p").arg(&self.0).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.success(), text.is_empty(), "{text}{}", String::from_utf8_lossy(&output.stderr));
        text
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The specification's scripts, as printed but for the one place that strict TypeScript refuses
/// in any declaration: `find` may find nothing.
#[test]
fn tsc_accepts_every_module_and_script() {
    let Some(tsc) = tsc() else { return };
    let folder = Folder::new("accepts");
    folder.install(&[
        models::train_schedule(),
        models::weather(),
        models::slack(),
        models::docs_server(),
        models::torture(),
    ]);
    folder.write("docs.ts", DOCS);
    folder.write("trains.ts", TRAINS);
    folder.write("weather.ts", WEATHER);
    folder.write("slack.ts", SLACK);
    folder.write("globals.ts", GLOBALS);
    assert_eq!(folder.check(&tsc), "");
}

/// Counterpart: declarations must also refuse invalid scripts.
#[test]
fn tsc_refuses_invalid_scripts() {
    let Some(tsc) = tsc() else { return };
    let folder = Folder::new("refuses");
    folder.install(&[models::train_schedule(), models::weather(), models::slack(), models::docs_server()]);
    let refused = [
        "import { getWeather } from '@capabilities/weather'; await getWeather();",
        "import { getWeather } from '@capabilities/weather'; await getWeather({ location: 1 });",
        "import { getWeather } from '@capabilities/weather'; await getWeather({ location: 'x', unit: 'kelvin' });",
        "import { getWeather } from '@capabilities/weather'; await getWeather({ location: 'x', place: 'y' });",
        "import { getWeather } from '@capabilities/weather'; (await getWeather({ location: 'x' })).wind;",
        "import { trainSchedule } from '@capabilities/train-schedule'; trainSchedule.getSchedul();",
        "import { trainSchedule } from '@capabilities/train-schedule'; trainSchedule.getSchedule().filter(t => t.our < 1);",
        "import { slack } from '@capabilities/mcp-slack'; await slack.listChannels({ all: true });",
        "import { slack } from '@capabilities/mcp-slack'; await slack.postMessage({ channel: 'x' });",
        "import { slack } from '@capabilities/mcp-slack'; await slack.$resources.list();",
        "import { docs } from '@capabilities/mcp-docs'; await docs.$resources.read({ uri: 'demo://x' });",
        "import { docs } from '@capabilities/mcp-docs'; await docs.$resources.list({ cursor: 'x' });",
        "import { docs } from '@capabilities/mcp-docs'; docs.$resources = docs.$resources;",
        "import { docs } from '@capabilities/mcp-docs'; await docs.$prompts.get('x', { count: 1 });",
        "import { docs } from '@capabilities/mcp-docs'; (await docs.search({ query: 'x' })).text;",
        "fetch('https://example.com');",
        "process.exit();",
        "document.title;",
        "new CapabilityError('x').code = 'y';",
    ];
    for (index, script) in refused.iter().enumerate() {
        folder.write(&format!("refused{index}.ts"), script);
    }
    let printed = folder.check(&tsc);
    for (index, script) in refused.iter().enumerate() {
        assert!(printed.contains(&format!("refused{index}.ts(1,")), "accepted: {script}\n{printed}");
    }
    assert_eq!(printed.lines().filter(|line| line.contains("): error TS")).count(), refused.len(), "{printed}");
}

/// Parsing each output equals parsing the output with all descriptions emptied; no tag comes from a text; and every
/// module is sound to the type checker.
#[test]
fn typescript_sees_no_code_in_text() {
    if tsc().is_none() {
        return;
    }
    let mut runner = TestRunner::deterministic();
    let mut modules: Vec<Module> = (0..MODULES)
        .map(|index| hostile::module(format!("random-{index}")).new_tree(&mut runner).unwrap().current())
        .collect();
    modules.push(models::torture());
    let modules: Vec<Value> = modules
        .into_iter()
        .map(|module| {
            json!({
                "hostile": dts(&module),
                "js": js::js(&module),
                "plain": dts(&hostile::with_text(module.clone(), Some("word"))),
                "empty": dts(&hostile::with_text(module, None)),
            })
        })
        .collect();
    let mut node = Command::new("node")
        .arg(format!("{SCRIPTS}/compare.mjs"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let input = json!({"globals": globals_dts(), "modules": modules}).to_string();
    node.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = node.wait_with_output().unwrap();
    let problems: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    let shown: Vec<String> = problems.iter().take(5).map(|problem| format!("{problem:#}")).collect();
    assert!(problems.is_empty(), "{} problems\n{}", problems.len(), shown.join("\n").replace("\\n", "\n"));
}

/// A generated module calls the host with the names of its capability and function, and the given arguments.
#[test]
fn index_js_runs() {
    if tsc().is_none() {
        return;
    }
    let folder = Folder::new("runs");
    let run = |module: &Module, runtime: &str| -> Value {
        folder.write("package.json", r#"{ "type": "module" }"#);
        folder.write("index.js", &js::js(module));
        folder.write("node_modules/@agent-spaces/runtime/package.json", r#"{ "type": "module", "main": "index.js" }"#);
        folder.write("node_modules/@agent-spaces/runtime/index.js", runtime);
        let output = Command::new("node").arg(format!("{SCRIPTS}/run.mjs")).arg(&folder.0).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let trains = run(&models::train_schedule(), js::runtime_js());
    assert_eq!(
        trains["calls"],
        json!([
            ["trainSchedule", "getSchedule", {"a": 1}],
            ["trainSchedule", "getSchedule"],
            ["trainSchedule", "getTrainDetails", {"a": 1}],
            ["trainSchedule", "getTrainDetails"],
        ])
    );
    assert_eq!(trains["shapes"]["trainSchedule"], json!([true, null]));
    assert_eq!(trains["shapes"]["trainSchedule.getSchedule"], json!(["getSchedule", "answer", "answer"]));
    let docs = run(&models::docs_server(), js::runtime_js());
    let calls = docs["calls"].as_array().unwrap();
    assert!(calls.contains(&json!(["docs", "$resources.read", {"a": 1}])), "{docs:#}");
    assert!(calls.contains(&json!(["docs", "$prompts.get"])), "{docs:#}");
    assert_eq!(docs["shapes"]["docs.$prompts"], json!([true, null]));
    let weather = run(&models::weather(), js::runtime_js());
    assert_eq!(weather["calls"], json!([["weather", "getWeather", {"a": 1}], ["weather", "getWeather"]]));

    // A runtime that calls with the schema shows that it arrives as it is, `__proto__` and all.
    let echo = "export const createCapabilityProxy = (name, functions) => Object.fromEntries(Object.entries(functions)
        .map(([key, { schema }]) => [key, () => __agentSpaces.callCapability(name, key, schema)]));";
    let mut module = models::torture();
    module.capabilities[0].functions.truncate(1);
    let torture = run(&module, echo);
    let properties: serde_json::Map<String, Value> =
        models::HOSTILE.iter().map(|name| ((*name).to_owned(), json!({"const": name}))).collect();
    let schema = json!({"type": "object", "properties": properties, "required": models::HOSTILE});
    let calls = torture["calls"].as_array().unwrap();
    assert!(calls.contains(&json!(["torture", "everything", schema])), "{torture:#}");
}

const TRAINS: &str = r#"
import { trainSchedule } from '@capabilities/train-schedule';
import type { Trip } from '@capabilities/train-schedule';

const trips = await trainSchedule.getSchedule({ station: 'Central' });
const morning = trips.filter(t => t.hour < 12);
const details = await trainSchedule.getTrainDetails({
  trainId: morning[0].id
});
console.log(`Train operated by: ${details.operator}`);

const morningTrips = await trainSchedule.getSchedule().filter(trip => trip.hour < 12);
const content: string = morningTrips.map(t => `${t.hour}:00 - ${t.destination}`).join('\n');

const hours: number[] = await trainSchedule.getSchedule().map(trip => trip.hour).toSorted((a, b) => a - b).slice(0, 3);
const first: Trip | undefined = await trainSchedule.getSchedule().find(trip => trip.hour > 6);
const total: number = await trainSchedule.getSchedule().reduce((sum, trip) => sum + trip.minute, 0);
const stops: string[] = await trainSchedule.getSchedule().flatMap(trip => [trip.platform, trip.destination]);
const [here, there] = await Promise.all([trainSchedule.getSchedule(), trainSchedule.getSchedule({ station: 'B' })]);
export default { content, hours, first, total, stops, count: here.length + there.length };
"#;

const WEATHER: &str = r#"
import { getWeather } from '@capabilities/weather';

const weather = await getWeather({
  location: 'San Francisco',
  unit: 'celsius'
});

console.log(`${weather.temperature}°${weather.unit}: ${weather.description}`);
"#;

const SLACK: &str = r#"
import { slack } from '@capabilities/mcp-slack';

const channels = await slack.listChannels();
const general = channels.find(c => c.name === 'general')!;

const history = await slack.getChannelHistory({
  channel: general.id,
  limit: 10
});

await slack.postMessage({
  channel: general.id,
  text: `Re: "${history[0].text}" - Got it!`
});
"#;

const DOCS: &str = r#"
import { docs } from '@capabilities/mcp-docs';
import type { McpContent } from '@capabilities/mcp-docs';

const { contents } = await docs.$resources.read('demo://x');
const bytes: Uint8Array | undefined = contents[0].blob;
const text: string | undefined = contents[0].text;
const sizes: number[] = await docs.$resources.list().map(resource => resource.size ?? 0);
const templates: string[] = (await docs.$resources.templates()).map(template => template.uriTemplate);
const required: boolean | undefined = (await docs.$prompts.list()).at(0)?.arguments?.at(0)?.required;
const prompt = await docs.$prompts.get('greet', { name: 'x' });
await docs.$prompts.get('plain');
const show = (block: McpContent): string | Uint8Array => {
  switch (block.type) {
    case 'text': return block.text;
    case 'image': case 'audio': return Uint8Array.fromBase64(block.data);
    case 'resource': return block.resource.text ?? Uint8Array.fromBase64(block.resource.blob ?? '');
    case 'resource_link': return block.uri;
  }
};
const found: unknown = await docs.search({ query: 'x' });
const shown = Array.isArray(found) ? found.map(show) : [found];
export default [bytes, text, sizes, templates, required, prompt.messages.map(message => show(message.content)), shown];
"#;

const GLOBALS: &str = r#"
try {
  const answer: unknown = await __agentSpaces.callCapability('trainSchedule', 'getSchedule', { station: 'Central' });
  console.table([answer]);
} catch (error) {
  if (error instanceof CapabilityError && error.retryable) console.warn(error.code, error.message, error.details);
}
for (const [name, value] of new URL('https://example.com/?a=b').searchParams) console.log(name, value);
new Headers(new Headers({ accept: 'text/plain' })).get('accept');
const timer = setTimeout((count: number) => console.log(count), 10, 1);
clearTimeout(timer);
queueMicrotask(() => {});
const bytes = crypto.getRandomValues(new Uint8Array(16));
const text: string = new TextDecoder('utf-8', { fatal: true }).decode(new TextEncoder().encode(atob(btoa('x'))));
const controller = new AbortController();
controller.signal.addEventListener('abort', event => console.log(event.type), { once: true });
AbortSignal.any([controller.signal, AbortSignal.timeout(10)]).throwIfAborted();
new EventTarget().dispatchEvent(new CustomEvent('x', { detail: 1 }));
export default [text, crypto.randomUUID(), structuredClone({ bytes }).bytes.length, performance.now(), new DOMException('x', 'AbortError').name];
"#;
