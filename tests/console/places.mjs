// Data of every kind, and every place of the console that shows some.
import { SHOP } from './server.mjs';

export async function fill(server) {
  const space = await server.space('order 4711');
  const finished = await server.run(space, 'console.log("adding"); console.warn("careful"); export default { sum: 42, list: [1, 2, 3] }', { name: 'adding.ts' });
  const failed = await server.run(space, 'const order = undefined;\nexport default order.total', { name: 'broken.ts' });
  const waiting = await server.waiting(space);
  const own = await server.space('space of the shop', SHOP);
  await server.waiting(own, 'bob', { token: SHOP });
  const decided = await server.waiting(space, 'eve');
  await server.api('POST', `/v1/approvals/${decided.approvals[0].id}/decision`, { decision: 'deny', reason: 'nobody knows eve' });
  const write = await fetch(`${server.url}/v1/spaces/${space}/files/notes/today.md`, { method: 'PUT', headers: { authorization: `Bearer ${server.environment.AGENT_SPACES_TOKEN}` }, body: '# Today\n' });
  if (!write.ok) throw new Error(`the file was not written: ${write.status} ${await write.text()}`);
  const asked = await server.api('POST', '/v1/helper', { question: 'What can you do?' });
  return { space, finished, failed, waiting, approval: waiting.approvals[0], session: asked.session };
}

export function places({ space, finished, failed, waiting, approval, session }) {
  return {
    runs: '#/runs',
    'run-finished': `#/runs/${finished.id}`,
    'run-failed': `#/runs/${failed.id}`,
    'run-waiting': `#/runs/${waiting.id}`,
    approvals: '#/approvals',
    approval: `#/approvals/${approval.id}`,
    spaces: '#/spaces',
    space: `#/spaces/${space}`,
    capabilities: `#/capabilities?space=${space}`,
    capability: `#/capabilities/bank?space=${space}`,
    playground: `#/playground?space=${space}`,
    'playground-of-run': `#/playground?space=${space}&run=${finished.id}`,
    agents: '#/agents',
    agent: '#/agents/helper',
    'agent-session': `#/agents/helper?session=${session}`,
    audit: '#/audit',
    servers: '#/servers',
    unknown: '#/nothing',
  };
}
