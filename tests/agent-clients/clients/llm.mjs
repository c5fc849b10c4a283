// The command `llm`, with the agents as OpenAI-compatible models.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FOLDER, SERVER, TOKEN, check, program } from './check.mjs';

const folder = join(FOLDER, 'llm');
mkdirSync(folder);
const model = (name) => `- model_id: spaces-${name}
  model_name: ${name}
  api_base: ${SERVER}/v1
  api_key_name: spaces
  supports_tools: true
  supports_schema: true
`;
writeFileSync(join(folder, 'extra-openai-models.yaml'), ['planner', 'bare'].map(model).join(''));
writeFileSync(join(folder, 'keys.json'), JSON.stringify({ spaces: TOKEN }));
writeFileSync(join(FOLDER, 'weather.py'), 'def get_weather(city: str) -> str:\n    "Weather of a city"\n    return "snow-in-" + city\n');
const llm = (...args) => program(process.env.LLM, args, { env: { LLM_USER_PATH: folder } });

await check('a question; the agent calls its own function', async () => {
  const text = await llm('-m', 'spaces-planner', '--no-stream', '[case:own] Which train?');
  assert.match(text, /^The tools returned: .*IC-707/);
  return text;
});

await check('stream', async () => {
  const text = await llm('-m', 'spaces-planner', '[case:own] Which train?');
  assert.match(text, /^I look it up\.\n\nThe tools returned: .*IC-707/);
  return text;
});

await check('a conversation', async () => {
  await llm('-m', 'spaces-bare', '[case:plain] My name is Ada.');
  const text = await llm('-c', '[case:history]');
  assert.match(text, /My name is Ada\./);
  return text;
});

await check('tools of the command', async () => {
  const text = await llm('-m', 'spaces-planner', '--functions', join(FOLDER, 'weather.py'), '[case:weather] How is it in Paris?');
  assert.match(text, /snow-in-Paris/);
  return text;
});

await check('a schema of the answer', async () => {
  const text = await llm('-m', 'spaces-bare', '--schema', 'train, hour int', '[case:json]');
  assert.deepEqual(JSON.parse(text), { train: 'IC-7', hour: 7 });
  return text;
});
