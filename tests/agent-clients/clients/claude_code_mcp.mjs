// Claude Code with a scripted model that calls the tools of `agent-spaces mcp serve`, and of `agent-spaces serve` over HTTP.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FOLDER, MODEL, SERVER, TOKEN, check } from './check.mjs';
import { claude } from './claude.mjs';

const { BINARY, PROJECT, PROJECT_ENVIRONMENT } = process.env;
const work = join(FOLDER, 'work');
mkdirSync(work);
const servers = {
  stdio: { command: BINARY, args: ['mcp', 'serve', '--config', join(PROJECT, 'agent-spaces.config.json'), '--space', 'travel'], env: JSON.parse(PROJECT_ENVIRONMENT) },
  http: { type: 'http', url: `${SERVER}/mcp`, headers: { Authorization: `Bearer ${TOKEN}` } },
};

const SCRIPTED = { ANTHROPIC_BASE_URL: MODEL, ANTHROPIC_AUTH_TOKEN: 'scripted', ANTHROPIC_MODEL: 'claude-sonnet-5', ENABLE_TOOL_SEARCH: 'false' };

// Asks with the tools of one of the servers.
function ask(name, question, env = SCRIPTED) {
  const file = join(FOLDER, `${name}.json`);
  writeFileSync(file, JSON.stringify({ mcpServers: { spaces: servers[name] } }));
  return claude(['--mcp-config', file, '--strict-mcp-config', '--allowedTools', 'mcp__spaces', '--', question], { cwd: work, env });
}

for (const name of Object.keys(servers)) {
  await check(`${name}: the tools are there`, async () => {
    const { result } = await ask(name, '[case:tools]');
    for (const tool of ['run_code', 'planner', 'coder', 'bare']) assert.match(result, new RegExp(`mcp__spaces__${tool}\\b`));
    return result.replace(/.*?(?=mcp__)/, '');
  });

  await check(`${name}: a program calls a function`, async () => {
    const { result, is_error: isError } = await ask(name, '[case:program] Which train?');
    assert.equal(isError, false);
    assert.match(result, /IC-707/);
    return result;
  });

  await check(`${name}: an agent is a tool`, async () => {
    const { result } = await ask(name, '[case:mcp-agent] Which train?');
    assert.match(result, /IC-707/);
    return result;
  });
}

await check('an agent is the model, and finds the tool by a search', async () => {
  const env = { ANTHROPIC_BASE_URL: SERVER, ANTHROPIC_AUTH_TOKEN: TOKEN, ANTHROPIC_MODEL: 'bare', ENABLE_TOOL_SEARCH: 'true' };
  const { result, num_turns: turns } = await ask('stdio', '[case:search] Which train?', env);
  assert.match(result, /IC-707/);
  assert.equal(turns, 3);
  return result;
});
