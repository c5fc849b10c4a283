// Durable runs with effects while hosts are killed, stopped and cut off, and the primary of the database is killed.
//
//   node tests/scale/chaos.mjs --binary PATH [--runs 10000] [--hosts 3] [--seed 1] [--minutes 60] [--out FILE]
//
// With --sqlite there is one host, its own file, and faults of that host only.

import { Effects } from './lib/effects.mjs';
import { generator, options, report, say } from './lib/common.mjs';
import { project, startHosts } from './lib/hosts.mjs';
import { database } from './lib/postgres.mjs';
import { verifyEffects, verifyJournal } from './lib/verify.mjs';
import { Workload } from './lib/workload.mjs';
import { Workroom } from './lib/workroom.mjs';
import { Faults } from './lib/faults.mjs';

const asked = options({
  binary: 'agent-spaces', runs: 10_000, hosts: 3, seed: 1, minutes: 60, lease: 5, window: 48, concurrency: 64,
  every: 3, databaseEvery: 30, sqlite: false, noFaults: false, out: '', keep: false, storeOptions: '',
});
const random = generator(asked.seed);
const workroom = new Workroom(asked.keep);
say(`folder ${workroom.folder}`);
const effects = await Effects.open(generator(asked.seed ^ 0xeffec7));
const store = asked.sqlite ? undefined : await database(workroom);
const folder = project(workroom, effects.port, { lease: asked.lease, concurrency: asked.concurrency });
const settings = { binary: asked.binary, project: folder, database: store, options: asked.storeOptions };
const hosts = await startHosts(workroom, asked.sqlite ? 1 : asked.hosts, settings);
say(`${hosts.length} hosts are ready`);

const workload = new Workload({ hosts, effects, runs: asked.runs, seed: asked.seed, window: asked.window, streams: 0.1 });
const faults = new Faults({
  hosts, database: store, random, lease: asked.lease,
  every: [asked.every * 0.5, asked.every * 1.5], databaseEvery: [asked.databaseEvery * 0.7, asked.databaseEvery * 1.3],
});
if (!asked.noFaults) faults.start();
const deadline = Date.now() + asked.minutes * 60_000;
// Faults go on until most runs have ended; the rest must end without them.
const watcher = setInterval(() => {
  if (workload.ended >= asked.runs * 0.97 || Date.now() > deadline - asked.minutes * 12_000) faults.isOver = true;
}, 500);
await workload.execute(deadline);
clearInterval(watcher);
if (!asked.noFaults) await faults.end();
await faults.heal();
const checked = verifyEffects(workload, effects);
const journal = store ? await verifyJournal(store, effects) : null;
const problems = [...checked.problems, ...(journal?.problems ?? [])];
const result = {
  ok: problems.length === 0, seed: asked.seed, hosts: hosts.length, lease: asked.lease, faults: faults.counts, failovers: faults.failovers,
  hostStarts: hosts.map((host) => host.starts), ...checked, journal, problems, doubts: workload.inDoubt.slice(0, 20),
};
report(result, asked.out);
for (const host of hosts) if (host.state === 'up') await host.end().catch(() => {});
process.exit(result.ok ? 0 : 1);
