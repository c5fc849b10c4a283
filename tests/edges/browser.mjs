// Runs a built program in chromium: a page of this machine loads it and sends its value back.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { extname, join, normalize } from 'node:path';

const TYPES = { '.js': 'text/javascript', '.wasm': 'application/wasm', '.json': 'application/json' };
const TIMEOUT = 240_000;

/** The browser's command, if there is one. */
export function browser() {
  return ['chromium', 'chromium-browser', 'google-chrome'].find((name) => spawnSync(name, ['--version']).status === 0);
}

/** Value or error of the program in this folder. */
export async function inBrowser(command, folder, options) {
  let done;
  const answer = new Promise((resolve) => (done = resolve));
  const page = `<!doctype html><script type="module">
    import { run } from './run.js';
    const say = (what) => fetch('/done', { method: 'POST', body: JSON.stringify(what) });
    try {
      say({ value: await run({ base: new URL('./', location.href), ...${JSON.stringify(options)} }) });
    } catch (error) {
      say({ error: String(error.stderr || error.stack) });
    }
  </script>`;
  const server = createServer(async (request, response) => {
    if (request.method === 'POST') {
      let text = '';
      for await (const chunk of request) text += chunk;
      done(JSON.parse(text));
      return response.end();
    }
    const path = normalize(request.url);
    if (path === '/') return response.setHeader('content-type', 'text/html').end(page);
    try {
      response.setHeader('content-type', TYPES[extname(path)] ?? 'application/octet-stream').end(readFileSync(join(folder, path)));
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  const profile = mkdtempSync(join(tmpdir(), 'agent-spaces-chromium-'));
  const flags = ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run', `--user-data-dir=${profile}`];
  const child = spawn(command, [...flags, `http://127.0.0.1:${server.address().port}/`], { stdio: 'ignore', detached: true });
  const gone = new Promise((resolve) => child.once('close', resolve));
  let timer;
  const late = new Promise((_, fail) => (timer = setTimeout(() => fail(new Error('the browser gave no answer')), TIMEOUT)));
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
    // Its helpers too: they have its process group.
    try {
      process.kill(-child.pid, 'SIGKILL');
    } catch {
      // It has ended.
    }
    await gone;
    server.close();
    server.closeAllConnections();
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  }
}
