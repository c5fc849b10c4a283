// The client against a real server: AGENT_SPACES_BINARY=/path/to/agent-spaces node --test tests/server.test.mjs
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { AgentSpaces, ApiError, RunFailed } from '../dist/index.js';
import { BINARY, Server, TOKEN } from './server.mjs';

const options = { skip: BINARY ? false : 'AGENT_SPACES_BINARY does not name a server', timeout: 120_000 };
const LINES = 700;

let server;
let client;
let space;
before(async () => {
  if (!BINARY) return;
  server = await new Server().start();
  client = new AgentSpaces({ url: server.url, token: TOKEN });
  space = await client.spaces.create({
    name: 'my-space',
    capabilities: [
      '@company/internal-sdk',
      'mcp:slack',
      'mcp:github',
    ],
  });
});
after(() => server?.stop());

test('a run returns its value, or throws', options, async () => {
  assert.equal(await space.run(`import input from '@agent-spaces/input'; export default () => 'hello ' + input.name;`, { input: { name: 'Ada' } }), 'hello Ada');
  const names = `import { slack } from '@capabilities/mcp-slack'; export default async () => (await slack.listChannels()).map(({ name }) => name);`;
  assert.deepEqual(await space.run(names), ['random', 'general']);
  await assert.rejects(space.run(`throw new Error('no such customer')`), (error) => error instanceof RunFailed && error.error.message === 'no such customer');
  await assert.rejects(space.run('let = ;'), (error) => error instanceof ApiError && error.status === 422 && error.error.location.line === 1);
  await assert.rejects(client.spaces.create({ name: 'more', capabilities: ['mcp:other'] }), (error) => error.code === 'space.denied');
});

test('a stream cut 100 times, over two crashes of the server: every event once, in order', options, async () => {
  const source = `
    import { crm } from '@company/internal-sdk';
    const print = (word) => { for (let n = 0; n < ${LINES}; n += 1) console.log(word + ' ' + n); };
    export default async () => {
      print('before');
      const ticket = await crm.createTicket({ customerId: 'c-42', subject: 'Refund', priority: 'high' });
      print('between');
      await new Promise((resolve) => setTimeout(resolve, 1500));
      print('after');
      return ticket;
    };`;
  server.proxy.cuts = 80;
  const run = await space.start(source);
  const events = [];
  for await (const event of run.events()) {
    events.push(event);
    if (event.type === 'approvalRequired') {
      assert.equal(server.proxy.cuts, 0);
      await server.crash();
      assert.equal((await client.approvals.approve(event.approvalId, { by: 'ada' })).status, 'approved');
    }
    if (event.type === 'console' && event.text === `between ${LINES - 1}`) {
      // Without cuts, the client is here before the timer of the script fires: the crash meets a run that waits.
      assert.equal((await run.refresh()).ended, false);
      server.proxy.cuts = 20;
      await server.crash();
    }
  }
  assert.equal(server.proxy.cuts, 0);
  assert.deepEqual(events.map(({ seq }) => seq), events.map((_, number) => number));
  const expected = ['before', 'between', 'after'].flatMap((word) => Array.from({ length: LINES }, (_, number) => `${word} ${number}`));
  assert.deepEqual(events.filter(({ type }) => type === 'console').map(({ text }) => text), expected);
  assert.equal(events.at(-1).type, 'runFinished');
  assert.deepEqual(await run.value(), { id: 'tkt_1', customerId: 'c-42', subject: 'Refund', priority: 'high' });
});

test('several runs in one cut stream', options, async () => {
  const source = `import input from '@agent-spaces/input'; export default () => { for (let n = 0; n < 100; n += 1) console.log(input + n); };`;
  const runs = await Promise.all(['a', 'b', 'c'].map((input) => space.start(source, { input })));
  server.proxy.cuts = 20;
  const texts = {};
  for await (const event of client.events(runs.map(({ id }) => id))) if (event.type === 'console') (texts[event.runId] ??= []).push(event.text);
  assert.equal(server.proxy.cuts, 0);
  runs.forEach(({ id }, index) => assert.deepEqual(texts[id], Array.from({ length: 100 }, (_, number) => 'abc'[index] + number)));
});

test('a denied approval, a cancelled run', options, async () => {
  const source = `import { crm } from '@company/internal-sdk'; export default () => crm.createTicket({ customerId: 'c', subject: 's', priority: 'low' });`;
  const denied = await space.start(source);
  for await (const event of denied.events()) {
    if (event.type === 'approvalRequired') assert.equal((await client.approvals.deny(event.approvalId, { reason: 'too many' })).decision.reason, 'too many');
  }
  await assert.rejects(denied.value(), (error) => error instanceof RunFailed && error.run.id === denied.id);
  const cancelled = await space.start(source);
  for await (const event of cancelled.events()) if (event.type === 'approvalRequired') await cancelled.cancel();
  await assert.rejects(cancelled.value(), (error) => error.code === 'run.cancelled');
});

test('files, and lists page by page', options, async () => {
  const first = await space.files.write('data/ü #1?.txt', 'grüße', { ifNoneMatch: '*' });
  assert.equal(first.created, true);
  const file = await space.files.read('data/ü #1?.txt');
  assert.deepEqual([file.text(), file.etag], ['grüße', first.etag]);
  await space.files.write('data/ü #1?.txt', new Uint8Array([0, 255, 10]), { ifMatch: file.etag });
  await assert.rejects(space.files.write('data/ü #1?.txt', 'x', { ifMatch: file.etag }), (error) => error.code === 'precondition');
  assert.equal((await space.files.stat('data/ü #1?.txt')).size, 3);
  for (let number = 0; number < 5; number += 1) await space.files.write(`many/${number}`, String(number));
  assert.deepEqual((await space.files.list({ prefix: 'many/', limit: 2 }).all()).map(({ path }) => path), [0, 1, 2, 3, 4].map((number) => `many/${number}`));
  await space.files.delete('data/ü #1?.txt');
  await assert.rejects(space.files.read('data/ü #1?.txt'), (error) => error.status === 404);
  const listed = await client.runs.list({ space: space.id, limit: 2 }).all();
  assert.equal(new Set(listed.map(({ id }) => id)).size, listed.length);
  assert.ok(listed.length > 4);
});

test('programs, capabilities, updates of a space', options, async () => {
  const { version } = await client.programs.publish({ name: 'report', source: 'export default () => 1', description: 'One' });
  assert.equal((await client.programs.publish({ name: 'report', source: 'export default () => 1' })).version, version);
  assert.equal(await space.run({ program: `report@${version}` }), 1);
  assert.equal((await client.programs.version('report', version)).source, 'export default () => 1');
  assert.equal((await client.programs.get('report')).description, 'One');
  await client.programs.delete('report');
  assert.ok(Array.isArray(await client.audit.list().all(5)));
  assert.equal((await client.capabilities.search('ticket', { space: space.id }))[0].name, 'crm.createTicket');
  assert.match((await client.capabilities.get('crm', { space: space.id })).declarations, /createTicket/);
  const other = await client.spaces.get(space.id);
  await space.update({ name: 'renamed', limits: { timeMs: 5000 } });
  assert.equal(space.info.limits.timeMs, 5000);
  await assert.rejects(other.update({ name: 'late' }), (error) => error.code === 'precondition');
  const gone = await client.spaces.create({ name: 'gone', ttlSeconds: 60, webhook: { url: 'https://example.com/hook' } });
  assert.match(gone.info.webhook.secret, /^whsec_/);
  await gone.updateWebhook({ url: 'https://example.org/hook', events: ['run.ended'], enabled: false });
  assert.deepEqual(gone.info.webhook, { url: 'https://example.org/hook', events: ['run.ended'], enabled: false });
  await assert.rejects(gone.updateWebhook({ url: 'https://127.0.0.1/' }), (error) => error.code === 'request.invalid');
  await gone.delete();
  await assert.rejects(client.spaces.get(gone.id), (error) => error.code === 'not_found');
});
