// Numbers of the quiet tenant, alone and beside the noise, and where the time went.

import { readFileSync } from 'node:fs';
import os from 'node:os';
import { generator, percentile, summary } from './common.mjs';
import { cpuSeconds, descendants } from './workroom.mjs';

/** Samples that are drawn for an interval. */
const DRAWS = 400;

const tenth = (value) => Math.round(value * 10) / 10;
const percent = (alone, beside) => tenth((beside / alone - 1) * 100);

/**
 * Parts of each run's time: from the request to the first call, between the calls, and from the answer of the last one to
 * that of the run. Clocks of two processes on one machine, in whole milliseconds.
 */
export function parts(samples, arrivals, delay) {
  const runs = new Map();
  for (const { run, step, at } of arrivals) {
    const steps = runs.get(run) ?? {};
    steps[step] ??= at;
    runs.set(run, steps);
  }
  return samples.flatMap(({ run, at, ms }) => {
    const steps = runs.get(run);
    if (!steps?.[1] || !steps[2] || !steps[3]) return [];
    const first = Math.min(steps[1], steps[2]);
    return [{ start: first - at, calls: steps[3] - first - delay, end: at + ms - steps[3] - delay }];
  });
}

/** One row of the report, from phases alone and phases beside the noise. */
export function changes(noise, alone, beside, seed) {
  const times = (phases) => phases.flatMap(({ samples }) => samples.map(({ ms }) => ms));
  const [first, second] = [times(alone), times(beside)];
  const [before, after] = [summary(first), summary(second)];
  const failures = {};
  const count = (name, more = 1) => (failures[name] = (failures[name] ?? 0) + more);
  for (const { samples, unsent } of [...alone, ...beside]) {
    samples.forEach(({ failure }) => failure && count(failure));
    if (unsent > 0) count('not sent', unsent);
  }
  const part = (name) => ({ alone: summary(values(alone, name)), beside: summary(values(beside, name)) });
  const worst = (phases, read) => Math.max(...phases.map(read));
  const lag = (read) => ({ alone: worst(alone, read), beside: worst(beside, read) });
  return {
    noise,
    alone: before,
    beside: after,
    change: Object.fromEntries(['p50', 'p95', 'p99'].map((name) => [name, percent(before[name], after[name])])),
    interval: interval(first, second, generator(seed)),
    rounds: beside.map((phase, index) => ({ before: p99(alone[index]), beside: p99(phase), after: p99(alone[index + 1]) })),
    failures,
    load: load(beside.map((phase) => phase.noise)),
    parts: { start: part('start'), calls: part('calls'), end: part('end') },
    sentLateMs: { alone: summary(values(alone, 'late', 'samples')), beside: summary(values(beside, 'late', 'samples')) },
    lagMs: { quiet: lag((phase) => phase.lagMs.p99), effects: lag((phase) => phase.lagOfEffectsMs.p99), noise: worst(beside, (phase) => phase.noise.lagMs.p99) },
    // Times of statements in the server: if they stay the same, the rest is spent in queues of the host.
    statements: { alone: mean(alone.map(({ statements }) => statements)), beside: mean(beside.map(({ statements }) => statements)) },
    cores: { alone: mean(alone.map(({ cores }) => cores)), beside: mean(beside.map(({ cores }) => cores)) },
  };
}

function values(phases, name, list = 'parts') {
  return phases.flatMap((phase) => phase[list].map((item) => item[name]));
}

/** 99th percentile of a phase. */
export function p99({ samples }) {
  return tenth(percentile(samples.map(({ ms }) => ms), 0.99));
}

/** Between what the change of p99 is in nine of ten samples that are drawn from those measured. */
function interval(alone, beside, random) {
  const draw = (list) => percentile(Array.from(list, () => random.pick(list)), 0.99);
  const drawn = Array.from({ length: DRAWS }, () => percent(draw(alone), draw(beside)));
  return { low: percentile(drawn, 0.05), high: percentile(drawn, 0.95) };
}

/** What the noise was. */
function load(phases) {
  const seconds = phases.reduce((sum, phase) => sum + phase.seconds, 0);
  const answers = {};
  for (const phase of phases) for (const [name, number] of Object.entries(phase.answers)) answers[name] = (answers[name] ?? 0) + number;
  const all = Object.values(answers).reduce((sum, number) => sum + number, 0);
  const megabytes = phases.reduce((sum, phase) => sum + phase.megabytes, 0);
  return {
    perSecond: tenth(all / seconds), refused: all > 0 ? tenth(((answers[429] ?? 0) / all) * 100) : 0, megabytesPerSecond: tenth(megabytes / seconds),
    waiting: Math.max(...phases.map(({ waiting }) => waiting)), answers,
  };
}

function mean(list) {
  const names = Object.keys(list[0] ?? {});
  return Object.fromEntries(names.map((name) => [name, Math.round((list.reduce((sum, item) => sum + item[name], 0) / list.length) * 100) / 100]));
}

/** Statements of the hosts, as the server counts them; its commits are not in these times. */
export class Statements {
  constructor(store, schema) {
    Object.assign(this, { store, schema });
  }

  async begin() {
    await this.store.sql('SELECT pg_stat_statements_reset()');
    this.begun = Date.now();
  }

  async end() {
    const seconds = (Date.now() - this.begun) / 1000;
    const [[calls, ms]] = await this.store.sql(`SELECT coalesce(sum(calls), 0), coalesce(sum(total_exec_time), 0) FROM pg_stat_statements WHERE query LIKE '%${this.schema}.%'`);
    return { perSecond: Number(calls) / seconds, meanMs: Number(calls) > 0 ? Number(ms) / Number(calls) : 0 };
  }
}

/** Processors that groups of processes use, those of the database, and those of everything else on the machine. */
export class Cpu {
  /** `groups` are functions that return the processes. */
  constructor(groups, store) {
    Object.assign(this, { groups, store });
  }

  read() {
    const used = Object.fromEntries(Object.entries(this.groups).map(([name, pids]) => [name, cpuSeconds(pids())]));
    used.database = cpuSeconds(descendants(this.store.pids()));
    const [user, nice, system, idle, waiting, interrupt, soft, steal] = readFileSync('/proc/stat', 'utf8').split('\n')[0].split(/\s+/).slice(1).map((ticks) => Number(ticks) / 100);
    return { at: Date.now(), used, busy: user + nice + system + interrupt + soft, idle: idle + waiting, steal };
  }

  /** Cores in use since then. */
  since(before) {
    const now = this.read();
    const seconds = (now.at - before.at) / 1000;
    const cores = Object.fromEntries(Object.keys(now.used).map((name) => [name, Math.max(0, now.used[name] - before.used[name]) / seconds]));
    const ours = Object.values(cores).reduce((sum, value) => sum + value, 0);
    return { ...cores, others: Math.max(0, (now.busy - before.busy) / seconds - ours), idle: (now.idle - before.idle) / seconds, steal: (now.steal - before.steal) / seconds, of: os.cpus().length };
  }
}
