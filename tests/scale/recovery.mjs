// Backup and disaster recovery: the database is lost while runs go on, is restored elsewhere, and the runs go on.
//
//   node tests/scale/recovery.mjs --binary PATH [--way wal|dump] [--runs 400] [--seed 1] [--out FILE]
//
// - wal: pg_basebackup, and pg_receivewal as the synchronous standby. Nothing is lost: every effect is counted once.
// - dump: pg_dump in the midst. Runs are as they were then: calls that were made since are made again with their keys, and
//   runs that began since are unknown, so that their clients start them again. The report counts both.

import { renameSync } from 'node:fs';
import { DumpBackup, LogBackup } from './lib/backup.mjs';
import { Effects } from './lib/effects.mjs';
import { fail, generator, options, report, say, until } from './lib/common.mjs';
import { project, startHosts } from './lib/hosts.mjs';
import { Single } from './lib/postgres.mjs';
import { verifyEffects, verifyJournal } from './lib/verify.mjs';
import { Workload } from './lib/workload.mjs';
import { Workroom } from './lib/workroom.mjs';

const asked = options({ binary: 'agent-spaces', way: 'wal', runs: 400, hosts: 2, seed: 1, lease: 5, minutes: 20, out: '', keep: false });
if (!['wal', 'dump'].includes(asked.way)) fail('--way is wal or dump');
const isLossless = asked.way === 'wal';
const bound = asked.minutes * 60_000;
const workroom = new Workroom(asked.keep);
const effects = await Effects.open(generator(asked.seed));
const first = new Single(workroom, 'pg-first');
await first.start();
const folder = project(workroom, effects.port, { lease: asked.lease });
const hosts = await startHosts(workroom, asked.hosts, { binary: asked.binary, project: folder, database: first });
const backup = isLossless ? new LogBackup(workroom, first) : new DumpBackup(workroom, first);
await backup.begin();
const timings = {};

async function timed(name, work) {
  const begun = Date.now();
  const result = await work();
  timings[name] = Date.now() - begun;
  return result;
}

const workload = new Workload({ hosts, effects, runs: asked.runs, seed: asked.seed, window: 24 });
const done = workload.execute(Date.now() + bound);
await until('some runs ended', bound, () => workload.ended > asked.runs * 0.3);
await timed('backupMs', () => backup.take());
const requestsAtBackup = effects.arrivals.length;
say(`the backup is done: ${JSON.stringify(timings)}`);
await until('more runs ended', bound, () => workload.ended > asked.runs * 0.6);

// The disaster: the server and its disk are gone, and the hosts too.
const lost = Date.now();
await first.kill();
for (const host of hosts) await host.kill();
renameSync(first.data, `${first.data}-lost`);
const told = [...workload.items.values()].filter((item) => item.id).map((item) => item.id);
const requestsAtLoss = effects.arrivals.length;
say('the database is lost');

const second = await timed('restoreMs', () => backup.restore());
const known = new Set((await second.sql('SELECT id FROM agent_spaces.runs')).map(([id]) => id));
const unknown = told.filter((id) => !known.has(id));
workload.mayVanish = !isLossless;
for (const host of hosts) {
  await host.move(second);
  host.launch();
}
for (const host of hosts) await host.ready(300_000);
timings.outageMs = Date.now() - lost;
say(`restored: ${known.size} runs are known, ${unknown.length} are not; ${JSON.stringify(timings)}`);
await done;
const checked = verifyEffects(workload, effects, { allowRestarts: !isLossless });
const journal = await verifyJournal(second, { arrivals: isLossless ? effects.arrivals : [] });
const problems = [...checked.problems.filter((text) => isLossless || !/ is lost /.test(text)), ...journal.problems];
if (isLossless && unknown.length > 0) problems.push(`${unknown.length} runs that clients were told about are unknown`);
const requests = { ...checked.requests, betweenBackupAndLoss: requestsAtLoss - requestsAtBackup };
report({ ok: problems.length === 0, way: asked.way, timings, toldRuns: told.length, unknownRuns: unknown.length, ...checked, requests, journal, problems }, asked.out);
for (const host of hosts) await host.end().catch(() => {});
process.exit(problems.length === 0 ? 0 : 1);
