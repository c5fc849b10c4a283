// Server with made-up data, to look at the console without agent-spaces: node scripts/mock-server.mjs --port 8080
//   --runs N    ended runs (120)
//   --quiet     nothing happens by itself
//   --empty     a server with nothing in it, not even a space
//   --delay MS  of every answer
//   --dist DIR  files to serve (dist)
// Tokens: operator, desk (may approve), shop (may not). Links: #link=operator
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import * as data from './mock/data.mjs';
import { addEvent, answer, changes, finish, followers, Refusal, tellRun } from './mock/routes.mjs';

const { values: options } = parseArgs({
  options: { port: { type: 'string', default: '8080' }, runs: { type: 'string', default: '120' }, quiet: { type: 'boolean', default: false }, empty: { type: 'boolean', default: false }, delay: { type: 'string', default: '0' }, dist: { type: 'string', default: new URL('../dist', import.meta.url).pathname } },
});
const CSP = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const TYPES = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript; charset=utf-8', '.css': 'text/css; charset=utf-8', '.svg': 'image/svg+xml', '.txt': 'text/plain; charset=utf-8' };
const dist = resolve(options.dist);
const cookies = new Map();

if (options.empty) {
  for (const list of [data.spaces, data.capabilities, data.servers, data.agents, data.files, data.programs, data.approvals]) list.length = 0;
} else {
  data.seed(Number(options.runs));
  data.seedAudit();
}

function json(response, status, value, headers = {}) {
  const type = status >= 400 ? 'application/problem+json' : 'application/json';
  if (value === undefined) return void response.writeHead(204, headers).end();
  response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store', ...headers }).end(JSON.stringify(value));
}

function file(response, path) {
  const name = path.slice('/console/'.length) || 'index.html';
  if (!/^[\w.-]+$/.test(name)) return void response.writeHead(404).end();
  try {
    const bytes = readFileSync(join(dist, name));
    response.writeHead(200, { 'content-type': TYPES[extname(name)] ?? 'application/octet-stream', 'content-security-policy': CSP, 'cache-control': 'no-cache', 'x-frame-options': 'DENY', 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer', 'cross-origin-opener-policy': 'same-origin' }).end(bytes);
  } catch {
    response.writeHead(404, { 'content-security-policy': CSP }).end();
  }
}

async function bodyOf(request) {
  const parts = [];
  for await (const part of request) parts.push(part);
  const text = Buffer.concat(parts).toString();
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function who(request) {
  const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1];
  if (token) return data.callers[token];
  if (request.headers['x-agent-spaces-console'] !== '1') return undefined;
  return cookies.get(/agent_spaces_session=(\w+)/.exec(request.headers.cookie ?? '')?.[1]);
}

function stream(request, response) {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  response.write('retry: 500\n\n:\n\n');
  const beat = setInterval(() => response.write(':\n\n'), 15_000);
  request.on('close', () => clearInterval(beat));
  return (event, value, id) => response.write(`${id === undefined ? '' : `id: ${id}\n`}${event ? `event: ${event}\n` : ''}data: ${JSON.stringify(value)}\n\n`);
}

function follow(request, response, run, query) {
  const send = stream(request, response);
  const last = request.headers['last-event-id'] ?? query.get('after');
  const from = last === undefined || last === null ? 0 : Number(last) + 1;
  for (const event of (data.events.get(run.id) ?? []).slice(from)) send('', event, event.seq);
  const end = (status) => {
    send('end', { runId: run.id, status });
    response.end();
  };
  if (run.endedAt || query.get('follow') === 'false') return end(run.status);
  if (run.status === 'in_doubt' || run.status === 'needs_resume') send('status', { runId: run.id, status: run.status });
  const follower = { run: run.id, push: (event) => send('', event, event.seq), end };
  followers.add(follower);
  request.on('close', () => followers.delete(follower));
}

function ask(request, response, agent) {
  const send = stream(request, response);
  const words = 'Two things are due today: the **invoice 2026-1117** and the report for Kim.'.split(' ');
  const steps = [
    ['turn', { number: 1 }],
    ['asking', { model: 'anthropic/claude-sonnet-5' }],
    ['reasoning', { text: 'The person asks what is due. ' }],
    ['answered', { model: 'anthropic/claude-sonnet-5', inputTokens: 800, outputTokens: 30 }],
    ['callStarted', { id: 'c1', name: 'run_program' }],
    ['callFinished', { id: 'c1', name: 'run_program', isError: false, bytes: 300 }],
    ['turn', { number: 2 }],
    ['asking', { model: 'anthropic/claude-sonnet-5' }],
    ...words.map((word) => ['text', { text: `${word} ` }]),
    ['answered', { model: 'anthropic/claude-sonnet-5', inputTokens: 1200, outputTokens: 60 }],
  ];
  const timer = setInterval(() => {
    const step = steps.shift();
    if (step) return void send(step[0], { type: step[0], ...step[1] });
    clearInterval(timer);
    send('answer', { ok: true, agent, text: words.join(' '), ending: 'done', turns: 2, usage: { inputTokens: 2000, outputTokens: 90 }, cost: 0.01, model: 'anthropic/claude-sonnet-5', session: 'ses_01' });
    response.end();
  }, 80);
  request.on('close', () => clearInterval(timer));
}

async function handle(request, response) {
  const { pathname: path, searchParams: query } = new URL(request.url, 'http://mock');
  const method = request.method;
  if (path === '/' || path === '/console') return void response.writeHead(302, { location: '/console/' }).end();
  if (path === '/console/session') {
    if (method === 'DELETE') return json(response, 204, undefined, { 'set-cookie': 'agent_spaces_session=; Path=/; Max-Age=0' });
    const body = await bodyOf(request);
    const me = data.callers[body.token ?? body.link];
    if (!me) throw new Refusal(401, 'auth.token', 'The token is not known.');
    const id = randomBytes(12).toString('hex');
    cookies.set(id, me);
    return json(response, 200, me, { 'set-cookie': `agent_spaces_session=${id}; HttpOnly; SameSite=Strict; Path=/; Max-Age=43200` });
  }
  if (path.startsWith('/console/')) return file(response, path);
  const me = who(request);
  if (!me) throw new Refusal(401, 'auth.token', 'Sign in first.');
  if (path === '/v1/changes') {
    const listener = { me, send: stream(request, response) };
    changes.add(listener);
    request.on('close', () => changes.delete(listener));
    return;
  }
  const wantsStream = (request.headers.accept ?? '').includes('text/event-stream');
  const run = /^\/v1\/runs\/([^/]+)\/events$/.exec(path)?.[1];
  if (run !== undefined) {
    const found = data.runs.find((one) => one.id === run);
    if (!found) throw new Refusal(404, 'not_found', 'There is no such run.');
    if (wantsStream) return follow(request, response, found, query);
    const after = query.has('after') ? Number(query.get('after')) + 1 : 0;
    const all = data.events.get(run) ?? [];
    const items = all.slice(after, after + Number(query.get('limit') ?? 100));
    return json(response, 200, { items, ...(items.length ? { next: items.at(-1).seq } : {}), ended: Boolean(found.endedAt) && after + items.length >= all.length });
  }
  if (path === '/v1/audit/export') {
    response.writeHead(200, { 'content-type': 'application/x-ndjson', 'content-disposition': 'attachment; filename="audit.jsonl"' });
    return void response.end(data.audit.map((one) => JSON.stringify(one)).join('\n'));
  }
  const content = /^\/v1\/spaces\/[^/]+\/files\/(.+)$/.exec(path)?.[1];
  if (content !== undefined) {
    if (method === 'GET') return void response.writeHead(200, { 'content-type': 'application/octet-stream', etag: '"f1"' }).end(`# ${decodeURIComponent(content)}\nline 2\n`);
    await bodyOf(request);
    return void response.writeHead(method === 'DELETE' ? 204 : 200, { etag: '"f2"' }).end();
  }
  const agent = /^\/v1\/([^/]+)$/.exec(path)?.[1];
  if (method === 'POST' && data.agents.some((one) => one.name === agent)) return ask(request, response, agent);
  const body = method === 'GET' ? undefined : await bodyOf(request);
  const result = answer(method, path, { me, query, body, headers: request.headers });
  if (!result) throw new Refusal(404, 'not_found', `There is no operation ${method} ${path}.`);
  json(response, 200, result.value, result.value?.etag ? { etag: result.value.etag } : {});
}

if (!options.quiet && !options.empty) {
  setInterval(() => {
    const active = data.runs.filter((run) => run.status === 'running');
    for (const run of active) if (data.next() < 0.5) addEvent(run, 'console', { level: 'log', text: `step ${data.events.get(run.id).length}` });
    if (active.length > 4) finish(active.at(-1), data.next() < 0.8 ? 'finished' : 'failed', undefined);
    else tellRun(data.makeRun('running', 0));
  }, 4000);
}

createServer((request, response) => {
  setTimeout(() => {
    handle(request, response).catch((error) => {
      if (!(error instanceof Refusal)) console.error(error);
      if (response.headersSent) return void response.end();
      json(response, error.problem?.status ?? 500, error.problem ?? { type: 'urn:mock', title: 'mock', status: 500, code: 'host.failed', detail: String(error) });
    });
  }, Number(options.delay));
}).listen(Number(options.port), '127.0.0.1', () => console.log(`http://127.0.0.1:${options.port}/console/#link=operator`));
