// Anthropic's SDK for JavaScript.
import Anthropic from '@anthropic-ai/sdk';
import assert from 'node:assert/strict';
import { INPUT_TOKENS, OUTPUT_TOKENS } from '../model.mjs';
import { SERVER, TOKEN, WEATHER, check, counted } from './check.mjs';

const client = new Anthropic({ baseURL: SERVER, apiKey: TOKEN });
const request = (content, more) => ({ model: 'planner', max_tokens: 1000, messages: [{ role: 'user', content }], ...more });
const tools = [{ name: 'get_weather', description: 'Weather of a city', input_schema: WEATHER }];
const texts = (message) => message.content.filter((block) => block.type === 'text').map((block) => block.text);

await check('models', async () => {
  const names = [];
  for await (const model of client.models.list()) names.push(model.id);
  assert.deepEqual(names.sort(), ['bare', 'coder', 'planner']);
  assert.equal((await client.models.retrieve('planner')).type, 'model');
  return names;
});

await check('a message; the agent calls its own function', async () => {
  const message = await client.messages.create(request('[case:own] Which train?'));
  assert.match(texts(message).join(), /IC-707/);
  assert.equal(message.stop_reason, 'end_turn');
  assert.deepEqual([message.usage.input_tokens, message.usage.output_tokens], [2 * INPUT_TOKENS, 2 * OUTPUT_TOKENS]);
  return texts(message);
});

await check('a token as bearer', async () => {
  const bearer = new Anthropic({ baseURL: SERVER, authToken: TOKEN, apiKey: null });
  return texts(await bearer.messages.create(request('[case:plain]')));
});

await check('system prompts are appended to that of the agent', async () => {
  const system = [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }];
  const message = await client.messages.create(request('[case:system]', { model: 'bare', system }));
  assert.match(texts(message).join(), /You plan journeys\.[^]*Be brief\./);
  return texts(message);
});

await check('stream', async () => {
  const stream = client.messages.stream(request('[case:own] Which train?'));
  let pieces = 0;
  stream.on('text', () => (pieces += 1));
  const message = await stream.finalMessage();
  assert.deepEqual(message.content.map((block) => block.type), ['text', 'text']);
  assert.equal(texts(message)[0], 'I look it up.');
  assert.match(texts(message)[1], /IC-707/);
  assert.deepEqual([message.stop_reason, message.usage.output_tokens], ['end_turn', 2 * OUTPUT_TOKENS]);
  assert.ok(pieces > 3, `${pieces} pieces`);
  return `${pieces} pieces: ${texts(message).join(' / ')}`;
});

await check('tools of the caller', async () => {
  const first = await client.messages.create(request('[case:weather] How is it in Paris?', { tools }));
  assert.equal(first.stop_reason, 'tool_use');
  const use = first.content.find((block) => block.type === 'tool_use');
  assert.deepEqual([use.name, use.input], ['get_weather', { city: 'Paris' }]);
  const messages = [
    { role: 'user', content: '[case:weather] How is it in Paris?' },
    { role: 'assistant', content: first.content },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: use.id, content: [{ type: 'text', text: 'rain-17' }] }] },
  ];
  const second = await client.messages.create(request('', { messages, tools }));
  assert.match(texts(second).join(), /rain-17/);
  return texts(second);
});

await check('tools of the caller after a tool of the agent, with the runner of the SDK', async () => {
  const asked = [];
  for (const stream of [false, true]) {
    const weather = { type: 'custom', ...tools[0], parse: (input) => input, run: ({ city }) => (asked.push(city), 'snow-5') };
    const runner = client.beta.messages.toolRunner(request('[case:both] Train and weather?', { tools: [weather], stream, max_iterations: 5 }));
    assert.match(texts(await runner.runUntilDone()).join(), /snow-5/);
  }
  assert.deepEqual(asked, ['Paris', 'Paris']);
  return `asked for ${asked}`;
});

await check('tokens are counted', async () => {
  const count = async (content, more) => (await client.messages.countTokens({ model: 'bare', messages: [{ role: 'user', content }], ...more })).input_tokens;
  const [short, long, withTools] = [await count('hi'), await count('many words '.repeat(200)), await count('hi', { tools })];
  assert.ok(short > 0 && long > short + 200 && withTools > short, `${short} ${long} ${withTools}`);
  return `${short}, ${long}, ${withTools}`;
});

await check('a schema of the answer', async () => {
  const schema = { type: 'object', properties: { train: { type: 'string' }, hour: { type: 'integer' } }, required: ['train', 'hour'], additionalProperties: false };
  const message = await client.messages.create(request('[case:json]', { model: 'bare', output_config: { format: { type: 'json_schema', schema } } }));
  assert.deepEqual(JSON.parse(texts(message).join('')), { train: 'IC-7', hour: 7 });
  return texts(message);
});

await check('errors are those of the SDK, and are not repeated', async () => {
  const failure = async (options, more) => {
    const state = counted();
    const asking = new Anthropic({ baseURL: SERVER, apiKey: TOKEN, fetch: state.fetch, ...options });
    const error = await asking.messages.create(request('[case:plain]', more)).then(
      () => assert.fail('it was answered'),
      (error) => error,
    );
    assert.equal(state.requests, 1, `${state.requests} requests`);
    return error;
  };
  assert.ok((await failure({ apiKey: 'wrong-token-of-a-client' })) instanceof Anthropic.AuthenticationError);
  const unknown = await failure({}, { model: 'nobody' });
  assert.ok(unknown instanceof Anthropic.NotFoundError, unknown);
  assert.equal(unknown.error.error.type, 'not_found_error');
  for (const stream of [false, true]) {
    const failed = await failure({}, { messages: [{ role: 'user', content: '[case:fail]' }], stream });
    assert.ok(failed instanceof Anthropic.InternalServerError, failed);
  }
  return unknown.message;
});
