// `agent-spaces serve` with the project of these tests, and a person who decides.
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const repository = fileURLToPath(new URL('../../', import.meta.url));
const OPERATOR = 'token-of-the-operator-of-edges';
export const TOKEN = 'token-of-the-edge-and-its-plugs';
export const NARROW_TOKEN = 'token-of-an-edge-with-less';

/** Copies the project and the capabilities of the examples; returns its folder and its environment. */
export function makeProject(folder) {
  const project = join(folder, 'project');
  cpSync(join(repository, 'tests/edges/project'), project, { recursive: true });
  for (const example of ['quickstart', 'company-crm']) cpSync(join(repository, 'examples', example, 'capabilities'), join(project, 'capabilities'), { recursive: true });
  const home = join(folder, 'home');
  mkdirSync(home, { recursive: true });
  const own = { HOME: home, XDG_CONFIG_HOME: join(home, 'config'), XDG_CACHE_HOME: join(home, 'cache'), XDG_STATE_HOME: join(home, 'state'), XDG_DATA_HOME: join(home, 'data') };
  const environment = { PATH: process.env.PATH, ...own, AGENT_SPACES_DATA: join(folder, 'data'), AGENT_SPACES_TOKEN: OPERATOR, EDGE_TOKEN: TOKEN, NARROW_TOKEN };
  return { project, environment };
}

export async function startServer(binary, { project, environment }) {
  const trusted = spawnSync(binary, ['trust', 'agent-spaces.config.json'], { cwd: project, env: environment, encoding: 'utf8' });
  if (trusted.status !== 0) throw new Error(`the configuration was not accepted:\n${trusted.stderr}`);
  const child = spawn(binary, ['serve', '--listen', '127.0.0.1:0', '--json'], { cwd: project, env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
  let log = '';
  child.stderr.on('data', (text) => (log += text));
  const gone = new Promise((resolve) => child.once('close', resolve));
  const failed = gone.then(() => Promise.reject(new Error(`the server did not start:\n${log}`)));
  failed.catch(() => {});
  const line = new Promise((resolve) => createInterface(child.stdout).once('line', resolve));
  const url = new URL(JSON.parse(await Promise.race([line, failed])).url).origin;
  const api = async (path, { token = OPERATOR, ...init } = {}) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const response = await fetch(url + path, { ...init, headers, body: init.body && JSON.stringify(init.body) });
    return { status: response.status, body: await response.json() };
  };
  return {
    url,
    api,
    async stop() {
      child.kill('SIGTERM');
      await gone;
    },
  };
}

/** Decides on every call that waits, until it is stopped; returns the functions that waited. */
export function person(api, decision) {
  const seen = [];
  let isOver = false;
  const work = (async () => {
    while (!isOver) {
      const { body } = await api('/v1/approvals?status=pending');
      for (const { id, function: name } of body.items) {
        seen.push(name);
        await api(`/v1/approvals/${id}/decision`, { method: 'POST', body: { decision, by: 'ann', reason: 'tested' } });
      }
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  })();
  return async () => {
    isOver = true;
    await work;
    return seen;
  };
}
