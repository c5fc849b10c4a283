// Runs with effects: starts them over REST at any host, decides on approvals, answers calls in doubt, and waits for their ends.

import { generator, say, sleep } from './common.mjs';
import { SOURCE, TOKEN } from './hosts.mjs';
import { follow } from './streams.mjs';

/** States in which nothing more happens. */
const ENDED = new Set(['finished', 'failed', 'cancelled']);

/** Shares of the kinds of runs: some park for a timer, some for a person. */
export const MIX = { sleeps: 0.08, asks: 0.08 };

/** Milliseconds that a person looks at a call in doubt before saying that it did not happen: a request may be on its way. */
const LOOK = 1500;

/** Streams of events that are read at once. */
const MAX_STREAMS = 12;

export class Workload {
  /**
   * - `hosts`: array that may change
   * - `window`: runs that are started and waited for at once
   * - `mostOpen`: runs in progress at once, parked ones too
   * - `streams`: share of the runs whose events are followed
   */
  constructor({ hosts, effects, runs, seed = 1, window = 48, mostOpen = 400, mix = MIX, sleepMs = [2500, 8000], prefix = 'scale', streams = 0 }) {
    Object.assign(this, { hosts, effects, runs, seed, window, mostOpen, mix, sleepMs, prefix, streams });
    this.random = generator(seed ^ 0x5ca1e);
    // By number: id, kind, start, end, how it ended.
    this.items = new Map();
    this.open = [];
    this.next = 0;
    this.ended = 0;
    this.inDoubt = [];
    this.refusals = {};
    this.approved = 0;
    this.resumed = 0;
    this.followed = [];
    this.streaming = new Set();
    this.isStopped = false;
    // True if a restored database may not know a run.
    this.mayVanish = false;
    // True if nobody decides on approvals for now.
    this.withholds = false;
  }

  /** The kind of a run depends on the seed and its number alone. */
  input(number) {
    const random = generator((this.seed * 1_000_003 + number) >>> 0);
    const roll = random.next();
    const sleeps = roll < this.mix.sleeps;
    const asks = !sleeps && roll < this.mix.sleeps + this.mix.asks;
    return { run: number, sleepMs: sleeps ? Math.round(random.between(...this.sleepMs)) : 0, asks };
  }

  /** Executes all runs; ends when they have, or at the deadline. */
  async execute(deadline) {
    this.deadline = deadline;
    this.begun = Date.now();
    const starters = Array.from({ length: this.window }, () => this.#start());
    const followers = Array.from({ length: Math.max(8, this.window >> 1) }, () => this.#follow());
    const teller = setInterval(() => say(this.progress()), 10_000);
    await Promise.all(starters);
    await Promise.all(followers);
    this.elapsedMs = Date.now() - this.begun;
    await Promise.all(this.streaming);
    clearInterval(teller);
    say(this.progress());
  }

  progress() {
    const doubts = this.inDoubt.length;
    return `${this.ended} of ${this.runs} runs ended, ${this.items.size - this.ended} in progress, ${doubts} calls were in doubt`;
  }

  get isLate() {
    return Date.now() > this.deadline;
  }

  #refuse(name) {
    this.refusals[name] = (this.refusals[name] ?? 0) + 1;
  }

  /** One of the hosts that are said to be up; any, if none is. */
  #host() {
    const up = this.hosts.filter((host) => host.state !== 'down');
    return this.random.pick(up.length > 0 ? up : this.hosts);
  }

  /** Sends a request to one host after the other until one answers with a status that is wanted. */
  async #ask(method, path, { wanted, wait = 0, ...rest }) {
    while (!this.isLate) {
      const host = this.#host();
      try {
        const answer = await host.request(method, path, { timeout: (wait + 10) * 1000, ...rest });
        if (wanted.includes(answer.status)) return answer;
        this.#refuse(`${answer.status} ${answer.json?.code ?? ''}`.trim());
        if (answer.status === 500) say(`${host.name} answered 500 to ${method} ${path}; ${host.lastFault()}`);
        await sleep(answer.status === 429 ? 500 : 300);
      } catch (error) {
        this.#refuse(`no answer: ${error.code ?? error.message}`);
        await sleep(200);
      }
    }
    return null;
  }

  async #start() {
    while (!this.isLate && !this.isStopped && this.next < this.runs) {
      if (this.items.size - this.ended >= this.mostOpen) {
        await sleep(100);
        continue;
      }
      const number = this.next;
      this.next += 1;
      const input = this.input(number);
      const item = { number, input, begun: Date.now() };
      this.items.set(number, item);
      const body = { name: 'effects.ts', source: SOURCE, input };
      const headers = { 'idempotency-key': `${this.prefix}-${this.seed}-${number}` };
      const space = await this.space();
      if (!space) return;
      const answer = await this.#ask('POST', `/v1/spaces/${space}/runs?wait=5`, { wanted: [200, 201, 202], wait: 5, body, headers });
      if (!answer) return;
      item.id = answer.json.id;
      item.answeredMs = Date.now() - item.begun;
      this.#stream(item);
      await this.#look(item, answer.json);
    }
  }

  /** Follows the events of some runs. */
  #stream(item) {
    if (this.random.next() >= this.streams || this.streaming.size >= MAX_STREAMS) return;
    const task = follow(() => this.#host(), TOKEN, item.id, () => this.isLate)
      .then((read) => this.followed.push({ number: item.number, run: item.id, ...read }))
      .finally(() => this.streaming.delete(task));
    this.streaming.add(task);
  }

  async #follow() {
    for (;;) {
      const now = Date.now();
      const index = this.open.findIndex((item) => item.notBefore <= now);
      if (index < 0) {
        const isDone = (this.isStopped || this.next >= this.runs) && this.ended >= this.items.size;
        if (isDone || this.isLate) return;
        await sleep(50);
        continue;
      }
      const [item] = this.open.splice(index, 1);
      const answer = await this.#ask('GET', `/v1/runs/${item.id}?wait=2`, { wanted: this.mayVanish ? [200, 404] : [200], wait: 2 });
      if (!answer) return;
      if (answer.status === 404) {
        item.status = 'lost';
        this.ended += 1;
        continue;
      }
      await this.#look(item, answer.json);
    }
  }

  /** Acts on the state of a run. */
  async #look(item, shown) {
    item.status = shown.status;
    if (ENDED.has(shown.status)) {
      item.ended = Date.now();
      item.value = shown.value;
      item.error = shown.error;
      this.ended += 1;
      return;
    }
    if (shown.status === 'awaiting_approval') await this.#approve(shown);
    else if (shown.status === 'in_doubt') await this.#answer(item, shown);
    else if (shown.status === 'needs_resume') {
      this.resumed += 1;
      say(`run ${item.id} needs to be resumed`);
      await this.#ask('POST', `/v1/runs/${item.id}/resume`, { wanted: [202, 409], body: {} });
    }
    item.notBefore = Date.now() + (shown.status === 'waiting' ? 1000 : 200);
    this.open.push(item);
  }

  async #approve(shown) {
    if (this.withholds) return;
    for (const { id } of shown.approvals ?? []) {
      const answer = await this.#ask('POST', `/v1/approvals/${id}/decision`, { wanted: [200, 201, 409], body: { decision: 'approve', by: 'ann' } });
      if (answer && answer.status < 300) this.approved += 1;
    }
  }

  /** Does what a person does: looks at the other system, and says what is there. */
  async #answer(item, shown) {
    await sleep(LOOK);
    for (const doubt of shown.inDoubt ?? []) {
      const receipt = this.effects.receipt(item.id, doubt.call);
      const body = receipt === undefined ? { call: doubt.call, outcome: 'didNotHappen' } : { call: doubt.call, outcome: 'happened', value: { receipt } };
      const answer = await this.#ask('POST', `/v1/runs/${item.id}/answers`, { wanted: [200, 202, 409], body });
      if (answer && answer.status < 300) {
        const { run, step } = doubt.params ?? {};
        this.inDoubt.push({ number: item.number, run: item.id, call: doubt.call, function: doubt.function, params: { run, step }, outcome: body.outcome, at: Date.now() });
      }
    }
  }

  /** Id of the configured space, which all hosts share. */
  async space() {
    this.spaceId ??= this.#ask('GET', '/v1/spaces', { wanted: [200] }).then((answer) => answer?.json.items.find((space) => space.name === 'scale')?.id);
    return this.spaceId;
  }

  /** Numbers of runs that have not ended. */
  unfinished() {
    return [...this.items.values()].filter((item) => !ENDED.has(item.status));
  }
}
