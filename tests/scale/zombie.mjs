// A host that is stopped (SIGSTOP) for longer than its lease and continued must write nothing and send nothing.
//
// Rounds: runs are started at host 1; it is stopped in their midst; host 2 ends all of them; host 1 is continued and watched.
//
//   node tests/scale/zombie.mjs --binary PATH [--rounds 5] [--runs 60] [--lease 3] [--seed 1] [--out FILE]

import { Effects } from './lib/effects.mjs';
import { generator, options, report, say, sleep, until } from './lib/common.mjs';
import { project, startHosts } from './lib/hosts.mjs';
import { database } from './lib/postgres.mjs';
import { verifyEffects, verifyJournal } from './lib/verify.mjs';
import { Workload } from './lib/workload.mjs';
import { Workroom } from './lib/workroom.mjs';

const asked = options({ binary: 'agent-spaces', rounds: 5, runs: 60, lease: 3, seed: 1, watch: 12, standby: false, out: '', keep: false });
const random = generator(asked.seed);
const workroom = new Workroom(asked.keep);
const effects = await Effects.open(generator(asked.seed ^ 0xeffec7), [5, 60]);
const store = await database(workroom, { single: !asked.standby });
const folder = project(workroom, effects.port, { lease: asked.lease });
const [first, second] = await startHosts(workroom, 2, { binary: asked.binary, project: folder, database: store });
const S = 'agent_spaces';

/** Everything that a write would change. */
async function state() {
  const [[runs]] = await store.sql(`SELECT coalesce(md5(string_agg(id || epoch || status || next_seq || updated || coalesce(owner, ''), ',' ORDER BY id)), '') FROM ${S}.runs`);
  const [[entries, changes]] = await store.sql(`SELECT (SELECT count(*) FROM ${S}.entries), (SELECT sum(changes) FROM ${S}.usage)`);
  return { runs, entries, changes, arrivals: effects.arrivals.length };
}

const rounds = [];
const problems = [];
for (let round = 0; round < asked.rounds; round += 1) {
  const hosts = [first];
  const workload = new Workload({ hosts, effects, runs: asked.runs, seed: asked.seed * 1000 + round, window: 40, mix: { sleeps: 0, asks: 0 }, prefix: `zombie-${round}` });
  // Numbers of runs differ from round to round, since effects are counted by them.
  const input = workload.input.bind(workload);
  workload.input = (number) => ({ ...input(number), run: round * asked.runs + number });
  const done = workload.execute(Date.now() + 300_000);
  await until('some effects', 60_000, () => effects.arrivals.length > round * asked.runs * 3 + 20 + random.below(60), 5);
  const owned = await store.sql(`SELECT id, epoch FROM ${S}.runs WHERE status = 'running'`);
  first.stop();
  const stopped = Date.now();
  hosts.splice(0, 1, second);
  await done;
  const away = Date.now() - stopped;
  const taken = (await store.sql(`SELECT id, epoch FROM ${S}.runs`)).filter(([id, epoch]) => owned.some(([other, before]) => other === id && Number(epoch) > Number(before))).length;
  if (away < asked.lease * 1000) await sleep(asked.lease * 1000 - away);
  // What host 2 still has to write: it prunes, and notes ends.
  await sleep(2000);
  const before = await state();
  first.continue();
  await sleep(asked.watch * 1000);
  const after = await state();
  const late = effects.arrivals.slice(before.arrivals);
  const isSame = before.runs === after.runs && before.entries === after.entries && late.length === 0;
  const failures = verifyOf(workload, round);
  rounds.push({ ownedWhenStopped: owned.length, takenOver: taken, stoppedMs: Date.now() - stopped, wroteEntries: after.entries - before.entries, changedRuns: before.runs !== after.runs, otherWrites: after.changes - before.changes, sent: late.length, inDoubt: workload.inDoubt.length, isSame });
  say(JSON.stringify(rounds.at(-1)));
  if (!isSame) problems.push(`round ${round}: the host that was stopped wrote or sent: ${JSON.stringify(rounds.at(-1))}`);
  problems.push(...failures);
  // It is of use again.
  await first.ready(60_000);
}
function verifyOf(workload, round) {
  const shifted = { ...workload, items: new Map([...workload.items.values()].map((item) => [item.number, { ...item, number: round * asked.runs + item.number }])), inDoubt: workload.inDoubt.map((doubt) => ({ ...doubt, number: round * asked.runs + doubt.number })) };
  return verifyEffects(shifted, effects).problems;
}
const journal = await verifyJournal(store, effects);
problems.push(...journal.problems);
report({ ok: problems.length === 0, lease: asked.lease, rounds, journal, problems }, asked.out);
process.exit(problems.length === 0 ? 0 : 1);
