// Methods, errors, retries and timeouts.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { inspect } from 'node:util';
import { AgentSpaces, ApiError, ConnectionFailed, RunFailed } from '../dist/index.js';
import { Fake, TOKEN } from './fake.mjs';

let fake;
let client;
let space;
before(async () => {
  fake = await new Fake().start();
  client = new AgentSpaces({ url: `${fake.url}/`, token: TOKEN, retries: 2 });
  space = await client.spaces.create({ name: 'my-space', capabilities: ['@company/internal-sdk', 'mcp:slack'] });
});
after(() => fake.stop());
beforeEach(() => {
  fake.faults = [];
  fake.requests = [];
});

const apiError = (status, code) => (error) => error instanceof ApiError && error.status === status && error.code === code;

test('a run returns its value, or throws RunFailed', async () => {
  assert.deepEqual(await space.run('export default (input) => input', { input: { a: 1 } }), { input: { a: 1 } });
  assert.deepEqual(await space.run({ program: 'report@2' }), { program: 'report@2' });
  await assert.rejects(space.run('throw new Error()'), (error) => error instanceof RunFailed && error.code === 'script.error' && error.run.status === 'failed');
  await assert.rejects(space.run('syntax error'), apiError(422, 'script.syntax'));
});

test('a run with onEvent is followed', async () => {
  const types = [];
  await space.run('1', { onEvent: (event) => types.push(event.type) });
  assert.deepEqual(types, ['runStarted', 'console', 'runFinished']);
});

test('start, follow, decide an approval, value', async () => {
  const run = await space.start('crm.createTicket({})');
  assert.equal(run.ended, false);
  for await (const event of run.events()) {
    if (event.type === 'approvalRequired') await client.approvals.approve(event.approvalId, { by: 'ada', for: 'once' });
  }
  assert.deepEqual(await run.value(), { ticket: true });
  const [approval] = await client.approvals.list({ status: 'approved' }).all();
  assert.equal((await client.approvals.get(approval.id)).decision.by, 'ada');
  await assert.rejects(client.approvals.deny(approval.id, { reason: 'late' }), apiError(409, 'approval.decided'));
});

test('cancel, resume, answer', async () => {
  const parked = await client.runs.get(fake.addRun({ status: 'needs_resume' }));
  assert.equal((await parked.resume()).status, 'running');
  const doubt = await client.runs.get(fake.addRun({ status: 'in_doubt' }), { wait: 1 });
  assert.equal((await doubt.answer({ call: 3, outcome: 'happened', value: 1 })).status, 'running');
  const cancelled = await client.runs.cancel(fake.addRun({ status: 'running' }));
  await assert.rejects(cancelled.value(), (error) => error instanceof RunFailed && error.code === 'run.cancelled');
  await assert.rejects(client.runs.resume(cancelled.id), apiError(409, 'conflict'));
});

test('lists ask for their pages as they are read', async () => {
  const all = await client.runs.list().all();
  assert.ok(all.length > fake.pageSize);
  assert.deepEqual(all.map(({ id }) => id), [...fake.runs.keys()]);
  fake.requests = [];
  assert.equal((await client.runs.list({ limit: 2, status: 'finished' }).all(1)).length, 1);
  assert.equal(fake.requests.length, 1);
  assert.equal((await client.runs.list({ limit: 2 }).pages().next()).value.length, 2);
  assert.deepEqual(await client.runs.list({ space: 'x', createdFrom: new Date(0), createdUntil: '2999-01-01T00:00:00Z', status: 'queued' }).all(), []);
});

test('files with ETags', async () => {
  const written = await space.files.write('data/ü #1?.txt', 'grüße', { ifNoneMatch: '*' });
  assert.equal(written.created, true);
  await assert.rejects(space.files.write('data/ü #1?.txt', 'x', { ifNoneMatch: '*' }), apiError(412, 'precondition'));
  const read = await space.files.read('data/ü #1?.txt');
  assert.deepEqual([read.text(), read.etag], ['grüße', written.etag]);
  const second = await space.files.write('data/ü #1?.txt', new Uint8Array([0, 255]), { ifMatch: read.etag });
  assert.deepEqual([second.created, [...(await space.files.read('data/ü #1?.txt')).bytes]], [false, [0, 255]]);
  assert.deepEqual(await space.files.stat('data/ü #1?.txt'), { size: 2, etag: second.etag });
  assert.deepEqual((await space.files.list({ prefix: 'data/' }).all()).map(({ path }) => path), ['data/ü #1?.txt']);
  await assert.rejects(space.files.delete('data/ü #1?.txt', { ifMatch: '"9"' }), apiError(412, 'precondition'));
  await space.files.delete('data/ü #1?.txt');
  await assert.rejects(space.files.stat('data/ü #1?.txt'), (error) => error.status === 404);
  for (const path of ['../runs', 'a/../b', './a', 'a//b', '/a', '']) await assert.rejects(space.files.read(path), TypeError);
});

test('spaces: update with the ETag that was read', async () => {
  const other = await client.spaces.get(space.id);
  await space.update({ name: 'renamed' });
  assert.equal(space.name, 'renamed');
  await assert.rejects(other.update({ ttlSeconds: 5 }), apiError(412, 'precondition'));
  await (await other.refresh()).update({ ttlSeconds: 5 });
  const [listed] = await client.spaces.list().all(1);
  await listed.update({ limits: { timeMs: 5000 } });
  const gone = await client.spaces.create({ name: 'gone' });
  await gone.delete();
  await assert.rejects(client.spaces.delete(gone.id), apiError(404, 'not_found'));
});

test('webhooks: update with the ETag of the space', async () => {
  const hooked = await client.spaces.create({ name: 'hooked', webhook: { url: 'https://example.com/hook' } });
  assert.equal(hooked.info.webhook.secret, 'whsec_1');
  const other = await client.spaces.get(hooked.id);
  assert.equal(await hooked.updateWebhook({ url: 'https://example.org/hook', events: ['run.ended'] }), hooked);
  await hooked.updateWebhook({ enabled: false });
  assert.deepEqual(hooked.info.webhook, { url: 'https://example.org/hook', events: ['run.ended'], enabled: false });
  await assert.rejects(other.updateWebhook({ enabled: true }), apiError(412, 'precondition'));
  await hooked.update({ name: 'renamed' });
  await assert.rejects(space.updateWebhook({ enabled: false }), apiError(404, 'not_found'));
  await hooked.delete();
});

test('capabilities, programs, audit', async () => {
  assert.equal((await client.capabilities.list({ space: space.id }).all())[0].name, 'crm');
  assert.ok((await client.capabilities.get('crm')).declarations);
  assert.equal((await client.capabilities.search('ticket', { limit: 3 }))[0].name, 'crm.createTicket');
  await client.programs.publish({ name: 'report', source: '1' }, { idempotencyKey: 'one' });
  assert.equal((await client.programs.publish({ name: 'report', source: '2', description: 'd' })).version, 2);
  assert.equal((await client.programs.publish({ name: 'report', source: '2' })).version, 2);
  assert.equal((await client.programs.publish({ name: 'report', source: '1' }, { idempotencyKey: 'one' })).version, 1);
  assert.equal((await client.programs.get('report')).version, 2);
  assert.equal((await client.programs.version('report', 1)).source, '1');
  assert.equal((await client.programs.versions('report').all()).length, 2);
  assert.equal((await client.programs.list().all()).length, 1);
  await client.programs.delete('report');
  assert.equal((await client.audit.list().all())[0].entry.type, 'runStarted');
});

test('approvals in both orders', async () => {
  for (let count = 0; count < 2; count += 1) await space.start('crm.createTicket({})');
  const ids = async (order) => (await client.approvals.list({ order, limit: 1 }).all()).map(({ id }) => id);
  const oldest = await ids(undefined);
  assert.deepEqual([oldest, await ids('oldest'), await ids('newest')], [[...fake.approvals.keys()], oldest, [...oldest].reverse()]);
});

test('the audit log is searched, exported and verified', async () => {
  const entry = (type, seq) => ({ seq, time: '2025-01-15T10:30:00.000Z', entry: { type, text: 'grüße' } });
  fake.audit = ['runStarted', 'console', 'runFinished', 'runStarted', 'runFinished'].map((type, index) => entry(type, index + 1));
  const collect = async (filter) => {
    const found = [];
    for await (const one of client.audit.export(filter)) found.push(one);
    return found;
  };
  assert.deepEqual(await collect(), fake.audit);
  assert.equal(fake.requests.length, 3);
  const some = { type: ['runStarted', 'console'], caller: '', run: 'run_1', from: new Date(0), until: '2999-01-01T00:00:00Z', q: 'x', order: 'newest' };
  assert.deepEqual((await collect(some)).map(({ seq }) => seq), [4, 2, 1]);
  assert.deepEqual((await client.audit.list({ ...some, limit: 2 }).all()).map(({ seq }) => seq), [4, 2, 1]);
  assert.deepEqual(Object.fromEntries(fake.requests.at(-1).query), { type: 'console', caller: '', run: 'run_1', from: '1970-01-01T00:00:00.000Z', until: '2999-01-01T00:00:00Z', q: 'x', order: 'newest', limit: '2', cursor: btoa('2') });
  assert.deepEqual(await client.audit.verify(), { ok: true, verdict: 'unchanged', entries: 5, files: 1 });
  const key = 'GET /v1/audit/export';
  fake.faults = [{ key, times: 1, cut: 'before' }, { key, times: 1, status: 429, headers: { 'retry-after': '0' } }];
  assert.equal((await collect()).length, 5, 'opening it is repeated');
  for (const text of ['{"seq":1,"ti', '{"next":null}\n']) {
    fake.faults = [{ key, times: 1, status: 200, type: 'application/x-ndjson', text }];
    await assert.rejects(collect(), ConnectionFailed);
  }
  fake.faults = [{ key, times: 1, status: 404, code: 'not_found' }];
  await assert.rejects(collect(), apiError(404, 'not_found'));
});

test('servers: list, accept what was reviewed', async () => {
  const server = { name: 'slack', spaces: ['spc_1'], transport: 'http', status: 'changed', offer: '5f1c', changes: [{ kind: 'added', name: 'post', text: 't', breaking: false }] };
  fake.servers.set('slack', server);
  const [listed] = await client.servers.list({ limit: 5 }).all();
  assert.deepEqual(listed, server);
  await assert.rejects(client.servers.accept('slack', { offer: 'other' }), apiError(409, 'server.changed'));
  assert.equal((await client.servers.accept('slack', { offer: listed.offer })).status, 'connected');
  assert.equal(JSON.parse(fake.requests.at(-1).body).offer, '5f1c');
  await client.servers.accept('slack');
  assert.equal(fake.requests.at(-1).body, '{}');
  await assert.rejects(client.servers.accept('other'), apiError(404, 'not_found'));
  fake.requests = [];
  fake.faults = [{ key: 'POST /v1/servers/{}/accept', times: 1, cut: 'after' }];
  await assert.rejects(client.servers.accept('slack'), ConnectionFailed);
  assert.equal(fake.requests.length, 1);
});

test('an error has the problem document, and never the token', async () => {
  await assert.rejects(client.spaces.create({ name: 'x', colour: 'red' }), (error) => {
    assert.deepEqual([error.status, error.code, error.errors], [400, 'request.invalid', [{ pointer: '/colour', detail: 'unknown member' }]]);
    return true;
  });
  fake.faults.push({ key: 'GET /v1/runs/{}', times: 1, status: 400, text: '{"code":"request.invalid","errors":[{"parameter":"wait","detail":"d"},{"detail":"e"}]}' });
  await assert.rejects(client.runs.get('run_1'), (error) => {
    assert.equal(error.errors[0].parameter, 'wait');
    assert.ok(error.message.endsWith('\n  wait: d\n  e'), error.message);
    return true;
  });
  const wrong = new AgentSpaces({ url: fake.url, token: 'wrong-token' });
  await assert.rejects(wrong.runs.get('run_1'), (error) => {
    assert.equal(error.code, 'auth.token');
    assert.match(error.detail, /\[redacted\]/);
    return !inspect(error, { depth: 9, showHidden: true }).includes('wrong-token');
  });
  assert.ok(!inspect(client, { depth: 9, showHidden: true }).includes(TOKEN));
  assert.throws(() => new AgentSpaces({ url: fake.url, token: 'a\nsecret' }), (error) => !error.message.includes('secret'));
  assert.throws(() => new AgentSpaces({ url: 'http://user:secret@localhost' }), (error) => !error.message.includes('secret'));
  fake.faults.push({ key: 'GET /v1/runs/{}', times: 1, status: 400, type: 'text/html', text: '<h1>proxy</h1>' });
  await assert.rejects(client.runs.get('run_1'), apiError(400, 'http.400'));
  fake.faults.push({ key: 'GET /v1/runs/{}', times: 1, status: 302, headers: { location: 'http://127.0.0.1:1/' } });
  await assert.rejects(client.runs.get('run_1'), apiError(302, 'run.busy'));
});

test('429 and 503 are repeated after Retry-After, a bounded number of times', async () => {
  const key = 'GET /v1/runs/{}';
  fake.faults = [{ key, times: 1, status: 429, headers: { 'retry-after': '1' } }, { key, times: 1, status: 503 }];
  const start = Date.now();
  await client.runs.get('run_1');
  assert.ok(Date.now() - start >= 990);
  assert.equal(fake.requests.length, 3);
  fake.faults = [{ key, times: 9, status: 503, code: 'host.draining', headers: { 'retry-after': '0' } }];
  await assert.rejects(client.runs.get('run_1'), apiError(503, 'host.draining'));
  assert.equal(fake.requests.length, 6);
  fake.faults = [{ key, times: 9, status: 429, headers: { 'retry-after': '3600' } }];
  await assert.rejects(client.runs.get('run_1'), (error) => error.retryAfter === 3600);
  assert.equal(fake.requests.length, 7);
});

test('a start whose answer is lost is repeated with its key: one run', async () => {
  const runs = fake.runs.size;
  fake.faults = [
    { key: 'POST /v1/spaces/{}/runs', times: 1, cut: 'after' },
    { key: 'POST /v1/spaces/{}/runs', times: 1, cut: 'before' },
  ];
  await space.start('1');
  assert.equal(fake.runs.size, runs + 1);
  const keys = fake.requests.map(({ headers }) => headers['idempotency-key']);
  assert.equal(keys.length, 3);
  assert.equal(new Set(keys).size, 1);
  await space.start('1', { idempotencyKey: 'mine' });
  await space.start('1', { idempotencyKey: 'mine' });
  assert.equal(fake.runs.size, runs + 2);
});

test('what is not idempotent is not repeated after a cut; a deletion is', async () => {
  const id = fake.addRun({ status: 'running' });
  fake.faults = [{ key: 'POST /v1/runs/{}/cancel', times: 1, cut: 'after' }];
  await assert.rejects(client.runs.cancel(id), ConnectionFailed);
  assert.equal(fake.requests.length, 1);
  fake.faults = [{ key: 'POST /v1/runs/{}/cancel', times: 1, status: 503, headers: { 'retry-after': '0' } }];
  await assert.rejects(client.runs.cancel(id), apiError(503, 'run.busy'));
  fake.faults = [{ key: 'POST /v1/runs/{}/cancel', times: 1, status: 429, headers: { 'retry-after': '0' } }];
  await client.runs.cancel(id);
  await space.files.write('a', 'b');
  fake.faults = [{ key: 'DELETE /v1/spaces/{}/files/{}', times: 1, cut: 'after' }];
  await space.files.delete('a');
  fake.requests = [];
  fake.faults = [{ key: 'PUT /v1/spaces/{}/files/{}', times: 1, cut: 'after' }];
  await assert.rejects(space.files.write('b', 'c', { ifNoneMatch: '*' }), ConnectionFailed);
  assert.equal(fake.requests.length, 1);
});

test('timeouts and signals', async () => {
  const hurried = new AgentSpaces({ url: fake.url, token: TOKEN, timeoutMs: 50, retries: 1 });
  fake.faults = [{ key: 'GET /v1/runs/{}', times: 9, hang: true }];
  await assert.rejects(hurried.runs.get('run_1'), (error) => error instanceof ConnectionFailed && /50 ms/.test(error.message));
  assert.equal(fake.requests.length, 2);
  const controller = new AbortController();
  setTimeout(() => controller.abort(new Error('enough')), 20);
  await assert.rejects(client.runs.get('run_1', { signal: controller.signal }), /enough/);
  await assert.rejects(client.runs.get('run_1', { signal: controller.signal }), /enough/);
  fake.faults = [];
  const nobody = new AgentSpaces({ url: 'http://127.0.0.1:1', retries: 0 });
  await assert.rejects(nobody.runs.get('run_1'), ConnectionFailed);
});
