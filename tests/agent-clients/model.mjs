// Scripted language model: aimock, whose answer depends on the case that the question names, `[case:NAME]`. It speaks OpenAI's and Anthropic's
// protocols. Answers quote what tools returned, so that a client sees whether they were really called.
import { pathToFileURL } from 'node:url';

// Tokens of every answer of the model.
export const INPUT_TOKENS = 100;
export const OUTPUT_TOKENS = 10;

// A tool to call, by its name or the end of it: clients and providers put prefixes before names.
const call = (tool, values, text) => ({ tool, values, text });
const PROGRAM = { code: "import { trains } from '@capabilities/trains';\nexport default await trains.departures({ station: 'Harbour' });" };

// Steps of each case. After the last one the model answers with what the tools returned.
const CASES = {
  plain: [],
  own: [call('departures', { station: 'Central' }, 'I look it up.')],
  program: [call('run_code', PROGRAM)],
  // A client that offers tools by a search: their schemas come after it.
  search: [
    call('toolsearch', { query: 'select:mcp__spaces__run_code', max_results: 5 }),
    call('run_code', PROGRAM),
  ],
  book: [call('book', { train: 'IC-7' })],
  weather: [call('get_weather', { city: 'Paris' })],
  // The first tool is the agent's own, the second one the caller's.
  both: [call('departures', { station: 'Central' }), call('get_weather', { city: 'Paris' })],
  read: [call('read', ({ file }) => ({ file_path: file, filePath: file }))],
  'mcp-agent': [call('planner', { question: '[case:own] Which train leaves Central?' })],
};

function textOf(content) {
  return typeof content === 'string' ? content : (content ?? []).map((part) => part.text ?? '').join('');
}

function findTool(request, name) {
  const names = (request.tools ?? []).map((tool) => tool.function.name);
  const ends = (tool) => tool.toLowerCase().endsWith(name) && !/[a-z0-9]/i.test(tool.at(-name.length - 1) ?? '');
  return names.find((tool) => tool === name) ?? names.find(ends);
}

// Numbers and arguments that the schema of a tool does not have are left out: clients refuse them.
function allowed(request, tool, values) {
  const { parameters } = request.tools.find((known) => known.function.name === tool).function;
  return Object.fromEntries(Object.entries(values).filter(([key]) => parameters?.properties?.[key] !== undefined));
}

function answer(request) {
  const messages = request.messages ?? [];
  const asked = messages.findLastIndex((message) => message.role === 'user' && /\[case:[\w-]+\]/.test(textOf(message.content)));
  if (asked < 0) return { content: 'No case.' };
  const question = textOf(messages[asked].content);
  const [, name] = question.match(/\[case:([\w-]+)\]/);
  const since = messages.slice(asked + 1);
  const system = messages.filter((message) => message.role === 'system').map((message) => textOf(message.content)).join('\n');
  switch (name) {
    case 'system':
      return { content: `The system prompt is: ${system}` };
    case 'tools':
      return { content: `The tools are: ${(request.tools ?? []).map((tool) => tool.function.name).join(', ')}` };
    case 'history':
      return { content: `Asked before: ${messages.slice(0, asked).filter((message) => message.role === 'user').map((message) => textOf(message.content)).join(' | ')}` };
    case 'image': {
      const kinds = (Array.isArray(messages[asked].content) ? messages[asked].content : []).map((part) => part.type);
      return { content: `The parts are: ${kinds.join(', ')}` };
    }
    case 'json':
      return { content: JSON.stringify({ train: 'IC-7', hour: 7 }) };
    case 'fail':
      return { error: { message: 'no such model', type: 'invalid_request_error' }, status: 400 };
  }
  const steps = CASES[name];
  if (!steps) return { content: `Unknown case ${name}.` };
  const called = since.flatMap((message) => message.tool_calls ?? []).map((made) => made.function.name);
  const done = steps.findLastIndex((step) => called.includes(findTool(request, step.tool)));
  const step = steps[done + 1];
  if (!step) {
    const results = since.filter((message) => message.role === 'tool').map((message) => textOf(message.content));
    return { content: results.length ? `The tools returned: ${results.join(' | ')}` : 'A plain answer in a few words.' };
  }
  const tool = findTool(request, step.tool);
  if (!tool) return { content: `There is no tool ${step.tool}.` };
  const [, file] = question.match(/file:(\S+)/) ?? [];
  const values = allowed(request, tool, typeof step.values === 'function' ? step.values({ file }) : step.values);
  const toolCalls = [{ name: tool, arguments: JSON.stringify(values) }];
  return step.text ? { content: step.text, toolCalls } : { toolCalls };
}

function respond(request) {
  const response = answer(request);
  if (response.error) return response;
  // Names of both protocols: each one reads its own.
  const usage = { prompt_tokens: INPUT_TOKENS, completion_tokens: OUTPUT_TOKENS, input_tokens: INPUT_TOKENS, output_tokens: OUTPUT_TOKENS };
  return { ...response, usage };
}

// Starts the model; `packages` is the folder with aimock.
export async function startModel(packages) {
  const { LLMock } = await import(pathToFileURL(`${packages}/@copilotkit/aimock/dist/index.js`));
  const mock = new LLMock({ port: 0, chunkSize: 8, strict: true });
  mock.on({ predicate: () => true }, respond);
  await mock.start();
  return mock;
}
