// Checks of a client: each prints one line.
import { spawn } from 'node:child_process';

export const { CLIENT, SERVER, TOKEN, MODEL, FOLDER } = process.env;

// Whole text on one line, within bounds.
function shown(seen) {
  const text = (typeof seen === 'string' ? seen : JSON.stringify(seen)) ?? '';
  return text.replace(/\s+/g, ' ').slice(0, 200);
}

// Runs one check, which returns what it saw.
export async function check(name, body) {
  try {
    console.log(`PASS ${CLIENT}: ${name}: ${shown(await body())}`);
  } catch (error) {
    console.log(`FAIL ${CLIENT}: ${name}: ${(error?.stack ?? String(error)).replace(/\n/g, '\n     ').slice(0, 3000)}`);
    process.exitCode = 1;
  }
}

// Runs a program to its end and returns its output. Fails if the program does.
export async function program(file, args, { env = {}, cwd = FOLDER, seconds = 90 } = {}) {
  const child = spawn(file, args, { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (text) => (stdout += text));
  child.stderr.on('data', (text) => (stderr += text));
  const timer = setTimeout(() => child.kill('SIGKILL'), seconds * 1000);
  const status = await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve));
  clearTimeout(timer);
  if (status !== 0) throw new Error(`the program ended with ${status ?? 'a signal'}\nstdout: ${stdout.slice(-1500)}\nstderr: ${stderr.slice(-1500)}`);
  return stdout;
}

// Settings of an SDK that counts its requests.
export function counted() {
  const state = { requests: 0 };
  state.fetch = (...args) => {
    state.requests += 1;
    return fetch(...args);
  };
  return state;
}

// A tool of the caller, as JSON Schema.
export const WEATHER = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false };
