import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { desk } from '../desk.mjs';

const guest = readFileSync(new URL('../deno-guest.js', import.meta.url), 'utf8');

export default {
  name: 'deno',
  title: 'deno, a process without permissions to each run',
  isolation: 'process',
  packages: ['deno'],
  cannot: ({ name }) => (name === 'waiting' ? 'it would be a thousand processes at once, and a hundred already take seconds' : null),
  async open(workload) {
    const folder = mkdtempSync(join(tmpdir(), 'deno-'));
    const file = join(folder, 'script.js');
    writeFileSync(file, guest.replace('EXPRESSION', () => workload.expression.trim()));
    const env = { ...process.env, DENO_DIR: folder, DENO_NO_UPDATE_CHECK: '1' };
    const start = () => spawn(binary(), ['run', '--quiet', '--no-prompt', file], { env, stdio: ['pipe', 'pipe', 'inherit'] });
    return {
      async fresh() {
        const child = start();
        return {
          async evaluate() {
            const { answer, microseconds } = await lastLine(child);
            this.microseconds = microseconds;
            return answer;
          },
          dispose: () => ended(child),
        };
      },
      close: () => rmSync(folder, { recursive: true }),
    };
  },
};

function binary() {
  const suffix = process.platform === 'linux' ? '-glibc' : '';
  const name = `@deno/${process.platform}-${process.arch}${suffix}/package.json`;
  return join(dirname(createRequire(import.meta.url).resolve(name)), process.platform === 'win32' ? 'deno.exe' : 'deno');
}

// A line is either a call, which is answered with a line, or the answer of the script.
async function lastLine(child) {
  for await (const line of createInterface({ input: child.stdout })) {
    const message = JSON.parse(line);
    if (!('call' in message)) return message;
    desk[message.call](message.params).then((answer) => child.stdin.write(`${JSON.stringify({ id: message.id, answer })}\n`));
  }
  throw new Error('deno ended without an answer');
}

function ended(child) {
  if (child.exitCode !== null) return undefined;
  return new Promise((resolve) => child.once('exit', resolve));
}
