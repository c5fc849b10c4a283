// opencode, with the agents as models of an OpenAI-compatible provider.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FOLDER, SERVER, TOKEN, check, program } from './check.mjs';

const work = join(FOLDER, 'work');
mkdirSync(work);
const configuration = {
  $schema: 'https://opencode.ai/config.json',
  autoupdate: false,
  share: 'disabled',
  provider: {
    spaces: {
      npm: '@ai-sdk/openai-compatible',
      name: 'Agent Spaces',
      options: { baseURL: `${SERVER}/v1`, apiKey: TOKEN },
      models: { planner: { name: 'planner', tool_call: true }, bare: { name: 'bare', tool_call: true } },
    },
  },
  model: 'spaces/planner',
  small_model: 'spaces/bare',
};
writeFileSync(join(work, 'opencode.json'), JSON.stringify(configuration));
writeFileSync(join(work, 'note.txt'), 'the word is heron-31\n');
const env = { OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_LSP_DOWNLOAD: '1' };
const opencode = (...args) => program(process.env.OPENCODE, ['run', ...args], { cwd: work, env });

await check('a question; the agent calls its own function', async () => {
  const text = await opencode('--model', 'spaces/planner', '[case:own] Which train?');
  assert.match(text, /IC-707/);
  return text;
});

await check('the agent calls a tool of opencode', async () => {
  const text = await opencode('--model', 'spaces/bare', `[case:read] What is in file:${join(work, 'note.txt')} ?`);
  assert.match(text, /heron-31/);
  return text;
});
