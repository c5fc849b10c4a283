// Faults at random moments, which a seed determines as far as the moment of an effect can be: of hosts, of their network, and
// of the database.

import { say, sleep } from './common.mjs';
import { Cluster } from './postgres.mjs';

/** Weights of the faults of a host. */
const OF_HOSTS = { kill: 4, stop: 3, stall: 3, reset: 2, end: 2 };

/** Weights of the faults of the database. */
const OF_DATABASE = { crash: 3, loss: 2, switchover: 1 };

export class Faults {
  /** `lease` in seconds. `every` has the least and the most seconds between two faults of hosts. */
  constructor({ hosts, database, random, lease, every = [1.5, 5], databaseEvery = [20, 40] }) {
    Object.assign(this, { hosts, database, random, lease, every, databaseEvery });
    this.counts = {};
    this.history = [];
    this.failovers = [];
    this.disturbed = new Set();
    this.isOver = false;
  }

  start() {
    this.tasks = [this.#ofHosts()];
    if (this.database instanceof Cluster) this.tasks.push(this.#ofDatabase());
  }

  /** No new faults; ends when the last one is over. */
  async end() {
    this.isOver = true;
    await Promise.all(this.tasks);
  }

  #note(kind, name) {
    this.counts[kind] = (this.counts[kind] ?? 0) + 1;
    this.history.push({ at: Date.now(), kind, name });
    say(`fault: ${kind} of ${name}`);
  }

  async #pause(seconds) {
    const end = Date.now() + seconds * 1000;
    while (!this.isOver && Date.now() < end) await sleep(100);
  }

  async #ofHosts() {
    const running = new Set();
    while (!this.isOver) {
      await this.#pause(this.random.between(...this.every));
      const free = this.hosts.filter((host) => host.state === 'up' && !this.disturbed.has(host));
      // One host is left alone at any time, if there is more than one.
      if (this.isOver || free.length === 0 || (this.hosts.length > 1 && free.length < 2)) continue;
      const host = this.random.pick(free);
      const kinds = Object.entries(OF_HOSTS).filter(([kind]) => host.proxy || !['stall', 'reset'].includes(kind));
      const kind = weighted(this.random, kinds);
      // All numbers are drawn here, so that the sequence does not depend on what goes on meanwhile.
      const seconds = { kill: this.random.between(0.5, 4), end: this.random.between(0.1, 2) }[kind] ?? this.lease * this.random.between(1.3, 2.5);
      this.disturbed.add(host);
      this.#note(kind, `${host.name} for ${seconds.toFixed(1)} s`);
      const task = this.#disturb(host, kind, seconds)
        .catch((error) => say(`${kind} of ${host.name}: ${error.message}`))
        .finally(() => {
          this.disturbed.delete(host);
          running.delete(task);
        });
      running.add(task);
    }
    await Promise.all(running);
  }

  async #disturb(host, kind, seconds) {
    if (kind === 'kill' || kind === 'end') {
      await (kind === 'kill' ? host.kill() : host.end());
      await sleep(seconds * 1000);
      host.launch();
      await this.#readyAgain(host);
    } else if (kind === 'stop') {
      host.stop();
      await sleep(seconds * 1000);
      host.continue();
    } else {
      host.proxy[kind]();
      await sleep(seconds * 1000);
      host.proxy.heal();
    }
  }

  /** A host that starts while the database is away ends, as it should; a supervisor starts it again. */
  async #readyAgain(host) {
    for (let attempt = 0; ; attempt += 1) {
      try {
        await host.ready(120_000);
        return;
      } catch (error) {
        if (attempt >= 40 || host.state !== 'down') throw error;
        await sleep(1000);
        host.launch();
      }
    }
  }

  async #ofDatabase() {
    while (!this.isOver) {
      await this.#pause(this.random.between(...this.databaseEvery));
      const kind = weighted(this.random, Object.entries(OF_DATABASE));
      const away = this.random.between(1, 8);
      if (this.isOver) return;
      try {
        const begun = Date.now();
        const cluster = this.database;
        const former = await { crash: () => cluster.crashPrimary(), loss: () => cluster.losePrimary(), switchover: () => cluster.switchover() }[kind]();
        this.#note(`primary ${kind}`, former.name);
        await cluster.promoted(former, 180_000);
        const promotedMs = Date.now() - begun;
        if (kind === 'loss') {
          await sleep(away * 1000);
          cluster.revive(former);
        }
        // A second loss while there is no synchronous standby would be the loss of the only copy.
        await cluster.healthy(300_000);
        this.failovers.push({ kind, promotedMs, healthyMs: Date.now() - begun });
        say(`${kind}: another primary after ${promotedMs} ms, a synchronous standby after ${Date.now() - begun} ms`);
      } catch (error) {
        say(`${kind} of the primary: ${error.message}`);
        this.failovers.push({ kind, error: error.message });
        await this.database.healthy(300_000).catch((late) => say(late.message));
      }
    }
  }

  /** Undoes what is left, and starts hosts that are down. */
  async heal() {
    for (const host of this.hosts) {
      host.proxy?.heal();
      if (host.state === 'stopped') host.continue();
      if (host.state === 'down') {
        host.launch();
        await this.#readyAgain(host);
      }
    }
  }
}

function weighted(random, pairs) {
  let roll = random.next() * pairs.reduce((sum, [, weight]) => sum + weight, 0);
  for (const [name, weight] of pairs) {
    roll -= weight;
    if (roll < 0) return name;
  }
  return pairs[0][0];
}
