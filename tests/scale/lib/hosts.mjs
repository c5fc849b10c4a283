// The project that hosts serve, and hosts: processes of `agent-spaces serve`.

import { randomBytes } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';
import { freePort, run, say, until } from './common.mjs';
import { DATABASE } from './postgres.mjs';
import { Proxy } from './proxy.mjs';

/** Token of the operator. */
export const TOKEN = 'the-token-of-the-operator-of-this-test';

/** What each run executes. Its value has the receipts, and how late its timer was. */
export const SOURCE = `import input from '@agent-spaces/input';
import { effects } from '@capabilities/effects';
const run = input.run;
const [first, second] = await Promise.all([effects.add({ run, step: 1 }), effects.set({ run, step: 2 })]);
let late = null;
if (input.sleepMs > 0) {
  const due = Date.now() + input.sleepMs;
  await new Promise((done) => setTimeout(done, input.sleepMs));
  late = Date.now() - due;
}
const third = input.asks ? await effects.ask({ run, step: 3 }) : await effects.add({ run, step: 3 });
export default { receipts: [first.receipt, second.receipt, third.receipt], late };
`;

/** Steps of a run that have an effect. */
export const STEPS = 3;

/** Writes the project. All hosts have the same one. */
export function project(workroom, effectsPort, { lease = 5, parkAfter = '1s', concurrency = 64, settings = {} } = {}) {
  const folder = workroom.path('project');
  mkdirSync(join(folder, 'capabilities'), { recursive: true });
  const parameters = { type: 'object', properties: { run: { type: 'integer' }, step: { type: 'integer' } }, required: ['run', 'step'] };
  const returns = { type: 'object', properties: { receipt: { type: 'integer' } }, required: ['receipt'] };
  const effect = (name, more) => ({
    description: `Effect that is counted (${name})`,
    parameters,
    returns,
    http: { method: 'POST', path: `/${name}`, body: { run: '{{run}}', step: '{{step}}' } },
    ...more,
  });
  const origin = `http://127.0.0.1:${effectsPort}`;
  const definition = {
    name: 'effects',
    description: 'Effects that are counted',
    http: { baseUrl: origin },
    functions: { add: effect('add'), set: effect('set', { annotations: { idempotentHint: true } }), ask: effect('ask', { requiresApproval: true }) },
  };
  const config = {
    policy: { approvals: { expires: '1d' } },
    providers: {
      '@capabilities/effects': {
        http: { domains: ['127.0.0.1'], private: ['127.0.0.1'] },
        // Says which host sent a request.
        origins: { [origin]: { headers: { 'X-Host': '${SCALE_HOST}' } } },
      },
    },
    spaces: { scale: { capabilities: ['./capabilities/effects.json'] } },
    // Time that a host is stopped or that a busy machine takes is no fault of the script.
    limits: { time: '10m' },
    durable: { lease: `${lease}s`, parkAfter, inDoubt: 'ask' },
    serve: { concurrency: { rest: concurrency } },
    ...settings,
  };
  writeFileSync(join(folder, 'capabilities', 'effects.json'), JSON.stringify(definition, null, 2));
  writeFileSync(join(folder, 'agent-spaces.config.json'), JSON.stringify(config, null, 2));
  return folder;
}

export class Host {
  /** `database` is missing for a host with a SQLite file. `direct` leaves out the proxy, which takes time of this process. */
  constructor(workroom, number, { binary, project, database, options = '', cpus, group, direct = false }) {
    Object.assign(this, { workroom, number, binary, project, database, options, cpus, group, direct });
    this.name = `host-${number}`;
    // Shorter values are not redacted, and refused for that reason.
    this.label = `scale-host-${number}`;
    this.state = 'down';
    this.starts = 0;
    this.agent = new http.Agent({ keepAlive: true, maxSockets: 56 });
  }

  environment() {
    const store = this.store ? { AGENT_SPACES_STORE: this.store } : {};
    const folder = this.workroom.path(this.name);
    return {
      PATH: process.env.PATH,
      HOME: folder,
      LANG: 'C.UTF-8',
      XDG_CACHE_HOME: this.workroom.path('cache'),
      AGENT_SPACES_DATA: folder,
      AGENT_SPACES_TOKEN: TOKEN,
      AGENT_SPACES_HOST_NAME: this.name,
      AGENT_SPACES_HOST_KEY: `file:${this.workroom.path('host-key')}`,
      SCALE_HOST: this.label,
      ...store,
    };
  }

  /** Makes its folder, and its way to the database. */
  async prepare() {
    this.workroom.make(this.name);
    if (!existsSync(this.workroom.path('host-key'))) this.workroom.write('host-key', `${randomBytes(32).toString('base64')}\n`);
    this.port = await freePort();
    if (this.database) await this.move(this.database);
    // Acceptance is a matter of this folder, not of the store.
    const env = { ...this.environment(), AGENT_SPACES_STORE: 'sqlite' };
    await run(this.binary, ['trust'], { cwd: this.project, env, timeout: 120_000 });
  }

  /** Points it at another database; from its next start on. */
  async move(database) {
    this.proxy?.close();
    this.database = database;
    this.proxy = this.direct ? undefined : await Proxy.open(database.nodes.map((node) => () => node.port));
    const ports = this.proxy?.ports ?? database.nodes.map((node) => node.port);
    const servers = ports.map((port) => `127.0.0.1:${port}`).join(',');
    this.store = `postgres://${DATABASE}@${servers}/${DATABASE}?application_name=${this.name}${this.options}`;
  }

  /** Starts the process. */
  launch() {
    const words = ['serve', '--space', 'scale', '--listen', `127.0.0.1:${this.port}`, '--log', 'text'];
    this.child = this.workroom.start(this.name, this.binary, words, { env: this.environment(), cwd: this.project, cpus: this.cpus });
    if (this.group) this.group.add(this.child.pid);
    this.starts += 1;
    this.state = 'up';
    const child = this.child;
    child.ended.then((how) => {
      if (this.child !== child || this.state === 'down') return;
      this.state = 'down';
      this.unexpectedEnd = how;
      say(`${this.name} ended by itself: ${JSON.stringify(how)}\n${this.workroom.log(this.name, 1500)}`);
    });
  }

  async start() {
    this.launch();
    await this.ready(300_000);
  }

  async ready(ms) {
    await until(`${this.name} is ready`, ms, async () => {
      if (this.state === 'down') throw new Error(`it ended: ${this.workroom.log(this.name, 600)}`);
      return (await this.request('GET', '/ready', { timeout: 5000 })).status === 200;
    });
  }

  /** The last fault of a request in its log. */
  lastFault() {
    const lines = this.workroom.log(this.name, 16_000).split('\n').filter((line) => line.includes('request failed'));
    return lines.at(-1) ?? 'its log says nothing';
  }

  async kill() {
    this.state = 'down';
    this.child.kill('SIGKILL');
    await this.child.ended;
  }

  /** Ends it in order, and returns the milliseconds. */
  async end(ms = 60_000) {
    const begun = Date.now();
    this.state = 'down';
    this.child.kill('SIGTERM');
    const timer = setTimeout(() => this.child.kill('SIGKILL'), ms);
    const how = await this.child.ended;
    clearTimeout(timer);
    if (how.code !== 0) say(`${this.name} ended with ${JSON.stringify(how)}`);
    return Date.now() - begun;
  }

  stop() {
    this.state = 'stopped';
    this.child.kill('SIGSTOP');
  }

  continue() {
    this.child.kill('SIGCONT');
    this.state = 'up';
  }

  /** Sends a request of the operator. */
  request(method, path, { body, headers = {}, timeout = 30_000 } = {}) {
    return new Promise((done, failed) => {
      const text = body === undefined ? undefined : JSON.stringify(body);
      const all = { authorization: `Bearer ${TOKEN}`, ...headers };
      if (text !== undefined) Object.assign(all, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
      const request = http.request({ host: '127.0.0.1', port: this.port, path, method, headers: all, agent: this.agent }, (response) => {
        let read = '';
        response.setEncoding('utf8');
        response.on('data', (part) => (read += part));
        response.on('error', failed);
        response.on('end', () => {
          clearTimeout(timer);
          let json = null;
          try {
            json = read === '' ? null : JSON.parse(read);
          } catch {
            // Probes answer with text.
          }
          done({ status: response.statusCode, json, text: read });
        });
      });
      const timer = setTimeout(() => request.destroy(new Error('no answer in time')), timeout);
      request.on('error', (error) => {
        clearTimeout(timer);
        failed(error);
      });
      request.end(text);
    });
  }
}

/** Prepares and starts hosts. All decide on approvals with the same secret; a version that has none, with the key of the first. */
export async function startHosts(workroom, count, settings) {
  const hosts = [];
  for (let number = 1; number <= count; number += 1) {
    const given = typeof settings === 'function' ? settings(number) : settings;
    hosts.push(await addHost(workroom, number, given, hosts[0]));
  }
  return hosts;
}

export async function addHost(workroom, number, settings, first) {
  const host = new Host(workroom, number, settings);
  await host.prepare();
  const key = (of) => workroom.path(of.name, 'state', 'serve.approver');
  if (first && existsSync(key(first))) {
    mkdirSync(workroom.path(host.name, 'state'), { recursive: true, mode: 0o700 });
    copyFileSync(key(first), key(host));
  }
  await host.start();
  return host;
}
