// Upgrade under load: hosts of an old and a new version side by side on one store.
//
//   node tests/scale/upgrade.mjs --old PATH --new PATH [--runs 600] [--parked 20] [--seed 1] [--out FILE]
//
// 1. Runs parked by the old version are finished by the new one, while no old host is there.
// 2. Runs parked by the new version are finished by the old one, while no new host is there.
// 3. A load goes on while old hosts are replaced by new ones, one after the other.

import { Effects } from './lib/effects.mjs';
import { generator, options, report, run, say, sleep, until } from './lib/common.mjs';
import { addHost, project } from './lib/hosts.mjs';
import { database } from './lib/postgres.mjs';
import { verifyEffects, verifyJournal } from './lib/verify.mjs';
import { Workload } from './lib/workload.mjs';
import { Workroom } from './lib/workroom.mjs';

const asked = options({ old: '', new: '', runs: 600, parked: 20, seed: 1, lease: 5, minutes: 20, standby: false, out: '', keep: false });
const workroom = new Workroom(asked.keep);
const effects = await Effects.open(generator(asked.seed));
const store = await database(workroom, { single: !asked.standby });
const folder = project(workroom, effects.port, { lease: asked.lease });
const versions = {};
for (const which of ['old', 'new']) versions[which] = (await run(asked[which], ['--version'])).trim();
say(JSON.stringify(versions));
const problems = [];
let [offset, hostNumber, firstHost] = [0, 0, undefined];

async function host(which) {
  hostNumber += 1;
  const made = await addHost(workroom, hostNumber, { binary: asked[which], project: folder, database: store }, firstHost);
  firstHost ??= made;
  return made;
}

function load(hosts, runs, mix, name) {
  const base = offset;
  offset += runs;
  const workload = new Workload({ hosts, effects, runs, seed: asked.seed, window: 24, mix, prefix: name });
  const input = workload.input.bind(workload);
  workload.input = (number) => ({ ...input(number), run: base + number });
  workload.base = base;
  return workload;
}

function verified(workload) {
  const shift = (item) => ({ ...item, number: workload.base + item.number });
  const items = new Map([...workload.items.values()].map((item) => [workload.base + item.number, shift(item)]));
  const found = verifyEffects({ ...workload, items, inDoubt: workload.inDoubt.map(shift) }, effects);
  problems.push(...found.problems);
  return { runs: found.runs, states: found.states, effects: found.effects, inDoubt: found.inDoubt, refusals: found.refusals, seconds: found.seconds };
}

/** Runs that wait for a person are parked by one version and finished by the other. */
async function crossed(from, to) {
  const parker = await host(from);
  const hosts = [parker];
  const workload = load(hosts, asked.parked, { sleeps: 0, asks: 1 }, `${from}-${to}`);
  workload.withholds = true;
  const done = workload.execute(Date.now() + asked.minutes * 60_000);
  await until('all are parked', 120_000, async () => {
    const [[count]] = await store.sql("SELECT count(*) FROM agent_spaces.runs WHERE status = 'parked'");
    return Number(count) >= asked.parked;
  });
  const endedMs = await parker.end();
  const finisher = await host(to);
  hosts.splice(0, 1, finisher);
  workload.withholds = false;
  await done;
  await finisher.end();
  return { ...verified(workload), endedMs };
}

const parkedByOld = await crossed('old', 'new');
say(`parked by old, finished by new: ${JSON.stringify(parkedByOld.states)}`);
const parkedByNew = await crossed('new', 'old');
say(`parked by new, finished by old: ${JSON.stringify(parkedByNew.states)}`);

const hosts = [await host('old'), await host('old')];
const workload = load(hosts, asked.runs, undefined, 'rolling');
const done = workload.execute(Date.now() + asked.minutes * 60_000);
const drains = [];
for (const share of [0.25, 0.55]) {
  await until('some runs ended', asked.minutes * 60_000, () => workload.ended >= asked.runs * share);
  const added = await host('new');
  const leaving = hosts.find((one) => one.binary === asked.old);
  hosts.push(added);
  await sleep(1000);
  hosts.splice(hosts.indexOf(leaving), 1);
  drains.push(await leaving.end());
  say(`${leaving.name} was replaced by ${added.name}; it ended after ${drains.at(-1)} ms`);
}
await done;
const rolling = { ...verified(workload), drainsMs: drains };
const journal = await verifyJournal(store, effects);
problems.push(...journal.problems);
report({ ok: problems.length === 0, versions, parkedByOld, parkedByNew, rolling, journal, problems }, asked.out);
for (const one of hosts) await one.end().catch(() => {});
process.exit(problems.length === 0 ? 0 : 1);
