// Runs real clients against the agents of `agent-spaces serve`: OpenAI's and Anthropic's SDKs, the Vercel AI SDK, `llm`, opencode, Claude Code
// and A2A's SDK. The model is scripted; nothing leaves this machine.
//
//   tests/agent-clients/install FOLDER
//   AGENT_SPACES_AGENT_CLIENTS=FOLDER AGENT_SPACES_BINARY=target/release/agent-spaces node tests/agent-clients/run.mjs [CLIENT …]
//
// AGENT_SPACES_NODE is a node of version 22 or later, unless the one that runs this is. A client that is not installed is skipped, and
// with AGENT_SPACES_CI=1 fails.
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startModel } from './model.mjs';
import { TOKEN, isolated, startServer } from './server.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
const installed = resolve(process.env.AGENT_SPACES_AGENT_CLIENTS ?? here);
const packages = join(installed, 'node_modules');
const python = join(installed, 'venv/bin/python');
const node = process.env.AGENT_SPACES_NODE ?? process.execPath;
const isCi = process.env.AGENT_SPACES_CI === '1';
// A client of which one check hangs.
const TIMEOUT = 240_000;
const OLDEST_NODE = 22;

const npm = (name) => join(packages, name, 'package.json');
const pip = (module) => `python module ${module}`;
const claude = join(packages, '@anthropic-ai/claude-code-linux-x64/claude');
const opencode = join(packages, 'opencode-linux-x64/bin/opencode');
const llm = join(installed, 'venv/bin/llm');

const CLIENTS = {
  'openai-js': { script: 'openai_js.mjs', needs: [npm('openai')] },
  'openai-python': { script: 'openai_python.py', needs: [pip('openai')] },
  'anthropic-js': { script: 'anthropic_js.mjs', needs: [npm('@anthropic-ai/sdk')] },
  'anthropic-python': { script: 'anthropic_python.py', needs: [pip('anthropic')] },
  'vercel-ai': { script: 'vercel_ai.mjs', needs: [npm('ai'), npm('@ai-sdk/openai-compatible'), npm('@ai-sdk/anthropic'), npm('zod')] },
  llm: { script: 'llm.mjs', needs: [llm] },
  opencode: { script: 'opencode.mjs', needs: [opencode] },
  'claude-code': { script: 'claude_code.mjs', needs: [claude] },
  'claude-code-mcp': { script: 'claude_code_mcp.mjs', needs: [claude] },
  'a2a-python': { script: 'a2a_python.py', needs: [pip('a2a')] },
};

function isNewEnough() {
  const [major] = (spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout ?? '').slice(1).split('.');
  return Number(major) >= OLDEST_NODE;
}

// Returns what is missing for a client.
function missing({ script, needs }) {
  if (script.endsWith('.mjs') && !isNewEnough()) return `node ${OLDEST_NODE} or later (AGENT_SPACES_NODE)`;
  if (script.endsWith('.py') && !existsSync(python)) return python;
  return needs.find((need) => {
    const [, module] = need.match(/^python module (.*)/) ?? [];
    return module ? spawnSync(python, ['-c', `import importlib.util as u, sys; sys.exit(u.find_spec("${module}") is None)`]).status !== 0 : !existsSync(need);
  });
}

// Runs a client's script. Every check prints a line; there must be one, and none may be of a failure.
async function run(name, { script }, environment) {
  const isPython = script.endsWith('.py');
  const scratch = join(environment.FOLDER, name);
  mkdirSync(scratch);
  const file = join(environment.FOLDER, 'tests/clients', script);
  const env = isolated(scratch, { ...environment, CLIENT: name, FOLDER: scratch, NO_PROXY: '127.0.0.1,localhost', PYTHONUNBUFFERED: '1' });
  const child = spawn(isPython ? python : node, [file], { cwd: scratch, env, stdio: ['ignore', 'pipe', 'inherit'], detached: true });
  let output = '';
  child.stdout.on('data', (text) => {
    output += text;
    process.stdout.write(text);
  });
  // The script and the programs that it started.
  const timer = setTimeout(() => process.kill(-child.pid, 'SIGKILL'), TIMEOUT);
  const status = await new Promise((done) => child.once('close', done));
  clearTimeout(timer);
  const passed = output.match(/^PASS /gm)?.length ?? 0;
  const failed = output.match(/^FAIL /gm)?.length ?? 0;
  if (status !== 0 && failed === 0) {
    console.log(`FAIL ${name}: the script ended with ${status ?? `a signal, after ${TIMEOUT / 1000} seconds at most`}`);
  }
  return { passed, isOk: status === 0 && failed === 0 && passed > 0 };
}

async function main() {
  const binary = process.env.AGENT_SPACES_BINARY;
  if (!binary) throw new Error('AGENT_SPACES_BINARY does not name a program');
  const wanted = process.argv.slice(2);
  const unknown = wanted.find((name) => !(name in CLIENTS));
  if (unknown) throw new Error(`there is no client ${unknown}: ${Object.keys(CLIENTS).join(', ')}`);
  if (!existsSync(npm('@copilotkit/aimock'))) {
    if (isCi) throw new Error(`there is no aimock in ${packages}`);
    console.log(`SKIP all: there is no aimock in ${packages}: run tests/agent-clients/install`);
    return true;
  }
  const folder = mkdtempSync(join(tmpdir(), 'agent-clients-'));
  // Scripts find packages from where they are.
  cpSync(here, join(folder, 'tests'), { recursive: true, filter: (path) => !/\/(node_modules|venv)$/.test(path) });
  symlinkSync(packages, join(folder, 'node_modules'));
  const model = await startModel(packages);
  let server;
  let isOk = true;
  try {
    server = await startServer(resolve(binary), folder, model.url);
    const environment = {
      FOLDER: folder, SERVER: server.url, TOKEN, MODEL: model.url, BINARY: resolve(binary), PROJECT: server.project,
      PROJECT_ENVIRONMENT: JSON.stringify(server.environment), CLAUDE: claude, OPENCODE: opencode, LLM: llm,
    };
    const results = [];
    for (const [name, client] of Object.entries(CLIENTS)) {
      if (wanted.length && !wanted.includes(name)) continue;
      const lacking = missing(client);
      if (lacking) {
        console.log(`${isCi ? 'FAIL' : 'SKIP'} ${name}: not installed: ${lacking}`);
        isOk &&= !isCi;
        continue;
      }
      const result = await run(name, client, environment);
      results.push(`${result.isOk ? 'ok    ' : 'FAILED'} ${name}: ${result.passed} passed`);
      isOk &&= result.isOk;
    }
    console.log(`\n${results.join('\n')}`);
  } finally {
    if (!isOk && server?.log()) console.log(`\nthe server said:\n${server.log()}`);
    await server?.stop();
    await model.stop();
    rmSync(folder, { recursive: true, force: true });
  }
  return isOk;
}

main().then(
  (isOk) => process.exit(isOk ? 0 : 1),
  (error) => {
    console.error(error);
    process.exit(1);
  },
);
