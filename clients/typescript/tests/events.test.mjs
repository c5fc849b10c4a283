// Event streams: every event once and in order, whatever happens to the connection.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { AgentSpaces, ApiError, ConnectionFailed } from '../dist/index.js';
import { Parser } from '../dist/sse.js';
import { Fake, random, TOKEN } from './fake.mjs';

let fake;
let client;
before(async () => {
  fake = await new Fake().start();
  client = new AgentSpaces({ url: fake.url, token: TOKEN });
});
after(() => fake.stop());

const lines = (count) => Array.from({ length: count }, (_, number) => ({ type: 'console', level: 'log', text: `№${number} 🚆 é\r\n` }));

async function collect(stream) {
  const events = [];
  for await (const event of stream) events.push(event);
  return events;
}

function assertWhole(events, texts) {
  assert.deepEqual(events.map(({ seq }) => seq), texts.map((_, number) => number));
  assert.deepEqual(events.map(({ text }) => text), texts.map(({ text }) => text));
}

for (const [name, newline] of [['LF', '\n'], ['CRLF', '\r\n']]) {
  test(`100 cuts at random bytes, ${name}: every event once and in order`, async () => {
    const events = lines(400);
    const id = fake.addRun({ events });
    const seen = fake.connections;
    fake.stream = { cuts: 100, random: random(newline.length), newline, comments: true, chunk: 40, reach: 900 };
    assertWhole(await collect(client.runs.events(id)), events);
    assert.equal(fake.connections - seen, 101);
    assert.equal(fake.stream.cuts, 0);
    // The server was told where to resume: it did not send everything again.
    assert.ok(Number(fake.requests.at(-1).headers['last-event-id']) > 100);
  });
}

test('events that a server sends again are returned once', async () => {
  const events = lines(60);
  const id = fake.addRun({ events });
  fake.stream = { cuts: 10, random: random(5), newline: '\n', comments: true, chunk: 40, reach: 1500, overlap: 3 };
  assertWhole(await collect(client.runs.events(id)), events);
});

test('a silent stream counts as cut', async () => {
  const id = fake.addRun({ events: lines(1), status: 'running' });
  const seen = fake.connections;
  fake.stream = { cuts: 0, random: random(5), newline: '\n', comments: false, chunk: 400 };
  const hurried = new AgentSpaces({ url: fake.url, token: TOKEN, streamSilenceMs: 100, streamRetries: 1 });
  const stream = hurried.runs.events(id);
  assert.equal((await stream.next()).value.seq, 0);
  await assert.rejects(stream.next(), /within 100 ms/);
  assert.equal(fake.connections - seen, 2);
});

test('several runs in one stream, cut 30 times', async () => {
  const events = lines(150);
  const ids = ['run_a', 'run_b', 'run_c'].map((id, index) => fake.addRun({ id, events: events.slice(0, 150 - index * 40) }));
  fake.stream = { cuts: 30, random: random(7), newline: '\n', comments: true, chunk: 40, reach: 1500 };
  const all = await collect(client.events(ids));
  ids.forEach((id, index) => assertWhole(all.filter(({ runId }) => runId === id), events.slice(0, 150 - index * 40)));
  assert.equal(fake.stream.cuts, 0);
});

test('a run that ended before a cut does not end the stream of the others', async () => {
  const short = fake.addRun({ id: 'run_short', events: lines(1) });
  const long = fake.addRun({ id: 'run_long', events: lines(1), status: 'running' });
  fake.stream = { cuts: 0, random: random(1), newline: '\n', comments: false, chunk: 4000 };
  const stream = client.events([short, long]);
  assert.equal((await stream.next()).value.runId, short);
  assert.equal((await stream.next()).value.runId, long);
  // Both known events are here and `end` of the short run: now the connection is cut, and `end` comes again.
  const rest = collect(stream);
  await new Promise((resolve) => setTimeout(resolve, 50));
  fake.server.closeAllConnections();
  await new Promise((resolve) => setTimeout(resolve, 400));
  const entry = fake.runs.get(long);
  entry.events.push({ type: 'console', level: 'log', text: 'late', timestamp: '', runId: long, seq: 1 });
  entry.run.status = 'finished';
  fake.watchers.forEach((watcher) => watcher());
  assert.deepEqual((await rest).map(({ text }) => text), ['late']);
});

test('an event of 3 MB', async () => {
  const text = '🚆 é'.repeat(400_000);
  const id = fake.addRun({ events: [{ type: 'console', level: 'log', text }] });
  fake.stream = { cuts: 0, random: random(3), newline: '\n', comments: true, chunk: 70_001 };
  assertWhole(await collect(client.runs.events(id)), [{ text }]);
});

test('starts after a given event, and ends without following', async () => {
  const id = fake.addRun({ events: lines(5), status: 'running' });
  fake.stream = { cuts: 0, random: random(3), newline: '\n', comments: true, chunk: 100 };
  assert.deepEqual((await collect(client.runs.events(id, { after: 2, follow: false }))).map(({ seq }) => seq), [3, 4]);
  assert.equal(fake.requests.at(-1).headers['last-event-id'], '2');
  const page = await client.runs.eventPage(id, { after: 0, limit: 2 });
  assert.deepEqual([page.items.map(({ seq }) => seq), page.ended], [[1, 2], false]);
});

test('gives up after bounded attempts without progress', async () => {
  const id = fake.addRun({ events: lines(5) });
  const seen = fake.connections;
  fake.stream = { cuts: 1000, random: () => 0, newline: '\n', comments: false, chunk: 10, reach: 1 };
  const impatient = new AgentSpaces({ url: fake.url, token: TOKEN, streamRetries: 3 });
  await assert.rejects(collect(impatient.runs.events(id)), ConnectionFailed);
  assert.equal(fake.connections - seen, 4);
  fake.stream.cuts = 0;
});

test('an unknown run is an error at once; a busy server is asked again', async () => {
  await assert.rejects(collect(client.runs.events('run_none')), (error) => error instanceof ApiError && error.status === 404);
  const id = fake.addRun({ events: lines(1) });
  fake.faults.push({ key: 'GET /v1/runs/{}/events', times: 2, status: 503, headers: { 'retry-after': '0' } });
  assert.equal((await collect(client.runs.events(id))).length, 1);
});

test('leaving the loop and aborting close the connection', async () => {
  const id = fake.addRun({ events: lines(3), status: 'running' });
  for await (const event of client.runs.events(id)) if (event.seq === 1) break;
  const controller = new AbortController();
  const reading = collect(client.runs.events(id, { signal: controller.signal }));
  setTimeout(() => controller.abort(new Error('enough')), 50);
  await assert.rejects(reading, /enough/);
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.equal(fake.open, 0);
});

test('parser: the standard’s cases, at every split of the bytes', () => {
  const cases = [
    ['data: a\n\n', [['message', 'a', undefined]]],
    ['\ufeffdata:a\r\rdata: b\r\n\r\n', [['message', 'a', undefined], ['message', 'b', undefined]]],
    ['data: a\r\ndata: b\r\n\r\n', [['message', 'a\nb', undefined]]],
    ['data\n\ndata: x\ndata:  y\nid: 7\n\n', [['message', '', undefined], ['message', 'x\n y', '7']]],
    [': comment\nevent: end\ndata: {}\n\nevent: none\n\ndata: z\n\n', [['end', '{}', undefined], ['message', 'z', undefined]]],
    ['id: 3\ndata: é🚆\n\nid: a\0b\ndata: 2\n\nretry: 5\nunknown: 1\ndata: cut', [['message', 'é🚆', '3'], ['message', '2', '3']]],
  ];
  for (const [text, expected] of cases) {
    const bytes = new TextEncoder().encode(text);
    for (let split = 0; split <= bytes.length; split += 1) {
      const parser = new Parser();
      const found = [...parser.push(bytes.subarray(0, split)), ...parser.push(bytes.subarray(split))];
      assert.deepEqual(found.map(({ event, data, id }) => [event, data, id]), expected, JSON.stringify(text) + split);
    }
  }
});
