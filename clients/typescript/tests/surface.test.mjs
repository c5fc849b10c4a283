// Drift: the OpenAPI document, the generated types and the methods agree.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { AgentSpaces } from '../dist/index.js';
import { document, documentUrl } from './fake.mjs';

const source = (name) => readFileSync(new URL(`../src/${name}`, import.meta.url), 'utf8');

// Operations that the client leaves out, with the reason.
const LEFT_OUT = {
  'GET /v1/changes': 'for pages that show lists',
};

// Schemas that have no name of their own in types.ts, with the reason.
const UNNAMED = /Page$/; // pages are read by `List`

test('schema.ts is generated from the document as it is', () => {
  const digest = createHash('sha256').update(readFileSync(documentUrl)).digest('hex');
  assert.ok(source('schema.ts').startsWith(`// OpenAPI document: sha256 ${digest}\n`), 'run: node scripts/generate.mjs FOLDER');
});

// The method of the client for each operation.
const METHODS = {
  'POST /v1/spaces': (client) => client.spaces.create({ name: 'x' }),
  'GET /v1/spaces': (client) => client.spaces.list().all(),
  'GET /v1/spaces/{}': (client) => client.spaces.get('x'),
  'PATCH /v1/spaces/{}': (client, space) => space.update({ name: 'y' }),
  'PATCH /v1/spaces/{}/webhook': (client, space) => space.updateWebhook({ enabled: false }),
  'DELETE /v1/spaces/{}': (client, space) => space.delete(),
  'GET /v1/spaces/{}/files': (client, space) => space.files.list().all(),
  'GET /v1/spaces/{}/files/{}': (client, space) => space.files.read('a/b'),
  'HEAD /v1/spaces/{}/files/{}': (client, space) => space.files.stat('a/b'),
  'PUT /v1/spaces/{}/files/{}': (client, space) => space.files.write('a/b', ''),
  'DELETE /v1/spaces/{}/files/{}': (client, space) => space.files.delete('a/b'),
  'POST /v1/spaces/{}/runs': (client, space) => space.start('1'),
  'POST /v1/spaces/{}/check': (client, space) => space.check('1'),
  'POST /v1/spaces/{}/explain': (client, space) => space.explain('bank.pay'),
  'GET /v1/runs': (client) => client.runs.list().all(),
  'GET /v1/runs/{}': (client) => client.runs.get('x'),
  'POST /v1/runs/{}/cancel': (client) => client.runs.cancel('x'),
  'POST /v1/runs/{}/resume': (client) => client.runs.resume('x'),
  'POST /v1/runs/{}/answers': (client) => client.runs.answer('x', { call: 1, outcome: 'happened' }),
  'GET /v1/runs/{}/source': (client) => client.runs.source('x'),
  'POST /v1/runs/{}/replay': (client) => client.runs.replay('x'),
  'GET /v1/runs/{}/events': (client) => client.runs.events('x', { follow: false }).next(),
  'GET /v1/events': (client) => client.events(['x']).next(),
  'GET /v1/approvals': (client) => client.approvals.list().all(),
  'GET /v1/approvals/{}': (client) => client.approvals.get('x'),
  'POST /v1/approvals/{}/decision': (client) => client.approvals.approve('x'),
  'GET /v1/capabilities': (client) => client.capabilities.list().all(),
  'GET /v1/capabilities/search': (client) => client.capabilities.search('x'),
  'GET /v1/capabilities/{}': (client) => client.capabilities.get('x'),
  'POST /v1/programs': (client) => client.programs.publish({ name: 'x', source: '1' }),
  'GET /v1/programs': (client) => client.programs.list().all(),
  'GET /v1/programs/{}': (client) => client.programs.get('x'),
  'DELETE /v1/programs/{}': (client) => client.programs.delete('x'),
  'GET /v1/programs/{}/versions': (client) => client.programs.versions('x').all(),
  'GET /v1/programs/{}/versions/{}': (client) => client.programs.version('x', 1),
  'GET /v1/audit': (client) => client.audit.list().all(),
  'GET /v1/audit/export': (client) => client.audit.export().next(),
  'GET /v1/audit/verification': (client) => client.audit.verify(),
  'GET /v1/servers': (client) => client.servers.list().all(),
  'POST /v1/servers/{}/accept': (client) => client.servers.accept('x'),
  'GET /v1/me': (client) => client.me(),
};

test('every operation has a method, or a reason why not', async () => {
  const verbs = ['get', 'head', 'post', 'put', 'patch', 'delete'];
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    verbs.filter((verb) => verb in methods).map((verb) => `${verb.toUpperCase()} ${path.replace(/\{\*?\w+\}/g, '{}')}`),
  );
  assert.deepEqual(operations.sort(), [...Object.keys(METHODS), ...Object.keys(LEFT_OUT)].sort());
  const sent = [];
  const answer = JSON.stringify({ id: 'x', items: [] });
  const fetch = async (url, { method, headers }) => {
    sent.push(`${method} ${new URL(url).pathname}`);
    const stream = headers.Accept === 'text/event-stream';
    if (headers.Accept === 'application/x-ndjson') return new Response('');
    return new Response(stream ? 'event: end\ndata: {"runId":"x"}\n\n' : method === 'HEAD' ? null : answer, { headers: { etag: '"1"' } });
  };
  const client = new AgentSpaces({ url: 'http://localhost', fetch });
  const space = await client.spaces.get('x');
  for (const [operation, call] of Object.entries(METHODS)) {
    sent.length = 0;
    await call(client, space);
    const concrete = operation.replace('/files/{}', '/files/a/b').replace('versions/{}', 'versions/1').replaceAll('{}', 'x');
    assert.deepEqual(sent, [concrete]);
  }
});

test('every schema has a name in types.ts', () => {
  const named = new Set([...source('types.ts').matchAll(/Schemas\['(\w+)'\]/g)].map(([, name]) => name));
  const schemas = Object.keys(document.components.schemas);
  assert.deepEqual(schemas.filter((name) => !named.has(name) && !UNNAMED.test(name)), []);
  assert.deepEqual([...named].filter((name) => !schemas.includes(name)), []);
});

test('event types have the members of schemas/event.schema.json', () => {
  const schema = JSON.parse(readFileSync(new URL('../../../schemas/event.schema.json', import.meta.url), 'utf8'));
  const payloads = source('event.ts').match(/interface Payloads \{\n([\s\S]*?)\n\}/)[1].replace(/\n {2,4}(?=\w+\??:[^{]*;|\})/g, ' ');
  const found = {};
  for (const [, type, body] of payloads.matchAll(/(\w+): \{([^{}]*)\}/g)) {
    found[type] = [...body.matchAll(/(\w+)(\??):/g)].map(([, name, optional]) => name + optional).sort();
  }
  const expected = {};
  for (const { $ref } of schema.oneOf) {
    const name = $ref.split('/').pop();
    const { properties, required } = schema.$defs[name];
    expected[name] = Object.keys(properties).filter((one) => one !== 'type').map((one) => (required.includes(one) ? one : `${one}?`)).sort();
  }
  assert.deepEqual(found, expected);
});
