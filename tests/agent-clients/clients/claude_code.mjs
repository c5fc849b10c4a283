// Claude Code with an agent as its model.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FOLDER, SERVER, TOKEN, check } from './check.mjs';
import { claude } from './claude.mjs';

const work = join(FOLDER, 'work');
mkdirSync(work);
writeFileSync(join(work, 'note.txt'), 'the word is heron-31\n');
const ask = (model, ...args) =>
  claude(args, { cwd: work, env: { ANTHROPIC_BASE_URL: SERVER, ANTHROPIC_AUTH_TOKEN: TOKEN, ANTHROPIC_MODEL: model, ANTHROPIC_SMALL_FAST_MODEL: 'bare' } });

await check('a question; the agent calls its own function', async () => {
  const { result, is_error: isError } = await ask('planner', '[case:own] Which train?');
  assert.equal(isError, false);
  assert.match(result, /IC-707/);
  return result;
});

await check('the agent calls a tool of Claude Code', async () => {
  const { result, num_turns: turns } = await ask('bare', `[case:read] What is in file:${join(work, 'note.txt')} ?`);
  assert.match(result, /heron-31/);
  assert.equal(turns, 2);
  return result;
});

await check('a conversation goes on', async () => {
  const { session_id: session } = await ask('bare', '[case:plain] My name is Ada.');
  const { result } = await ask('bare', '--resume', session, '[case:history]');
  assert.match(result, /My name is Ada\./);
  return result;
});

await check('a failure is an error', async () => {
  const { is_error: isError, result } = await ask('bare', '[case:fail]');
  assert.equal(isError, true);
  return result;
});
