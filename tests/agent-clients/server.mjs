// A project with agents, and `agent-spaces serve` in it.
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

export const TOKEN = 'token-of-the-agent-clients';

const TRAINS = `import { defineTool } from '@agent-spaces/capabilities';

export const trains = defineTool({
  name: 'trains',
  description: 'Trains of a station',
  functions: {
    departures: {
      description: 'Next train of a station',
      parameters: { station: { type: 'string', required: true } },
      returns: {} as { train: string; track: number },
      annotations: { readOnlyHint: true },
      handler: async ({ station }) => ({ train: 'IC-' + station.length * 101, track: 9 }),
    },
    book: {
      description: 'Book a seat',
      parameters: { train: { type: 'string', required: true } },
      returns: {} as { seat: string },
      requiresApproval: true,
      handler: async ({ train }) => ({ seat: train + '/42' }),
    },
  },
});
`;

function configuration(modelUrl) {
  const agent = (description, more) => ({ description, models: ['scripted/m'], prompt: 'You plan journeys.', space: 'travel', ...more });
  return {
    models: { scripted: { api: 'openai-chat', baseUrl: `${modelUrl}/v1`, apiKey: '${MODEL_KEY}', models: { m: { contextWindow: 200000 } } } },
    agents: {
      planner: agent('Plans journeys.', { tools: 'direct' }),
      coder: agent('Plans journeys with programs.', { tools: 'code' }),
      bare: agent('Has no tools of its own.', { tools: 'off' }),
    },
    spaces: { travel: { capabilities: ['./capabilities/trains.ts'] } },
    serve: { callers: { client: { token: { env: 'CLIENT_TOKEN' }, spaces: ['travel'], mayApprove: true } } },
  };
}

// Environment of programs that must see nothing of this user's settings.
export function isolated(folder, more = {}) {
  const home = join(folder, 'home');
  mkdirSync(home, { recursive: true });
  const kept = Object.fromEntries(['PATH', 'LANG', 'TMPDIR', 'SSL_CERT_FILE'].flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])));
  return {
    ...kept,
    HOME: home,
    XDG_CONFIG_HOME: join(home, 'config'),
    XDG_CACHE_HOME: join(home, 'cache'),
    XDG_STATE_HOME: join(home, 'state'),
    XDG_DATA_HOME: join(home, 'data'),
    ...more,
  };
}

// Starts the server for a project in this folder. Its `environment` is also that of `agent-spaces mcp serve` in the same project.
export async function startServer(binary, folder, modelUrl) {
  const project = join(folder, 'project');
  mkdirSync(join(project, 'capabilities'), { recursive: true });
  writeFileSync(join(project, 'capabilities/trains.ts'), TRAINS);
  writeFileSync(join(project, 'agent-spaces.config.json'), JSON.stringify(configuration(modelUrl), null, 2));
  const environment = isolated(folder, { AGENT_SPACES_DATA: join(folder, 'data'), CLIENT_TOKEN: TOKEN, MODEL_KEY: 'sk-scripted' });
  const trusted = spawnSync(binary, ['trust', 'agent-spaces.config.json'], { cwd: project, env: environment, encoding: 'utf8', timeout: 60_000 });
  if (trusted.status !== 0) throw new Error(`the configuration was not accepted:\n${trusted.stderr ?? trusted.error}`);
  const child = spawn(binary, ['serve', '--listen', '127.0.0.1:0', '--space', 'travel', '--json'], { cwd: project, env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
  let log = '';
  child.stderr.on('data', (text) => (log += text));
  const gone = new Promise((resolve) => child.once('close', resolve));
  const failed = gone.then(() => Promise.reject(new Error(`the server did not start:\n${log}`)));
  failed.catch(() => {});
  const line = new Promise((resolve) => createInterface(child.stdout).once('line', resolve));
  const url = new URL(JSON.parse(await Promise.race([line, failed])).url).origin;
  const stop = async () => {
    child.kill('SIGTERM');
    const late = setTimeout(() => child.kill('SIGKILL'), 10_000);
    await gone;
    clearTimeout(late);
  };
  return { url, project, environment, stop, log: () => log };
}
