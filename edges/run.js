// Runs a program that was built for node or browsers. Every call of a capability gets an instance of its plug, as it does in
// the host; the program's own instance never sees the token.
import * as http from './http/fetch.js';
import { imports } from './host.js';

/** The program failed; what it wrote to stderr says why. */
export class ProgramError extends Error {
  constructor(stderr) {
    super(stderr.trim().split('\n')[0] || 'the program failed');
    this.name = 'ProgramError';
    this.stderr = stderr;
  }
}

/**
 * Runs the program in a folder, and returns its value.
 *
 * - `base`: URL of the folder; `load(url)` reads a file of it as bytes, with `fetch` by default.
 * - `url`, `token`, `space`: the server, a caller's token, and the name or id of one of its spaces.
 * - `key`: with the same key, a program that runs again gets the answers of the first time.
 * - `waitSeconds`: how long a call waits for a person.
 * - `write(stream, text)`: gets output as it comes.
 */
export async function run({ base, url, token, space, key = crypto.randomUUID(), waitSeconds, write = () => {}, load = fetchBytes }) {
  if (typeof WebAssembly.Suspending !== 'function') {
    throw new Error('this engine has no WebAssembly.Suspending (JSPI): use node 24 or newer, or a current browser');
  }
  const modules = new Map();
  const module = (name) => {
    if (!modules.has(name)) modules.set(name, load(new URL(name, base)).then((bytes) => WebAssembly.compile(bytes)));
    return modules.get(name);
  };
  const { plugs } = JSON.parse(new TextDecoder().decode(await load(new URL('edge.json', base))));
  const output = { stdout: '', stderr: '' };
  const decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };
  const collect = (stream, bytes) => {
    const text = decoders[stream].decode(bytes, { stream: true });
    output[stream] += text;
    write(stream, text);
  };
  const given = { AGENT_SPACES_URL: url, AGENT_SPACES_TOKEN: token, AGENT_SPACES_SPACE: space, AGENT_SPACES_EDGE_WAIT: waitSeconds, AGENT_SPACES_EDGE_KEY: key };
  const settings = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined).map(([name, value]) => [name, String(value)]));

  const capabilities = {};
  for (const { interface: id, script, export: exported } of plugs) {
    let calls = 0;
    const call = async (name, args) => {
      const environment = { ...settings, AGENT_SPACES_EDGE_CALL: String(calls++) };
      const { instantiate } = await import(new URL(script, base).href);
      const folder = script.slice(0, script.lastIndexOf('/') + 1);
      const plug = await instantiate((file) => module(folder + file), { ...imports({ write: collect, environment }), 'agent-spaces:std/http': http });
      return plug[exported][name](...args);
    };
    capabilities[id] = new Proxy({}, { get: (_, name) => (...args) => call(name, args).catch(failed) });
  }

  const { instantiate } = await import(new URL('program/program.js', base).href);
  const program = await instantiate((file) => module(`program/${file}`), { ...imports({ write: collect }), ...capabilities });
  try {
    await program.run.run();
  } catch (error) {
    // The program ended with its error, which it has written.
    if (error !== null && typeof error === 'object' && 'payload' in error) throw new ProgramError(output.stderr);
    throw error;
  }
  return output.stdout === '' ? undefined : JSON.parse(output.stdout);
}

/** Hands an error of the capability to the program; a plug that broke is one too. */
function failed(error) {
  if (error !== null && typeof error === 'object' && error.payload !== undefined) throw error;
  const payload = { code: 'call.failed', message: 'The plug of this function failed', retryable: false, details: undefined };
  throw Object.assign(new Error(payload.message, { cause: error }), { payload });
}

async function fetchBytes(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: status ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
}
