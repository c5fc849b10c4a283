// Scripted language model over OpenAI's chat protocol. The question chooses what it does: `[pay]`, `[run]`, `[slow]`, `[hostile]`, `[fail]`.
import { createServer } from 'node:http';

export const HOSTILE_ANSWER = '<img src=x onerror=alert(1)> **bold** [click](javascript:alert(2)) javascript:alert(3) \u202Ereversed\u202C \u001b[31mred https://example.com/page). http://user@example.com/ https://exämple.com/';

function textOf(content) {
  return typeof content === 'string' ? content : (content ?? []).map((part) => part.text ?? '').join('');
}

function decide({ messages = [], tools = [] }) {
  const asked = messages.findLastIndex(({ role }) => role === 'user');
  const question = textOf(messages[asked]?.content);
  const results = messages.slice(asked + 1).filter(({ role }) => role === 'tool');
  const tool = (end) => tools.map((known) => known.function.name).find((name) => name.toLowerCase().endsWith(end));
  if (results.length > 0) return { text: `The tool said: ${results.map(({ content }) => textOf(content)).join(' ')}` };
  if (question.includes('[pay]')) return { text: 'I pay.', call: { name: tool('pay'), values: { to: 'ada', amount: 5 } } };
  if (question.includes('[run]')) return { call: { name: tool('run_code') ?? tool('code'), values: { code: 'console.log("from the agent"); export default 6 * 7' } } };
  if (question.includes('[slow]')) return { text: 'word '.repeat(400), pause: 100 };
  if (question.includes('[hostile]')) return { text: HOSTILE_ANSWER };
  if (question.includes('[fail]')) return { status: 400 };
  return { text: `Answer number ${messages.filter(({ role }) => role === 'user').length}. See https://example.com/help.` };
}

function respond(request, response, body) {
  const { status, text = '', call, pause = 0 } = decide(body);
  if (status) {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: { message: 'no such model', type: 'invalid_request_error' } }));
    return;
  }
  const usage = { prompt_tokens: 1000, completion_tokens: 20, total_tokens: 1020 };
  const calls = call && [{ id: `call_${Math.random().toString(36).slice(2)}`, type: 'function', function: { name: call.name ?? 'missing', arguments: JSON.stringify(call.values) } }];
  const finish = call ? 'tool_calls' : 'stop';
  const head = { id: 'chatcmpl-1', created: 1, model: 'm' };
  if (!body.stream) {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ ...head, object: 'chat.completion', choices: [{ index: 0, message: { role: 'assistant', content: text, tool_calls: calls }, finish_reason: finish }], usage }));
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const chunk = (delta, more = {}) => response.write(`data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: null, ...more }] })}\n\n`);
  const pieces = text.match(/.{1,8}/gsu) ?? [];
  const next = () => {
    if (response.destroyed) return;
    const piece = pieces.shift();
    if (piece !== undefined) {
      chunk({ content: piece });
      setTimeout(next, pause);
      return;
    }
    if (calls) chunk({ tool_calls: calls.map((one, index) => ({ index, ...one })) });
    chunk({}, { finish_reason: finish });
    response.end(`data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices: [], usage })}\n\ndata: [DONE]\n\n`);
  };
  chunk({ role: 'assistant' });
  next();
}

export async function startModel() {
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (part) => (text += part));
    request.on('end', () => {
      try {
        respond(request, response, JSON.parse(text || '{}'));
      } catch (error) {
        response.writeHead(500).end(String(error));
      }
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${server.address().port}/v1`, stop: () => (server.closeAllConnections(), server.close()) };
}
