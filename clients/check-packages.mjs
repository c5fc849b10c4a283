// Packs both clients, installs each into an empty project, and runs the example of its README against the
// fake server, or against a real one if AGENT_SPACES_BINARY names its program.
// Needs `tsc` on the PATH, and a Python with the module `build` ($PYTHON, or python3). Installs httpx from the package index.
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Fake, TOKEN as FAKE_TOKEN } from './typescript/tests/fake.mjs';
import { BINARY, Server, TOKEN as SERVER_TOKEN } from './typescript/tests/server.mjs';

const home = fileURLToPath(new URL('.', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'agent-spaces-packages-'));
const server = await (BINARY ? new Server() : new Fake()).start();
const env = { ...process.env, AGENT_SPACES_TOKEN: BINARY ? SERVER_TOKEN : FAKE_TOKEN };

async function run(cwd, program, ...args) {
  const { stdout } = await promisify(execFile)(program, args, { cwd, env, maxBuffer: 1 << 24 });
  return stdout;
}

function example(readme, language) {
  const [, block] = readFileSync(join(home, readme), 'utf8').match(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'm'));
  return block.replaceAll('http://127.0.0.1:8080', server.url);
}

function project(name) {
  const path = join(folder, name);
  mkdirSync(path);
  return path;
}

function expect(output, text) {
  if (!output.includes(text)) throw new Error(`expected ${text} in:\n${output}`);
}

async function typescript() {
  const packed = project('packed');
  await run(join(home, 'typescript'), 'npm', 'pack', '--pack-destination', packed);
  const [archive] = readdirSync(packed);
  const files = await run(packed, 'tar', '-tzf', archive);
  for (const file of ['LICENSE', 'README.md', 'package.json', 'dist/index.js', 'dist/index.d.ts']) expect(files, `package/${file}\n`);
  if (/tests|src\/|scripts/.test(files)) throw new Error(`unexpected files in:\n${files}`);
  const empty = project('node');
  writeFileSync(join(empty, 'package.json'), '{ "type": "module", "private": true }');
  await run(empty, 'npm', 'install', '--no-audit', '--no-fund', join(packed, archive));
  writeFileSync(join(empty, 'example.js'), example('typescript/README.md', 'ts'));
  expect(await run(empty, process.execPath, 'example.js'), 'hello Ada');
  return archive;
}

async function python() {
  const built = project('built');
  await run(join(home, 'python'), process.env.PYTHON ?? 'python3', '-m', 'build', '--outdir', built);
  const wheel = readdirSync(built).find((name) => name.endsWith('.whl'));
  const empty = project('python');
  await run(empty, process.env.PYTHON ?? 'python3', '-m', 'venv', 'venv');
  await run(empty, 'venv/bin/pip', 'install', '--quiet', join(built, wheel));
  writeFileSync(join(empty, 'example.py'), example('python/README.md', 'python'));
  expect(await run(empty, 'venv/bin/python', 'example.py'), 'hello Ada');
  await run(empty, 'venv/bin/python', '-c', "import agent_spaces, pathlib; assert (pathlib.Path(agent_spaces.__file__).parent / 'py.typed').exists()");
  return readdirSync(built).join(', ');
}

try {
  console.log(`${await typescript()}: installed, example runs`);
  console.log(`${await python()}: installed, example runs`);
} finally {
  await server.stop();
  rmSync(folder, { recursive: true });
}
