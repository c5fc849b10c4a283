// Claude Code as a command that answers one question.
import { spawn } from 'node:child_process';

const SECONDS = 100;

// Asks a question and returns the result that it prints as JSON, also that of a failure.
export async function claude(args, { env, cwd }) {
  const settings = {
    ...process.env,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    DISABLE_TELEMETRY: '1',
    CLAUDE_CODE_MAX_RETRIES: '1',
    ...env,
  };
  const child = spawn(process.env.CLAUDE, ['-p', '--output-format', 'json', ...args], { cwd, env: settings, stdio: ['ignore', 'pipe', 'pipe'] });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (text) => (stdout += text));
  child.stderr.on('data', (text) => (stderr += text));
  const timer = setTimeout(() => child.kill('SIGKILL'), SECONDS * 1000);
  const status = await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve));
  clearTimeout(timer);
  try {
    return JSON.parse(stdout);
  } catch {
    throw new Error(`claude ended with ${status ?? 'a signal'}\nstdout: ${stdout.slice(-1500)}\nstderr: ${stderr.slice(-1500)}`);
  }
}
