// Small parts that all scripts share: options, a seeded generator, waiting, commands, reports.

import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { dirname } from 'node:path';

const begun = Date.now();

/** Writes a line with the seconds since the start to stderr; stdout is for results. */
export function say(text) {
  process.stderr.write(`${((Date.now() - begun) / 1000).toFixed(1).padStart(7)} ${text}\n`);
}

/**
 * Reads `--name value` and `--flag`. `known` has the defaults: a boolean is a flag, a number must be one.
 * An unknown option ends the program.
 */
export function options(known) {
  const read = { ...known };
  const words = process.argv.slice(2);
  while (words.length > 0) {
    const word = words.shift();
    const [name, joined] = word.replace(/^--/, '').split(/=(.*)/s);
    const key = name.replace(/-([a-z])/g, (_, letter) => letter.toUpperCase());
    if (!word.startsWith('--') || !(key in known)) fail(`unknown option ${word}; known: ${Object.keys(known).map(dashed).join(' ')}`);
    if (typeof known[key] === 'boolean') {
      read[key] = joined !== 'false';
      continue;
    }
    const value = joined ?? words.shift();
    if (value === undefined) fail(`${word} needs a value`);
    read[key] = typeof known[key] === 'number' ? Number(value) : value;
    if (Number.isNaN(read[key])) fail(`${word} needs a number`);
  }
  return read;
}

function dashed(key) {
  return `--${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

export function fail(text) {
  process.stderr.write(`${text}\n`);
  process.exit(2);
}

/** Generator of numbers that a seed determines (mulberry32). */
export function generator(seed) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  return {
    next,
    between: (least, most) => least + next() * (most - least),
    below: (count) => Math.floor(next() * count),
    pick: (list) => list[Math.floor(next() * list.length)],
  };
}

export const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

/** Asks until the answer is neither false nor an error. Fails after `ms`. */
export async function until(what, ms, ask, every = 200) {
  const end = Date.now() + ms;
  let last;
  for (;;) {
    try {
      const answer = await ask();
      if (answer) return answer;
      last = undefined;
    } catch (error) {
      last = error;
    }
    if (Date.now() > end) throw new Error(`${what}: not within ${ms} ms${last ? `: ${last.message}` : ''}`);
    await sleep(every);
  }
}

/** Runs a program and returns its output. */
export function run(program, words, { input, timeout = 60_000, ...rest } = {}) {
  return new Promise((done, failed) => {
    const child = execFile(program, words, { timeout, killSignal: 'SIGKILL', maxBuffer: 256 << 20, ...rest }, (error, stdout, stderr) => {
      if (error) failed(new Error(`${program} ${words.slice(0, 4).join(' ')}: ${stderr.trim().slice(-2000) || error.message}`));
      else done(stdout);
    });
    child.stdin.on('error', () => {});
    child.stdin.end(input ?? '');
  });
}

export async function freePort() {
  const server = net.createServer();
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address();
  await new Promise((done) => server.close(done));
  return port;
}

/** Returns a value below which a share of the values lies. */
export function percentile(values, share) {
  if (values.length === 0) return null;
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
}

export function summary(values) {
  const round = (value) => (value === null ? null : Math.round(value * 10) / 10);
  return {
    count: values.length,
    p50: round(percentile(values, 0.5)),
    p95: round(percentile(values, 0.95)),
    p99: round(percentile(values, 0.99)),
    max: round(percentile(values, 1)),
  };
}

/** Prints a result as JSON, and writes it to a file if one is named. */
export function report(result, file) {
  const text = `${JSON.stringify(result, null, 2)}\n`;
  process.stdout.write(text);
  if (file) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}

/** Returns a table in Markdown. */
export function table(columns, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  return [line(columns), line(columns.map((_, index) => (index === 0 ? '---' : '---:'))), ...rows.map(line)].join('\n');
}
