// Processes that send requests: so that neither the noise nor the server of effects delays what is measured.

import { execFileSync, spawn } from 'node:child_process';
import http from 'node:http';
import os from 'node:os';
import { monitorEventLoopDelay } from 'node:perf_hooks';

/** Milliseconds between two looks at the clock. */
const RESOLUTION = 5;

/** Measures how late a process gets to what it should do. */
export class Lag {
  constructor() {
    this.histogram = monitorEventLoopDelay({ resolution: RESOLUTION });
    this.histogram.enable();
  }

  begin() {
    this.histogram.reset();
  }

  /** Milliseconds beyond the interval. */
  end() {
    const ms = (nanoseconds) => Math.max(0, Math.round((nanoseconds / 1e6 - RESOLUTION) * 10) / 10);
    return { p50: ms(this.histogram.percentile(50)), p99: ms(this.histogram.percentile(99)), max: ms(this.histogram.max) };
  }
}

/** Changes the priority of this process; raising it needs root, and is left out otherwise. */
export function prioritize(nice) {
  try {
    os.setPriority(nice);
  } catch {
    // The lag that is reported says whether it was needed.
  }
}

/** Keeps this process, with its threads, on these processors. What it starts from then on is there too. */
export function pin(cpus) {
  execFileSync('taskset', ['-acp', cpus, String(process.pid)], { stdio: ['ignore', 'ignore', 'inherit'] });
}

/** Another process that executes a script of this folder, and answers one command at a time. */
export class LoadProcess {
  constructor(script, { cpus } = {}) {
    const file = new URL(script, import.meta.url).pathname;
    const [program, words] = cpus ? ['taskset', ['-c', cpus, process.execPath, file]] : [process.execPath, [file]];
    this.child = spawn(program, words, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    this.pid = this.child.pid;
    this.ended = new Promise((_, failed) => {
      this.child.once('error', failed);
      this.child.once('exit', (code) => failed(new Error(`${script} ended with ${code}`)));
    });
    this.ended.catch(() => {});
    // It may keep this process alive only while it owes an answer.
    this.child.unref();
    this.child.channel.unref();
  }

  async ask(name, settings = {}) {
    this.child.channel.ref();
    const answered = new Promise((done) => this.child.once('message', done));
    this.child.send({ name, settings });
    const { value, error } = await Promise.race([answered, this.ended]);
    this.child.channel.unref();
    if (error) throw new Error(`${name}: ${error}`);
    return value;
  }
}

/** Answers commands of the parent, and ends with it. */
export function answer(commands) {
  process.on('disconnect', () => process.exit(0));
  process.on('message', async ({ name, settings }) => {
    try {
      process.send({ value: (await commands[name](settings)) ?? null });
    } catch (error) {
      process.send({ error: error.stack });
    }
  });
}

/** Client with connections of its own. A target is `{ port, token }`. */
export class Client {
  constructor(maxSockets = Infinity) {
    this.agent = new http.Agent({ keepAlive: true, maxSockets });
  }

  /** `drains` counts the bytes of the answer and drops them. */
  send(method, { port, token }, path, { body, drains = false, timeout = 90_000 } = {}) {
    return new Promise((done, failed) => {
      const headers = { authorization: `Bearer ${token}` };
      if (body) Object.assign(headers, { 'content-type': 'application/json', 'content-length': body.length });
      const request = http.request({ host: '127.0.0.1', port, path, method, headers, agent: this.agent, timeout }, (response) => {
        const parts = [];
        let bytes = 0;
        response.on('data', (part) => {
          bytes += part.length;
          if (!drains) parts.push(part);
        });
        response.on('error', failed);
        response.on('end', () => done({ status: response.statusCode, bytes, json: () => JSON.parse(Buffer.concat(parts).toString()) }));
      });
      request.on('timeout', () => request.destroy(new Error('no answer in time')));
      request.on('error', failed);
      request.end(body);
    });
  }

  /** Ends all connections, also those that wait for an answer. */
  close() {
    this.agent.destroy();
  }
}

/** Id of the configured space, as this caller sees it. */
export async function spaceOf(client, target) {
  const answer = await client.send('GET', target, '/v1/spaces');
  const space = answer.json().items?.find(({ name }) => name === 'scale');
  if (!space) throw new Error(`no space: ${answer.status}`);
  return space.id;
}
