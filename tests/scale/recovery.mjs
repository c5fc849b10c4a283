// Backup and disaster recovery: the database is lost while runs go on, is restored elsewhere, and the runs go on.
//
//   node tests/scale/recovery.mjs --binary PATH [--way wal|dump] [--runs 400] [--seed 1] [--out FILE]
//
// - wal: pg_basebackup, and pg_receivewal as the synchronous standby. Nothing is lost: every effect is counted once.
// - dump: pg_dump in the midst. Runs are as they were then: calls that were made since are made again with their keys, and
//   runs that began since are unknown, so that their clients start them again. The report counts both.

import { cpSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Effects } from './lib/effects.mjs';
import { generator, options, report, run, say, sleep, until } from './lib/common.mjs';
import { project, startHosts } from './lib/hosts.mjs';
import { BIN, DATABASE, Single } from './lib/postgres.mjs';
import { verifyEffects, verifyJournal } from './lib/verify.mjs';
import { Workload } from './lib/workload.mjs';
import { Workroom } from './lib/workroom.mjs';

const asked = options({ binary: 'agent-spaces', way: 'wal', runs: 400, hosts: 2, seed: 1, lease: 5, minutes: 20, out: '', keep: false });
const workroom = new Workroom(asked.keep);
const effects = await Effects.open(generator(asked.seed));
const first = new Single(workroom, 'pg-first');
await first.start();
const folder = project(workroom, effects.port, { lease: asked.lease });
const hosts = await startHosts(workroom, asked.hosts, { binary: asked.binary, project: folder, database: first });
const rights = first.user ? { uid: first.user.uid, gid: first.user.gid } : {};
const at = (server) => ['-h', '127.0.0.1', '-p', String(server.port), '-U', 'postgres'];
const backup = workroom.make('backup', first.user);
const timings = {};

async function timed(name, work) {
  const begun = Date.now();
  const result = await work();
  timings[name] = Date.now() - begun;
  return result;
}

let receiver;
if (asked.way === 'wal') {
  const archive = workroom.make('backup/wal', first.user);
  await run(join(BIN, 'pg_receivewal'), [...at(first), '-D', archive, '--slot', 'backup', '--create-slot'], rights);
  const env = { ...process.env, PGAPPNAME: 'backup' };
  receiver = workroom.start('pg_receivewal', join(BIN, 'pg_receivewal'), [...at(first), '-D', archive, '--slot', 'backup', '--synchronous'], { user: first.user, cwd: backup, env });
  await first.sql("ALTER SYSTEM SET synchronous_standby_names = 'backup'", 'postgres');
  await first.sql('SELECT pg_reload_conf()', 'postgres');
  await until('the archive is synchronous', 30_000, async () => (await first.sql("SELECT sync_state FROM pg_stat_replication WHERE application_name = 'backup'"))[0]?.[0] === 'sync');
}

const workload = new Workload({ hosts, effects, runs: asked.runs, seed: asked.seed, window: 24 });
const done = workload.execute(Date.now() + asked.minutes * 60_000);
await until('some runs ended', asked.minutes * 60_000, () => workload.ended > asked.runs * 0.3);
const dump = join(backup, 'dump');
if (asked.way === 'wal') {
  await timed('basebackupMs', () => run(join(BIN, 'pg_basebackup'), [...at(first), '-D', join(backup, 'base'), '-X', 'none', '-c', 'fast'], { ...rights, timeout: 600_000 }));
} else {
  await timed('dumpMs', () => run(join(BIN, 'pg_dump'), [...at(first), '-d', DATABASE, '--schema=agent_spaces', '-Fc', '-f', dump], { ...rights, timeout: 600_000 }));
}
const arrivalsAtBackup = effects.arrivals.length;
say(`the backup is done: ${JSON.stringify(timings)}`);
await until('more runs ended', asked.minutes * 60_000, () => workload.ended > asked.runs * 0.6);

// The disaster: the server and its disk are gone, and the hosts that were connected too.
const lost = Date.now();
await first.kill();
for (const host of hosts) await host.kill();
renameSync(first.data, `${first.data}-lost`);
const startedBefore = new Set([...workload.items.values()].filter((item) => item.id).map((item) => item.id));
say('the database is lost');

const second = new Single(workroom, 'pg-second');
if (asked.way === 'wal') {
  await sleep(1000);
  receiver.kill('SIGINT');
  await receiver.ended;
  await timed('restoreMs', async () => {
    workroom.make('pg-second', first.user);
    const data = workroom.path('pg-second', 'data');
    cpSync(join(backup, 'base'), data, { recursive: true, preserveTimestamps: true });
    const archive = join(backup, 'wal');
    // The segment that was being received counts as well.
    for (const file of readdirSync(archive)) if (file.endsWith('.partial')) renameSync(join(archive, file), join(archive, file.replace('.partial', '')));
    writeFileSync(join(data, 'postgresql.auto.conf'), `restore_command = 'cp ${archive}/%f %p'\nrecovery_target_timeline = 'current'\n`);
    writeFileSync(join(data, 'recovery.signal'), '');
    if (first.user) await run('chown', ['-R', `${first.user.uid}:${first.user.gid}`, data]);
    await run('chmod', ['0700', data]);
    await second.start({ restored: true });
    await until('recovery is over', 300_000, async () => (await second.sql('SELECT pg_is_in_recovery()', 'postgres'))[0][0] === 'f');
  });
} else {
  await timed('restoreMs', async () => {
    await second.start();
    await run(join(BIN, 'pg_restore'), [...at(second), '-d', DATABASE, '--exit-on-error', dump], { ...rights, timeout: 600_000 });
  });
}
const known = new Set((await second.sql('SELECT id FROM agent_spaces.runs')).map(([id]) => id));
const unknown = [...startedBefore].filter((id) => !known.has(id));
workload.mayVanish = asked.way === 'dump';
for (const host of hosts) {
  await host.move(second);
  host.launch();
}
for (const host of hosts) await host.ready(300_000);
timings.outageMs = Date.now() - lost;
say(`restored: ${known.size} runs are known, ${unknown.length} are not; ${JSON.stringify(timings)}`);
await done;
const checked = verifyEffects(workload, effects, { allowRestarts: asked.way === 'dump' });
const journal = await verifyJournal(second, { arrivals: asked.way === 'wal' ? effects.arrivals : [] });
const isLossless = asked.way === 'wal';
const problems = [...checked.problems.filter((text) => isLossless || !/ is lost /.test(text)), ...journal.problems];
if (isLossless && unknown.length > 0) problems.push(`${unknown.length} runs that clients were told about are unknown`);
const requestsSince = effects.arrivals.length - arrivalsAtBackup;
report({ ok: problems.length === 0, way: asked.way, timings, unknownRuns: unknown.length, requestsSinceBackup: requestsSince, ...checked, journal, problems }, asked.out);
for (const host of hosts) await host.end().catch(() => {});
process.exit(problems.length === 0 ? 0 : 1);
