#!/usr/bin/env node
// Runs a program that `edge.mjs javascript` built, in a thread that is ended when its time is over:
//
//   AGENT_SPACES_URL=… AGENT_SPACES_TOKEN=… node node.mjs FOLDER [--timeout SECONDS]
//
// stdout is the program's value as JSON; its console goes to stderr. Exit status: 0 a value, 1 an error, 2 wrong usage, 3 out of time.
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads';

const DEFAULT_TIMEOUT_SECONDS = '300';
const OUT_OF_TIME = 3;

if (isMainThread) main();
else work();

function main() {
  const { values, positionals } = parseArgs({ options: { timeout: { type: 'string', default: DEFAULT_TIMEOUT_SECONDS } }, allowPositionals: true });
  if (positionals.length !== 1 || !(Number(values.timeout) > 0)) {
    console.error('usage: node.mjs FOLDER [--timeout SECONDS]');
    process.exit(2);
  }
  const { AGENT_SPACES_URL: url, AGENT_SPACES_TOKEN: token, AGENT_SPACES_SPACE: space, AGENT_SPACES_EDGE_KEY: key, AGENT_SPACES_EDGE_WAIT: waitSeconds } = process.env;
  const folder = resolve(positionals[0]);
  // The thread has no variables: the program cannot reach them, and its plugs get what they need.
  const worker = new Worker(new URL(import.meta.url), { workerData: { folder, options: { url, token, space, key, waitSeconds } }, env: {} });
  const timer = setTimeout(() => end(worker, OUT_OF_TIME, `the program ran for more than ${values.timeout} seconds`), Number(values.timeout) * 1000);
  worker.on('message', ({ stream, text, status }) => {
    if (status === undefined) process[stream].write(text);
    else {
      clearTimeout(timer);
      end(worker, status);
    }
  });
  worker.on('error', (error) => end(worker, 1, error.message));
}

function end(worker, status, message) {
  if (message !== undefined) console.error(message);
  process.exitCode = status;
  worker.terminate();
}

async function work() {
  const { folder, options } = workerData;
  const base = pathToFileURL(`${folder}/`);
  const { run, ProgramError } = await import(new URL('run.js', base).href);
  const write = (stream, text) => parentPort.postMessage({ stream, text });
  try {
    await run({ base, ...options, load: (url) => readFile(url), write });
    parentPort.postMessage({ status: 0 });
  } catch (error) {
    // The program has written its own error.
    if (!(error instanceof ProgramError)) write('stderr', `${error.message}\n`);
    parentPort.postMessage({ status: 1 });
  }
}
