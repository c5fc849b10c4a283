// One workerd with a worker of ours in it, which loads a fresh worker for each script.
// Scripts go to it as requests over a Unix socket.

import { spawn } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const START_LIMIT = 10_000;

// `modules` are pairs of the name that others import and the file; the first is the worker.
export async function startWorkerd(modules) {
  const folder = mkdtempSync(join(tmpdir(), 'workerd-'));
  const socketPath = join(folder, 'socket');
  modules.forEach(([, file], index) => copyFileSync(file, join(folder, `${index}.js`)));
  writeFileSync(join(folder, 'config.capnp'), config(modules, socketPath));
  const arguments_ = ['serve', '--experimental', join(folder, 'config.capnp')];
  const child = spawn(binary(), arguments_, { stdio: ['ignore', 'ignore', 'inherit'] });
  const close = () => {
    child.kill();
    rmSync(folder, { recursive: true, force: true });
  };
  // However this process ends, the other ends with it.
  process.once('exit', close);
  const agent = new http.Agent({ keepAlive: true });
  await listening(child, socketPath);
  return {
    post: (path, message) => post({ agent, socketPath, path }, message),
    processes: () => [child.pid],
    close,
  };
}

function binary() {
  const { default: path } = createRequire(import.meta.url)('workerd');
  return path;
}

function config(modules, socketPath) {
  const listed = modules.map(([name], index) => `(name = "${name}", esModule = embed "${index}.js")`);
  return `
using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .main)],
  sockets = [(name = "http", address = "unix:${socketPath}", http = (), service = "main")],
);
const main :Workerd.Worker = (
  modules = [${listed.join(', ')}],
  compatibilityDate = "2026-01-01",
  bindings = [(name = "LOADER", workerLoader = (id = "scripts"))],
);
`;
}

async function listening(child, socketPath) {
  const end = performance.now() + START_LIMIT;
  while (!existsSync(socketPath)) {
    if (child.exitCode !== null) throw new Error(`workerd ended with ${child.exitCode} before it listened`);
    if (performance.now() > end) throw new Error(`workerd did not listen within ${START_LIMIT} ms`);
    await sleep(10);
  }
}

function post(where, message) {
  return new Promise((resolve, reject) => {
    const request = http.request({ ...where, method: 'POST' }, async (response) => {
      const parts = [];
      for await (const part of response) parts.push(part);
      const text = Buffer.concat(parts).toString();
      if (response.statusCode === 200) resolve(JSON.parse(text));
      else reject(new Error(`workerd answered ${response.statusCode}: ${text}`));
    });
    request.on('error', reject);
    request.end(JSON.stringify(message));
  });
}
