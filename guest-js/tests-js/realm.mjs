// A realm with the sandbox's globals, for tests. Always Node's own engine in a
// `vm` context; also QuickJS-ng, when QUICKJS_EMSCRIPTEN is the path of an npm
// folder (node_modules) with quickjs-emscripten-core and
// @jitl/quickjs-ng-wasmfile-release-sync in it.
//
// Neither is the engine that scripts get. Of what that one has in C, the tests
// run QuickJS's DOMException only in the second engine (Node's in the first),
// and its atob and btoa in neither: Node's stand in. The native functions are
// those of fake-native.js.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";
import vm from "node:vm";
import { MessageChannel, moveMessagePortToContext } from "node:worker_threads";

const SOURCES = new URL("../src/globals/", import.meta.url);

// The order in which the engine loads the files.
export const FILES = [
  "primordials",
  "class-names",
  "dom-exception",
  "inspect-layout",
  "inspect-names",
  "inspect",
  "inspect-kinds",
  "format",
  "console-table",
  "console",
  "timers",
  "performance",
  "weak-ref",
  "random",
  "capability-error",
  "stacks",
  "capability-promise",
  "absent",
  "event-target",
  "abort",
  "structured-clone",
  "pair-iterator",
  "headers",
  "url-search-params",
  "url",
  "text-encoding",
  "crypto",
  "http",
  "intl-data",
  "intl-locale",
  "intl-digits",
  "intl-plural",
  "intl-number",
  "intl-zone",
  "intl-date",
  "intl-words",
  "locale-string",
  "locale-methods",
];

// The zones as Node's own ICU has them.
const offsetNames = new Map();
function zoneOffset(name, seconds) {
  if (!offsetNames.has(name))
    offsetNames.set(name, new Intl.DateTimeFormat("en-US", { timeZone: name, timeZoneName: "longOffset" }));
  const parts = offsetNames.get(name).formatToParts(seconds * 1000);
  const text = parts.find(({ type }) => type === "timeZoneName").value;
  const [, sign, hours, minutes, rest = 0] = /^GMT(?:([+-])(\d+):(\d+)(?::(\d+))?)?$/.exec(text);
  return sign === undefined ? 0 : Number(`${sign}1`) * (hours * 3600 + minutes * 60 + Number(rest));
}
const zoneNames = new Map(Intl.supportedValuesOf("timeZone").map((name) => [name.toLowerCase(), name]));
function zoneName(name) {
  const known = zoneNames.get(name.toLowerCase());
  if (known !== undefined) return known;
  try {
    zoneOffset(name, 0);
    return name;
  } catch {
    return "";
  }
}

const PARTS = [
  "href",
  "origin",
  "protocol",
  "username",
  "password",
  "host",
  "hostname",
  "port",
  "pathname",
  "search",
  "hash",
];
const partsOf = (url) => JSON.stringify(PARTS.map((part) => url[part]));

// What stands in for the host's Rust: strings in, strings out.
const host = {
  parseUrl(input, base) {
    try {
      return partsOf(base === "" ? new URL(input) : new URL(input, base.slice(1)));
    } catch {
      return "null";
    }
  },
  setUrlPart(href, part, value) {
    const url = new URL(href);
    url[part] = value;
    return partsOf(url);
  },
  // Bytes in and out as hex.
  digest(algorithm, hex) {
    const known = ["SHA-1", "SHA-256", "SHA-384", "SHA-512"].includes(algorithm);
    return known ? createHash(algorithm.replace("-", "")).update(Buffer.from(hex, "hex")).digest("hex") : "";
  },
  zone: (name, seconds) => (seconds === "" ? zoneName(name) : `${zoneOffset(name, Number(seconds))}`),
  // In JSON, since QuickJS's side of this takes no NUL.
  base64(name, json) {
    try {
      return JSON.stringify(globalThis[name](JSON.parse(json)));
    } catch {
      return "null";
    }
  },
};

// Runs inside the realm, before the globals: a `native` in JavaScript.
const PRELUDE = readFileSync(new URL("fake-native.js", import.meta.url), "utf8");
const ABSENT = readFileSync(new URL("absent.json", SOURCES), "utf8");

const engines = [["node", nodeEngine]];
if (process.env.QUICKJS_EMSCRIPTEN) engines.push(["quickjs", await quickjsEngine(process.env.QUICKJS_EMSCRIPTEN)]);

function nodeEngine() {
  const hostDetach = (buffer) => void structuredClone(buffer, { transfer: [buffer] });
  const context = vm.createContext(
    {
      hostParseUrl: host.parseUrl,
      hostSetUrlPart: host.setUrlPart,
      hostBase64: host.base64,
      hostZone: host.zone,
      hostDigest: host.digest,
      hostDetach,
    },
    { microtaskMode: "afterEvaluate" },
  );
  context.hostDOMException = domExceptionOf(context);
  return (code, name) => vm.runInContext(code, context, { filename: name });
}

// Node makes a DOMException for each context, whose Error it extends, but shows
// it only in what its own functions throw there.
function domExceptionOf(context) {
  const port = moveMessagePortToContext(new MessageChannel().port1, context);
  try {
    port.postMessage(() => {});
  } catch (error) {
    return error.constructor;
  } finally {
    port.close();
  }
}

async function quickjsEngine(folder) {
  const require = createRequire(`${folder}/`);
  const { newQuickJSWASMModuleFromVariant } = require("quickjs-emscripten-core");
  const variant = require("@jitl/quickjs-ng-wasmfile-release-sync");
  const module = await newQuickJSWASMModuleFromVariant(variant.default ?? variant);
  return () => {
    const context = module.newContext();
    for (const [name, call] of [
      ["hostParseUrl", host.parseUrl],
      ["hostSetUrlPart", host.setUrlPart],
      ["hostBase64", host.base64],
      ["hostZone", host.zone],
      ["hostDigest", host.digest],
    ]) {
      const handle = context.newFunction(name, (...values) =>
        context.newString(call(...values.map((value) => context.getString(value)))),
      );
      context.setProp(context.global, name, handle);
      handle.dispose();
    }
    return (code, name) => {
      const handle = context.unwrapResult(context.evalCode(code, name));
      context.runtime.executePendingJobs().unwrap?.();
      const value = context.dump(handle);
      handle.dispose();
      return value;
    };
  };
}

export class Realm {
  constructor(make) {
    this.run = make();
    this.run(PRELUDE, "fake-native.js");
    this.run(`native.absent = ${JSON.stringify(ABSENT)}; undefined`, "absent.json");
    for (const file of FILES) {
      const source = readFileSync(new URL(`${file}.js`, SOURCES), "utf8");
      this.run(`${source.trimEnd()}(native); undefined`, `agent-spaces:globals/${file}.js`);
    }
    this.run("harness.ready(); undefined", "fake-native.js");
  }

  // Runs the body of an async function until it settles, with all timers
  // fired in virtual time; gives what it returned, as JSON carries it.
  evaluate(body) {
    this.run(`harness.start(async () => { ${body}\n }); undefined`, "script.js");
    let answer;
    for (let turn = 0; turn < 1000 && answer === undefined; turn++)
      answer = this.run("harness.turn()", "fake-native.js");
    if (answer === undefined) throw new Error("the script never settled");
    const { value, error } = JSON.parse(answer);
    if (error !== undefined) throw new Error(error);
    return value;
  }

  // The console lines that the body wrote: [level, text] each.
  written(body) {
    this.evaluate(body);
    return JSON.parse(this.run("harness.takeLines()", "fake-native.js"));
  }
}

// One test for each engine, with a realm of its own.
export function inEachEngine(name, body) {
  for (const [engine, make] of engines) test(`${name} (${engine})`, () => body(new Realm(make)));
}
