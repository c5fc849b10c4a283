// Cases: what the scripted models say, which agent asks whom, and what must come out.
//
// A case has a name, an agent, models, scripts (`on`: match, answer, settings of the scripted server), faults of the
// proxy (`plan`), and `expected`. Every case is run for every wire; `next` is the wire that a second model speaks.

/** Tokens that the scripted server reports, in the words of all wires. */
const USAGE = {
  prompt_tokens: 11, completion_tokens: 7, total_tokens: 18,
  input_tokens: 11, output_tokens: 7,
  promptTokenCount: 11, candidatesTokenCount: 7, totalTokenCount: 18,
};

/** An answer of several chunks. Not ASCII, so that bytes and characters differ. */
const WHOLE = 'Grüße: the whole answer, ö’s included.';
const TEXT = { content: WHOLE, usage: USAGE };
const OTHER = { content: 'From the second model.', usage: USAGE };
const VOID = { content: 'This half of an answer must never be part of the result.', usage: USAGE };
const CHUNKS = { chunkSize: 4 };

/** Chunks after which the answer with a call is cut, the last of which is lost: within the call, or before the end. */
const CHUNKS_OF_A_CALL = { 'openai-responses': 6, 'openai-chat': 5, anthropic: 5, gemini: 4, ollama: 2 };

const refusal = (status, code, rest) => ({ error: { message: `refused: ${code}`, type: code, code }, status, ...rest });

/** Calls the counter, by whatever name the request has for it. */
const calls = (label, ...amounts) => (request) => {
  const names = (request.tools ?? []).map((tool) => tool.function.name);
  const name = names.find((each) => /add/i.test(each)) ?? 'counter_is_missing';
  return {
    toolCalls: amounts.map((amount) => ({ name, arguments: JSON.stringify({ label, amount }) })),
    reasoning: 'The counter knows.', usage: USAGE,
  };
};

const program = (label) => ({
  toolCalls: [{
    name: 'run_code',
    arguments: JSON.stringify({
      code: [
        "import { counter } from '@capabilities/counter';",
        `const { total } = await counter.add({ label: '${label}', amount: 2 });`,
        'export default { total };',
      ].join('\n'),
    }),
  }],
  usage: USAGE,
});

const BEFORE = { hasToolResult: false };
const AFTER = { hasToolResult: true };
const RETURNED = { hasToolResult: true, toolResultContains: 'total' };

/** The cases of one wire. */
export function cases(wire, next) {
  const intact = `${wire}-intact`;
  const damaged = `${wire}-damaged`;
  const second = `${next}-intact/second`;
  const done = { status: 0, ending: 'done', text: WHOLE };
  const other = { status: 0, ending: 'done', text: OTHER.content, model: second };
  const failed = { status: 5, ending: 'model-failed', text: '' };

  const list = [
    {
      name: 'text', agent: 'plain', models: [`${intact}/first`],
      on: [[{}, { ...TEXT, reasoning: 'Thinking aloud.' }, CHUNKS]],
      expected: { ...done, model: `${intact}/first`, turns: 1, requests: 1, usage: [11, 7] },
    },
    {
      name: 'call', agent: 'direct', models: [`${intact}/first`],
      on: (label) => [[BEFORE, calls(label, 2)], [RETURNED, TEXT]],
      expected: { ...done, turns: 2, requests: 2, usage: [22, 14], effects: [2] },
    },
    {
      name: 'parallel-calls', agent: 'direct', models: [`${intact}/first`],
      on: (label) => [[BEFORE, calls(label, 1, 2)], [RETURNED, TEXT]],
      expected: { ...done, turns: 2, effects: [1, 2] },
    },
    {
      name: 'program', agent: 'program', models: [`${intact}/first`],
      on: (label) => [[BEFORE, program(label)], [RETURNED, TEXT]],
      expected: { ...done, turns: 2, effects: [2] },
    },
    {
      name: 'whole', agent: 'direct', models: [`${wire}-whole/first`],
      on: (label) => [[BEFORE, calls(label, 2)], [RETURNED, TEXT]],
      expected: { ...done, turns: 2, requests: 2, usage: [22, 14], effects: [2] },
    },
    {
      name: 'byte-by-byte', agent: 'direct', models: [`${damaged}/first`],
      on: (label) => [[BEFORE, calls(label, 2)], [RETURNED, TEXT, CHUNKS]],
      plan: [{ kind: 'bytes' }, { kind: 'bytes' }],
      expected: { ...done, turns: 2, requests: 2, effects: [2] },
    },
    {
      name: 'rate-limited', agent: 'plain', models: [`${intact}/first`, second],
      on: [
        [{ sequenceIndex: 0, model: 'first' }, refusal(429, 'rate_limit_exceeded', { retryAfter: 1 })],
        [{ sequenceIndex: 1, model: 'first' }, TEXT],
      ],
      expected: { ...done, model: `${intact}/first`, requests: 2, pause: 1000, stderr: 'again in 1.0 s' },
    },
    {
      name: 'rate-limited-for-long', agent: 'plain', models: [`${intact}/first`, second],
      on: [
        [{ model: 'first' }, refusal(429, 'rate_limit_exceeded', { retryAfter: 3600 })],
        [{ model: 'second' }, OTHER],
      ],
      expected: { ...other, requests: 2, stderr: second },
    },
    {
      name: 'server-error', agent: 'plain', models: [`${intact}/first`],
      on: [[{ sequenceIndex: 0 }, refusal(500, 'server_error')], [{ sequenceIndex: 1 }, TEXT]],
      expected: { ...done, requests: 2, stderr: 'HTTP 500' },
    },
    {
      name: 'key-refused', agent: 'plain', models: [`${intact}/first`],
      on: [[{}, refusal(401, 'invalid_api_key')]],
      expected: { ...failed, requests: 1, message: ['HTTP 401', `${intact}/first`] },
    },
    {
      name: 'malformed-body', agent: 'plain', models: [`${intact}/first`, second],
      on: [[{ model: 'first' }, VOID, { chaos: { malformedRate: 1 } }], [{ model: 'second' }, OTHER]],
      expected: { ...other, requests: 2 },
    },
    {
      name: 'all-fail', agent: 'plain-once', models: [`${intact}/first`, second],
      on: [
        [{ model: 'first' }, VOID, { chaos: { disconnectRate: 1 } }],
        [{ model: 'second' }, refusal(503, 'overloaded')],
      ],
      expected: { ...failed, requests: 2, message: [`${intact}/first`, second, 'HTTP 503'] },
    },
    {
      name: 'disconnect', agent: 'direct-once', models: [`${intact}/first`, second],
      on: (label) => [
        [{ ...BEFORE, model: 'first' }, calls(label, 2)],
        [{ ...AFTER, model: 'first' }, VOID, { ...CHUNKS, latency: 30, disconnectAfterMs: 200 }],
        [{ ...RETURNED, model: 'second' }, OTHER],
      ],
      expected: { ...other, effects: [2], requests: 3 },
    },
    {
      name: 'cut-within-a-call', agent: 'direct', models: [`${intact}/first`],
      on: (label) => [
        [{ ...BEFORE, sequenceIndex: 0 }, cutCall(wire, label), {
          chunkSize: 8, latency: 30, truncateAfterChunks: CHUNKS_OF_A_CALL[wire],
        }],
        [{ ...BEFORE, sequenceIndex: 1 }, calls(label, 2)],
        [RETURNED, TEXT],
      ],
      expected: { ...done, effects: [2], requests: 3 },
    },
    {
      name: 'malformed-event', agent: 'direct', models: [`${damaged}/first`, second],
      on: (label) => [
        [{ ...BEFORE, model: 'first' }, calls(label, 2)],
        [{ ...AFTER, model: 'first' }, VOID, CHUNKS],
        [{ ...RETURNED, model: 'second' }, OTHER],
      ],
      plan: [undefined, { kind: 'malformed', events: 2 }],
      expected: { ...other, effects: [2], requests: 3 },
    },
    {
      name: 'malformed-event-alone', agent: 'plain', models: [`${damaged}/first`],
      on: [[{}, VOID, CHUNKS]],
      plan: Array(5).fill({ kind: 'malformed', events: 2 }),
      expected: { ...failed, requests: 1, message: [`${damaged}/first`] },
    },
  ];
  // The answer or one of its events ends early, and the next answer is whole.
  for (const fault of ['disconnect', 'end', 'half', 'torn', 'stall']) {
    list.push({
      name: `stream-${fault}`, agent: 'plain', models: [`${damaged}/first`],
      on: [[{}, TEXT, CHUNKS]],
      plan: [{ kind: fault, events: 3 }],
      expected: { ...done, requests: 2, usage: [11, 7] },
    });
  }
  return list.map((each) => ({ ...each, name: `${wire}-${each.name}` }));
}

/**
 * An answer whose call is cut. Gemini sends a call in one chunk with the end of the answer: there, the text before it
 * is cut.
 */
const cutCall = (wire, label) => (request) => {
  const { toolCalls } = calls(label, 2)(request);
  return wire === 'gemini' ? { toolCalls, content: 'Let me ask the counter about that.' } : { toolCalls };
};
