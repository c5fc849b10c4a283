// A real `agent-spaces serve` with the shop of docs/service.md and two agents. It can be killed and started again on its port and data.
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { startModel } from './model.mjs';

export const BINARY = process.env.AGENT_SPACES_BINARY;
export const OPERATOR = 'token-of-the-operator-of-the-shop';
export const SHOP = 'token-of-the-shop-in-the-tests';
export const DESK = 'token-of-the-desk-in-the-tests';

const BANK = `import { defineTool } from '@agent-spaces/capabilities';

export const bank = defineTool({
  name: 'bank',
  description: 'Bank account of the shop',
  functions: {
    balance: {
      description: 'Money in the account',
      parameters: {},
      returns: {} as { amount: number },
      annotations: { readOnlyHint: true },
      handler: async () => ({ amount: 100 }),
    },
    pay: {
      description: 'Pay an amount to a person',
      parameters: { to: { type: 'string', required: true }, amount: { type: 'number', required: true } },
      returns: {} as { receipt: number },
      requiresApproval: true,
      handler: async () => ({ receipt: 17 }),
    },
  },
});
`;

function configuration(modelUrl, more) {
  const agent = (description, tools) => ({ description, models: ['scripted/m'], prompt: 'You help in the shop.', space: 'support', tools });
  return {
    policy: { approvals: { expires: '3d' } },
    models: { scripted: { api: 'openai-chat', baseUrl: modelUrl, apiKey: '${MODEL_KEY}', models: { m: { contextWindow: 2000000, price: { input: 3, output: 15 } } } } },
    ...(more.typescript ? { codeMode: { typescript: more.typescript } } : {}),
    agents: { helper: agent('Helps in the shop.', 'direct'), coder: agent('Helps with programs.', 'code') },
    spaces: { support: { capabilities: ['./capabilities/bank.ts', ...(more.capabilities ?? [])], workspace: './files' } },
    serve: {
      callers: {
        shop: { token: { env: 'SHOP_TOKEN' }, spaces: ['support'] },
        desk: { token: { env: 'DESK_TOKEN' }, spaces: ['support'], mayApprove: true },
      },
    },
  };
}

async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

export class Server {
  // `files` are further files of the project, by path; `capabilities` further entries of the space; `typescript` is the path of a compiler.
  async start({ files = {}, capabilities, typescript } = {}) {
    this.folder = mkdtempSync(join(tmpdir(), 'agent-spaces-console-'));
    this.project = join(this.folder, 'shop');
    this.model = await startModel();
    const all = { 'capabilities/bank.ts': BANK, 'agent-spaces.config.json': JSON.stringify(configuration(this.model.url, { capabilities, typescript }), null, 2), 'files/.keep': '', ...files };
    for (const [path, text] of Object.entries(all)) {
      mkdirSync(join(this.project, path, '..'), { recursive: true });
      writeFileSync(join(this.project, path), text);
    }
    const home = join(this.folder, 'home');
    mkdirSync(home);
    this.environment = {
      ...Object.fromEntries(['PATH', 'LANG', 'TMPDIR', 'SSL_CERT_FILE'].flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : []))),
      HOME: home,
      AGENT_SPACES_DATA: join(this.folder, 'data'),
      AGENT_SPACES_TOKEN: OPERATOR,
      SHOP_TOKEN: SHOP,
      DESK_TOKEN: DESK,
      MODEL_KEY: 'sk-scripted',
    };
    this.command('trust', 'agent-spaces.config.json');
    this.port = await freePort();
    this.url = `http://127.0.0.1:${this.port}`;
    await this.spawn();
    return this;
  }

  // Runs a command of the same user, and returns what it prints.
  command(...flags) {
    const { status, stdout, stderr, error } = spawnSync(BINARY, flags, { cwd: this.project, env: this.environment, encoding: 'utf8', timeout: 60_000 });
    if (status !== 0) throw new Error(`agent-spaces ${flags.join(' ')} failed:\n${stderr ?? error}`);
    return stdout;
  }

  async spawn() {
    this.process = spawn(BINARY, ['serve', '--listen', `127.0.0.1:${this.port}`, '--space', 'support', '--json'], { cwd: this.project, env: this.environment, stdio: ['ignore', 'pipe', 'pipe'] });
    this.log = '';
    this.process.stderr.on('data', (text) => (this.log += text));
    this.gone = new Promise((resolve) => this.process.once('close', resolve));
    const failed = this.gone.then(() => Promise.reject(new Error(`the server did not start:\n${this.log}`)));
    failed.catch(() => {});
    await Promise.race([new Promise((resolve) => createInterface(this.process.stdout).once('line', resolve)), failed]);
  }

  // As a crash: nothing is flushed, nobody is told.
  async kill() {
    this.process.kill('SIGKILL');
    await this.gone;
  }

  async stop() {
    await this.kill();
    this.model.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  // A request with a token; the answer as JSON. Throws unless it is a success.
  async api(method, path, body, token = OPERATOR) {
    const response = await fetch(this.url + path, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text ? JSON.parse(text) : undefined;
  }

  async space(name = 'tests', token = OPERATOR) {
    return (await this.api('POST', '/v1/spaces', { name, base: 'support' }, token)).id;
  }

  async run(space, source, more = {}, { wait = 20, token = OPERATOR } = {}) {
    return this.api('POST', `/v1/spaces/${space}/runs?wait=${wait}`, { source, ...more }, token);
  }

  // A run that waits for a person; returns it with its approval.
  async waiting(space, to = 'ada', { token = OPERATOR } = {}) {
    const { id } = await this.run(space, PAY(to), { name: 'payout' }, { wait: 0, token });
    for (;;) {
      const run = await this.api('GET', `/v1/runs/${id}?wait=1`, undefined, token);
      if (run.status === 'awaiting_approval') return run;
      if (['finished', 'failed', 'cancelled'].includes(run.status)) throw new Error(`the run does not wait: ${JSON.stringify(run)}`);
    }
  }
}

export const PAY = (to) => `import { bank } from "@capabilities/bank";\nconst { amount } = await bank.balance({});\nconsole.log("balance", amount);\nexport default await bank.pay({ to: ${JSON.stringify(to)}, amount: 5 });\n`;
