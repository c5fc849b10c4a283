// OpenAI's SDK for JavaScript.
import assert from 'node:assert/strict';
import OpenAI from 'openai';
import { INPUT_TOKENS, OUTPUT_TOKENS } from '../model.mjs';
import { SERVER, TOKEN, WEATHER, check, counted } from './check.mjs';

const client = new OpenAI({ baseURL: `${SERVER}/v1`, apiKey: TOKEN });
const user = (content) => [{ role: 'user', content }];
const tools = [{ type: 'function', function: { name: 'get_weather', description: 'Weather of a city', parameters: WEATHER } }];
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

await check('models', async () => {
  const names = [];
  for await (const model of client.models.list()) names.push(model.id);
  assert.deepEqual(names.sort(), ['bare', 'coder', 'planner']);
  assert.equal((await client.models.retrieve('planner')).id, 'planner');
  return names;
});

await check('chat; the agent calls its own function', async () => {
  const completion = await client.chat.completions.create({ model: 'planner', messages: user('[case:own] Which train?') });
  const [choice] = completion.choices;
  assert.match(choice.message.content, /IC-707/);
  assert.equal(choice.finish_reason, 'stop');
  assert.equal(choice.message.tool_calls, undefined);
  // Of two turns.
  assert.equal(completion.usage.prompt_tokens, 2 * INPUT_TOKENS);
  assert.equal(completion.usage.completion_tokens, 2 * OUTPUT_TOKENS);
  assert.equal(completion.model, 'planner');
  return choice.message.content;
});

await check('chat; the agent runs a program', async () => {
  const completion = await client.chat.completions.create({ model: 'coder', messages: user('[case:program] Which train?') });
  assert.match(completion.choices[0].message.content, /IC-707/);
  return completion.choices[0].message.content;
});

await check('system messages are appended to the prompt of the agent', async () => {
  const messages = [{ role: 'developer', content: 'Be brief.' }, ...user('[case:system]')];
  const completion = await client.chat.completions.create({ model: 'bare', messages });
  assert.match(completion.choices[0].message.content, /You plan journeys\.[^]*Be brief\./);
  return completion.choices[0].message.content;
});

await check('images', async () => {
  const content = [{ type: 'text', text: '[case:image]' }, { type: 'image_url', image_url: { url: `data:image/png;base64,${PIXEL}` } }];
  const completion = await client.chat.completions.create({ model: 'bare', messages: user(content) });
  assert.match(completion.choices[0].message.content, /text, image_url/);
  return completion.choices[0].message.content;
});

await check('stream', async () => {
  const options = { model: 'planner', messages: user('[case:own] Which train?'), stream: true, stream_options: { include_usage: true } };
  let [text, pieces, usage, reason] = ['', 0, null, null];
  for await (const chunk of await client.chat.completions.create(options)) {
    const [choice] = chunk.choices;
    text += choice?.delta.content ?? '';
    pieces += choice?.delta.content ? 1 : 0;
    reason = choice?.finish_reason ?? reason;
    usage = chunk.usage ?? usage;
  }
  assert.match(text, /^I look it up\.\n\nThe tools returned: .*IC-707/);
  assert.ok(pieces > 3, `${pieces} pieces`);
  assert.equal(reason, 'stop');
  assert.equal(usage.total_tokens, 2 * (INPUT_TOKENS + OUTPUT_TOKENS));
  return `${pieces} pieces: ${text}`;
});

await check('tools of the caller', async () => {
  const messages = user('[case:weather] How is it in Paris?');
  const first = await client.chat.completions.create({ model: 'planner', messages, tools });
  const [choice] = first.choices;
  assert.equal(choice.finish_reason, 'tool_calls');
  const [call] = choice.message.tool_calls;
  assert.deepEqual([call.function.name, JSON.parse(call.function.arguments)], ['get_weather', { city: 'Paris' }]);
  messages.push(choice.message, { role: 'tool', tool_call_id: call.id, content: 'rain-17' });
  const second = await client.chat.completions.create({ model: 'planner', messages, tools });
  assert.match(second.choices[0].message.content, /rain-17/);
  return second.choices[0].message.content;
});

await check('tools of the caller after a tool of the agent, with the runner of the SDK', async () => {
  const asked = [];
  const weather = {
    type: 'function',
    function: {
      name: 'get_weather', description: 'Weather of a city', parameters: WEATHER, parse: JSON.parse,
      function: ({ city }) => (asked.push(city), 'snow-5'),
    },
  };
  for (const stream of [false, true]) {
    const runner = client.chat.completions.runTools({ model: 'planner', messages: user('[case:both] Train and weather?'), tools: [weather], stream });
    assert.match(await runner.finalContent(), /snow-5/);
  }
  assert.deepEqual(asked, ['Paris', 'Paris']);
  return `asked for ${asked}`;
});

await check('a schema of the answer', async () => {
  const schema = { type: 'object', properties: { train: { type: 'string' }, hour: { type: 'integer' } }, required: ['train', 'hour'], additionalProperties: false };
  const format = { type: 'json_schema', json_schema: { name: 'train', strict: true, schema } };
  const completion = await client.chat.completions.parse({ model: 'bare', messages: user('[case:json]'), response_format: format });
  assert.deepEqual(JSON.parse(completion.choices[0].message.content), { train: 'IC-7', hour: 7 });
  const streamed = await client.chat.completions.stream({ model: 'bare', messages: user('[case:json]'), response_format: format }).finalContent();
  assert.deepEqual(JSON.parse(streamed), { train: 'IC-7', hour: 7 });
  return streamed;
});

await check('errors are those of the SDK, and are not repeated', async () => {
  const failure = async (options, request) => {
    const state = counted();
    const asking = new OpenAI({ baseURL: `${SERVER}/v1`, apiKey: TOKEN, fetch: state.fetch, ...options });
    const error = await asking.chat.completions.create({ model: 'bare', messages: user('[case:plain]'), ...request }).then(
      () => assert.fail('it was answered'),
      (error) => error,
    );
    assert.equal(state.requests, 1, `${state.requests} requests`);
    return error;
  };
  assert.ok((await failure({ apiKey: 'wrong-token-of-a-client' })) instanceof OpenAI.AuthenticationError);
  const unknown = await failure({}, { model: 'nobody' });
  assert.ok(unknown instanceof OpenAI.NotFoundError && unknown.code === 'model_not_found', unknown);
  const wrong = await failure({}, { n: 3 });
  assert.ok(wrong instanceof OpenAI.BadRequestError && wrong.param === 'n', wrong);
  for (const stream of [false, true]) {
    const failed = await failure({}, { messages: user('[case:fail]'), stream });
    assert.ok(failed instanceof OpenAI.InternalServerError && failed.code === 'model_failed', failed);
  }
  return `${unknown.message}; ${wrong.message}`;
});
