// The noisy tenant: more of one kind of runs than a host should notice.

import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import os from 'node:os';
import { performance } from 'node:perf_hooks';
import { sleep } from './common.mjs';
import { answer, Client, Lag, prioritize, spaceOf } from './load_process.mjs';

/** Milliseconds for runs to park, and for all runs to end. */
const PATIENCE = 180_000;

/** Bytes of the text of a large input: the body may have 4 MiB, and the result, twice as much, 8 MiB. */
const LARGE = 4_150_000;

const text = (source, more = {}) => Buffer.from(JSON.stringify({ name: 'noise.ts', source, ...more }));
const BODIES = {
  flood: () => text('export default 1;\n'),
  compute: ({ computeSeconds }) => text('let sum = 0;\nfor (let number = 0; ; number += 1) sum = (sum + number * 7) % 1000003;\n', { limits: { timeMs: computeSeconds * 1000 } }),
  parked: () => text("import { effects } from '@capabilities/effects';\nexport default await effects.ask({ run: -1, step: 1 });\n"),
  // Random, so that the database cannot make it small.
  large: () => text("import input from '@agent-spaces/input';\nexport default input + input;\n", { input: randomBytes((LARGE / 4) * 3).toString('base64') }),
};
/** Seconds to wait for the end of a run, in the request that starts it. */
const WAIT = { flood: 0, compute: 60, large: 60 };
const LEFT = ['queued', 'running', 'waiting', 'awaiting_approval'];

const lag = new Lag();
const spaces = new Map();
let noise;

class Noise {
  constructor({ kind, targets, window, parked, cpus, ...rest }) {
    Object.assign(this, { kind, targets, window, parked, cpus });
    this.burners = [];
    this.body = BODIES[kind]?.(rest);
    this.client = new Client();
    this.isOver = false;
    this.reset();
    this.tasks = [];
    // Parked runs.
    this.waiting = 0;
  }

  reset() {
    lag.begin();
    Object.assign(this, { answers: {}, sent: 0, bytes: 0, begun: performance.now() });
  }

  /** Starts the load; parked runs are there when this returns. */
  async begin() {
    for (const target of this.targets) if (!spaces.has(target.token)) spaces.set(target.token, await spaceOf(this.client, target));
    if (this.kind === 'none') return;
    if (this.kind === 'burner') {
      const words = [process.execPath, '-e', 'for (;;);'];
      const [file, ...rest] = this.cpus ? ['taskset', '-c', this.cpus, ...words] : words;
      // One on each core, or on each of the hosts'. They inherit the priority.
      const count = this.cpus ? this.cpus.split(',').length : os.cpus().length;
      this.burners = Array.from({ length: count }, () => spawn(file, rest, { stdio: 'ignore' }));
      return;
    }
    const work = this.kind === 'parked' ? await this.#park() : (number) => this.#start(number);
    this.tasks = Array.from({ length: this.window }, (_, number) => this.#repeat(() => work(number)));
  }

  async #repeat(work) {
    while (!this.isOver) {
      try {
        await work();
      } catch (error) {
        if (this.isOver) return;
        this.#count(`no answer: ${error.code ?? error.message}`);
        await sleep(100);
      }
    }
  }

  #count(name) {
    this.answers[name] = (this.answers[name] ?? 0) + 1;
  }

  #target(number) {
    return this.targets[number % this.targets.length];
  }

  async #start(number) {
    const target = this.#target(number);
    this.sent += 1;
    const answered = await this.client.send('POST', target, `/v1/spaces/${spaces.get(target.token)}/runs?wait=${WAIT[this.kind]}`, { body: this.body, drains: true });
    this.#count(answered.status);
    this.bytes += this.body.length + answered.bytes;
    // A flood does not care, others come back a little later.
    if (answered.status === 429 && this.kind !== 'flood') await sleep(200);
  }

  /** Starts runs until all are parked. Returns what to do then: somebody waits for some of them. */
  async #park() {
    const ids = [];
    const end = performance.now() + PATIENCE;
    const fill = async (target, count) => {
      for (let made = 0; made < count && !this.isOver; ) {
        const answered = await this.client.send('POST', target, `/v1/spaces/${spaces.get(target.token)}/runs`, { body: this.body });
        if (answered.status === 202) {
          ids.push([target, answered.json().id]);
          made += 1;
        } else if (answered.status !== 429) throw new Error(`a run that should park: ${answered.status}`);
        else if (performance.now() > end) throw new Error('runs do not park');
        else await sleep(300);
      }
    };
    await Promise.all(this.targets.map((target) => fill(target, Math.ceil(this.parked / this.targets.length))));
    for (const status of ['queued', 'running']) while ((await this.left([status])).length > 0) await sleep(300);
    this.waiting = ids.length;
    let next = 0;
    return async () => {
      const [target, id] = ids[next++ % ids.length];
      this.sent += 1;
      this.#count((await this.client.send('GET', target, `/v1/runs/${id}?wait=30`, { drains: true })).status);
    };
  }

  /** Some of the runs that have not ended. */
  async left(statuses = LEFT) {
    const found = [];
    const callers = new Map(this.targets.map((target) => [target.token, target]));
    for (const target of callers.values()) {
      for (const status of statuses) {
        const answered = await this.client.send('GET', target, `/v1/runs?limit=100&status=${status}`);
        if (answered.status !== 200) throw new Error(`list of runs: ${answered.status}`);
        found.push(...answered.json().items.map(({ id }) => [target, id]));
      }
    }
    return found;
  }

  numbers() {
    const seconds = (performance.now() - this.begun) / 1000;
    return { kind: this.kind, seconds, sent: this.sent, waiting: this.waiting, answers: this.answers, megabytes: Math.round(this.bytes / 1e5) / 10, lagMs: lag.end() };
  }

  /** Ends the load, and all its runs. */
  async end() {
    this.isOver = true;
    this.burners.forEach((burner) => burner.kill('SIGKILL'));
    this.client.close();
    await Promise.all(this.tasks);
    this.client = new Client(16);
    const end = performance.now() + PATIENCE;
    for (let left = await this.left(); left.length > 0; left = await this.left()) {
      if (performance.now() > end) throw new Error(`${left.length} runs do not end`);
      await Promise.all(left.map(([target, id]) => this.client.send('POST', target, `/v1/runs/${id}/cancel`, { body: Buffer.from('{}'), drains: true })));
      await sleep(200);
    }
    this.client.close();
  }
}

process.on('exit', () => noise?.burners.forEach((burner) => burner.kill('SIGKILL')));

answer({
  begin: async (settings) => {
    // What is measured comes first on a small machine; in earnest, clients are elsewhere.
    prioritize(settings.nice);
    noise = new Noise(settings);
    await noise.begin();
  },
  /** From now on it counts. */
  reset: () => noise.reset(),
  numbers: () => noise.numbers(),
  end: () => noise.end(),
});
