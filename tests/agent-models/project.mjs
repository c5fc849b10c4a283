// A project whose agents ask the scripted models, and the command in it with a home folder of its own.

import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Key that must not appear in any output. */
export const KEY = 'sk-test-0123456789abcdef';

/** Longest time for one command. */
const TIMEOUT_MS = 120_000;

/** Wire formats with the base path at the scripted server, and the address of their requests below it. */
export const WIRES = {
  'openai-responses': { base: '/v1', path: '/v1/responses' },
  'openai-chat': { base: '/v1', path: '/v1/chat/completions' },
  anthropic: { base: '/v1', path: '/v1/messages' },
  gemini: { base: '/v1beta', path: '/v1beta/models/' },
  ollama: { base: '/api', path: '/api/chat' },
};

/** Providers of each wire: intact, through the proxy, and without streaming. */
function providers(modelsUrl, proxyUrl) {
  const all = {};
  for (const [api, { base }] of Object.entries(WIRES)) {
    const common = { api, apiKey: '${MODEL_KEY}' };
    all[`${api}-intact`] = { ...common, baseUrl: modelsUrl + base };
    all[`${api}-damaged`] = { ...common, baseUrl: proxyUrl + base, timeout: '2s' };
    all[`${api}-whole`] = { ...common, baseUrl: modelsUrl + base, stream: false };
  }
  return all;
}

/** One capability with an effect, implemented by a request to the counter. */
const counter = (port) => ({
  name: 'counter',
  description: 'A counter',
  http: { baseUrl: `http://localhost:${port}` },
  functions: {
    add: {
      description: 'Adds to the counter and returns the total',
      parameters: {
        type: 'object',
        properties: { label: { type: 'string' }, amount: { type: 'integer' } },
        required: ['label', 'amount'],
      },
      returns: { type: 'object', properties: { total: { type: 'integer' } }, required: ['total'] },
      http: { method: 'POST', path: '/add', body: { label: '{{label}}', amount: '{{amount}}' } },
    },
  },
});

export class Project {
  constructor(binary, { modelsUrl, proxyUrl, counterPort }) {
    this.binary = binary;
    this.folder = mkdtempSync(join(tmpdir(), 'agent-models-'));
    mkdirSync(join(this.folder, 'home'));
    mkdirSync(join(this.folder, 'capabilities'));
    this.write('capabilities/counter.json', counter(counterPort));
    const agent = (tools, attempts) => ({
      models: ['openai-chat-intact/first'], prompt: 'You help.', tools, limits: { attempts, time: '60s' },
    });
    this.write('agent-spaces.config.json', {
      capabilities: { global: ['./capabilities/counter.json'] },
      providers: {
        '@capabilities/counter': { http: { domains: ['localhost'], private: ['localhost'], methods: ['POST'] } },
      },
      models: providers(modelsUrl, proxyUrl),
      agents: {
        plain: agent('off', 3), 'plain-once': agent('off', 1),
        direct: agent('direct', 3), 'direct-once': agent('direct', 1),
        program: agent('code', 3),
      },
    });
  }

  write(name, value) {
    writeFileSync(join(this.folder, name), JSON.stringify(value, null, 2));
  }

  remove() {
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Runs the command, and returns its exit status and output. */
  run(...words) {
    const home = join(this.folder, 'home');
    const { AGENT_SPACES_DATA: _, ...env } = process.env;
    const child = spawn(this.binary, words, {
      cwd: this.folder,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...env, HOME: home, MODEL_KEY: KEY, NO_PROXY: '*',
        XDG_CONFIG_HOME: join(home, 'config'), XDG_CACHE_HOME: join(home, 'cache'),
        XDG_STATE_HOME: join(home, 'state'), XDG_DATA_HOME: join(home, 'data'),
      },
    });
    const output = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr']) {
      child[name].setEncoding('utf8').on('data', (text) => { output[name] += text; });
    }
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => child.kill('SIGKILL'), TIMEOUT_MS);
      child.on('error', reject);
      child.on('close', (status, signal) => {
        clearTimeout(timer);
        resolve({ ...output, status: status ?? signal });
      });
    });
  }

  /** Asks an agent. Models are asked in their order. */
  async ask(agent, question, models) {
    const words = models.flatMap((model) => ['--model', model]);
    const output = await this.run('agent', agent, question, '--json', '--no-session', ...words);
    let object;
    try {
      object = JSON.parse(output.stdout);
    } catch {
      const what = `stdout is not one JSON object (exit status ${output.status})`;
      throw new Error(`${what}: ${output.stdout}\n${output.stderr}`);
    }
    return { ...output, object };
  }
}
