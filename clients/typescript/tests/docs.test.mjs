// The examples of docs/clients.md and of the README run, in their order, and type-check.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Fake, TOKEN } from './fake.mjs';
import { BINARY, Server, TOKEN as SERVER_TOKEN } from './server.mjs';

const run = promisify(execFile);
const home = fileURLToPath(new URL('../', import.meta.url));
const pages = { 'docs/clients.md': '../../docs/clients.md', 'README.md': 'README.md' };
// The compiler of this package, or another one.
const compiler = process.env.TSC ?? join(home, 'node_modules/typescript/bin/tsc');

let fake;
let folder;
before(async () => {
  fake = await new Fake().start();
  folder = mkdtempSync(join(tmpdir(), 'agent-spaces-docs-'));
  mkdirSync(join(folder, 'node_modules/@agent-spaces'), { recursive: true });
  symlinkSync(home, join(folder, 'node_modules/@agent-spaces/client'));
});
after(async () => {
  rmSync(folder, { recursive: true });
  await fake.stop();
});

function examples(path, url = fake.url) {
  const blocks = [...readFileSync(join(home, path), 'utf8').matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, block]) => block);
  assert.ok(blocks.length > 0);
  return blocks.join('\n').replaceAll('http://127.0.0.1:8080', url);
}

for (const [name, path] of Object.entries(pages)) {
  test(`examples of ${name} run`, async () => {
    const file = join(folder, 'examples.mjs');
    writeFileSync(file, examples(path));
    const { stdout } = await run(process.execPath, [file], { env: { ...process.env, AGENT_SPACES_TOKEN: TOKEN }, timeout: 30_000 });
    assert.match(stdout, /hello Ada/);
    if (name !== 'README.md') {
      for (const part of [/log hello/, /Create a ticket\?/, /data\/report\.csv 12/, /script\.error no such customer/, /404 not_found/]) assert.match(stdout, part);
    }
  });

  test(`examples of ${name} run against a real server`, { skip: BINARY ? false : 'AGENT_SPACES_BINARY does not name a server' }, async () => {
    const server = await new Server().start();
    try {
      const file = join(folder, 'examples.mjs');
      writeFileSync(file, examples(path, server.url));
      const { stdout } = await run(process.execPath, [file], { env: { ...process.env, AGENT_SPACES_TOKEN: SERVER_TOKEN }, timeout: 30_000 });
      assert.match(stdout, /hello Ada/);
      if (name !== 'README.md') {
        for (const part of [/hello Grace/, /Create high ticket/, /data\/report\.csv 12/, /script\.error no such customer/, /404 not_found/]) assert.match(stdout, part);
      }
    } finally {
      await server.stop();
    }
  });

  test(`examples of ${name} type-check`, { skip: existsSync(compiler) ? false : 'no TypeScript installed' }, async () => {
    const file = join(folder, 'examples.mts');
    writeFileSync(file, `${examples(path)}\ndeclare const process: { env: Record<string, string | undefined> };\n`);
    const flags = ['--noEmit', '--strict', '--target', 'ES2022', '--module', 'NodeNext', '--lib', 'ES2022,DOM', file];
    const failed = await run(process.execPath, [compiler, ...flags], { cwd: folder }).then(() => '', (error) => error.stdout || String(error));
    assert.equal(failed, '');
  });
}
