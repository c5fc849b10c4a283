import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from './load.mjs';

const { follow, parser } = await load('stream');

function parse(...pieces) {
  const list = [];
  const one = parser((event) => list.push(event));
  for (const piece of pieces) one.push(piece);
  return list;
}

test('events have a name, an id and data', () => {
  assert.deepEqual(parse('retry: 500\n\n:\n\nid: 0\ndata: {"a":1}\n\nevent: end\ndata: x\ndata: y\n\n'), [
    { event: 'message', id: '0', data: { a: 1 } },
    { event: 'end', data: 'x\ny' },
  ]);
});

test('lines may end in any way, in any piece', () => {
  const text = 'id: 1\r\ndata: {"a":"é"}\r\n\r\nid: 2\rdata: 2\r\rdata:3\n\n';
  const whole = parse(text);
  assert.equal(whole.length, 3);
  for (let i = 1; i < text.length; i++) assert.deepEqual(parse(text.slice(0, i), text.slice(i)), whole, `cut at ${i}`);
  assert.deepEqual(parse(...text), whole);
});

test('an endless line is refused', () => {
  assert.throws(() => parse('data: ', ...Array.from({ length: 20 }, () => 'x'.repeat(1 << 20))));
});

/** Answers of a server: each is the text of a stream, or a status. */
function serve(answers) {
  const seen = [];
  globalThis.fetch = async (path, init) => {
    seen.push(init.headers.get('last-event-id'));
    const next = answers.shift();
    if (next === undefined) return new Promise((_, reject) => init.signal.addEventListener('abort', () => reject(new Error('aborted'))));
    if (typeof next === 'number') return new Response('{"detail":"no"}', { status: next });
    return new Response(next);
  };
  return seen;
}

const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

test('a stream that is cut goes on after its last event, until its end', async () => {
  const seen = serve(['id: 0\ndata: 0\n\nid: 1\ndata: 1\n\n', 500, 'id: 2\ndata: 2\n\nevent: end\ndata: {}\n\n']);
  const got = [];
  const states = [];
  follow('/x', { onEvent: (event) => got.push(event.data), onState: (state) => states.push(state) });
  await wait(4000);
  assert.deepEqual(got, [0, 1, 2, {}]);
  assert.deepEqual(seen, [null, '1', '1']);
  assert.deepEqual(states, ['open', 'waiting', 'open', 'closed']);
});

test('a refusal ends it', async () => {
  serve([403]);
  const states = [];
  let error;
  follow('/x', { onEvent() {}, onState: (state) => states.push(state), onError: (thrown) => (error = thrown) });
  await wait(50);
  assert.equal(error.status, 403);
  assert.deepEqual(states, ['closed']);
});

test('nothing comes after it was stopped', async () => {
  serve(['id: 0\ndata: 0\n\n']);
  const got = [];
  const stop = follow('/x', { onEvent: (event) => got.push(event) });
  stop();
  await wait(50);
  assert.deepEqual(got, []);
});
