// Fake server: the routes of the OpenAPI document over a state in memory, with faults that a test asks for.
// It refuses what the document does not list: routes, query parameters, headers of conditions, members of bodies.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

export const documentUrl = new URL('../../openapi.json', import.meta.url);
export const document = JSON.parse(readFileSync(documentUrl, 'utf8'));
export const TOKEN = 'tok_3f9a-secret';
const NOW = '2025-01-15T10:30:00.000Z';

// Generator of random numbers with a seed, so that a failure can be repeated.
export function random(seed) {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const routes = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.keys(methods)
    .filter((method) => ['get', 'head', 'post', 'put', 'patch', 'delete'].includes(method))
    .map((method) => ({
      key: `${method.toUpperCase()} ${path.replace(/\{\*?\w+\}/g, '{}')}`,
      method: method.toUpperCase(),
      operation: methods[method],
      pattern: new RegExp(`^${path.replace(/\./g, '\\.').replace(/\{\*?(\w+)\}/g, (_, name) => (name === 'path' ? '(.+)' : '([^/]+)'))}$`),
    })),
);
// `search` is a route of its own, before `{name}`.
routes.sort((a, b) => a.key.split('{').length - b.key.split('{').length);

const problem = (status, code, detail, more = {}) => ({
  status,
  type: 'application/problem+json',
  body: JSON.stringify({ type: `urn:agent-spaces:problem:${code}`, title: code, status, code, detail, ...more }),
});
const json = (status, body, headers = {}) => ({ status, type: 'application/json', body: JSON.stringify(body), headers });

export class Fake {
  constructor() {
    this.requests = []; // {key, headers, body}
    this.used = new Set(); // keys of routes
    this.faults = []; // {key, times, status, headers, cut: 'before' | 'after', text}
    this.spaces = new Map();
    this.files = new Map();
    this.runs = new Map();
    this.approvals = new Map();
    this.programs = [];
    this.audit = [{ seq: 1, time: NOW, entry: { type: 'runStarted' } }];
    this.exported = 2; // entries of one export
    this.servers = new Map();
    this.keys = new Map();
    this.pageSize = 3;
    this.stream = { cuts: 0, random: random(1), newline: '\n', comments: true, chunk: 64 };
    this.connections = 0; // streams so far
    this.open = 0; // streams now
    this.watchers = new Set();
    this.server = createServer((request, response) => this.#serve(request, response));
  }

  async start() {
    await new Promise((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    this.url = `http://127.0.0.1:${this.server.address().port}`;
    return this;
  }

  async stop() {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  // Adds a run with these events; `ended` decides whether streams end.
  addRun({ id = `run_${this.runs.size + 1}`, space = 'spc_1', events = [], status = 'finished', value, error } = {}) {
    const run = { id, spaceId: space, name: id, status, createdAt: NOW, updatedAt: NOW, ...(value === undefined ? {} : { value }), ...(error ? { error } : {}) };
    this.runs.set(id, { run, events: events.map((event, seq) => ({ ...event, timestamp: NOW, runId: id, seq })) });
    return id;
  }

  async #serve(request, response) {
    const url = new URL(request.url, this.url);
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    let route;
    let captured;
    for (const one of routes) {
      captured = one.method === request.method && one.pattern.exec(url.pathname);
      if (captured) {
        route = one;
        break;
      }
    }
    const key = route?.key ?? `${request.method} ${url.pathname}`;
    this.requests.push({ key, headers: request.headers, body: body.toString(), query: url.searchParams });
    if (route) this.used.add(key);
    const fault = this.faults.find((one) => one.key === key && one.times > 0);
    if (fault) {
      fault.times -= 1;
      if (fault.hang) return;
      if (fault.cut === 'before') return request.socket.destroy();
      if (fault.status) {
        response.writeHead(fault.status, { 'content-type': fault.type ?? 'application/problem+json', ...fault.headers });
        return response.end(fault.text ?? problem(fault.status, fault.code ?? 'run.busy', 'busy').body);
      }
    }
    const parameters = (captured || []).slice(1).map(decodeURIComponent);
    const answer = this.#check(route, request, url, body) ?? this.#answer(key, parameters, url.searchParams, request, body, response);
    if (answer === undefined) return; // a stream
    if (fault?.cut === 'after') return request.socket.destroy();
    response.writeHead(answer.status, { ...(answer.type ? { 'content-type': answer.type } : {}), ...answer.headers });
    response.end(request.method === 'HEAD' ? undefined : answer.body);
  }

  #check(route, request, url, body) {
    if (request.headers.authorization !== `Bearer ${TOKEN}`) return problem(401, 'auth.token', `wrong token: ${request.headers.authorization}`);
    if (!route) return problem(404, 'not_found', `no route ${url.pathname}`);
    const known = (route.operation.parameters ?? []).map((one) => `${one.in} ${one.name.toLowerCase()}`);
    for (const name of url.searchParams.keys()) {
      if (!known.includes(`query ${name.toLowerCase()}`)) return problem(400, 'request.invalid', `unknown query parameter ${name}`);
    }
    for (const name of ['if-match', 'if-none-match', 'idempotency-key', 'last-event-id']) {
      if (name in request.headers && !known.includes(`header ${name}`)) return problem(400, 'request.invalid', `unknown header ${name}`);
    }
    const schema = route.operation.requestBody?.content?.['application/json']?.schema;
    if (schema) {
      const type = document.components.schemas[schema.$ref.split('/').pop()];
      const members = JSON.parse(body.toString());
      const errors = Object.keys(members).filter((name) => !(name in type.properties)).map((name) => ({ pointer: `/${name}`, detail: 'unknown member' }));
      for (const name of type.required ?? []) if (!(name in members)) errors.push({ pointer: `/${name}`, detail: 'missing' });
      if (errors.length > 0) return problem(400, 'request.invalid', 'wrong body', { errors });
    } else if (body.length > 0 && !route.operation.requestBody) {
      return problem(400, 'request.invalid', 'no body expected');
    }
    return undefined;
  }

  #page(items, query) {
    const start = query.get('cursor') ? Number(atob(query.get('cursor'))) : 0;
    const size = Number(query.get('limit') ?? this.pageSize);
    const next = start + size < items.length ? { next: btoa(String(start + size)) } : {};
    return json(200, { items: items.slice(start, start + size), ...next });
  }

  #answer(key, [first, second], query, request, body, response) {
    const missing = problem(404, 'not_found', 'not found');
    const space = this.spaces.get(first);
    const entry = this.runs.get(first);
    const sent = body.length > 0 && request.headers['content-type'] === 'application/json' ? JSON.parse(body.toString()) : {};
    const once = (make) => {
      const idempotency = request.headers['idempotency-key'];
      if (!idempotency) return problem(400, 'request.invalid', 'the fake wants Idempotency-Key');
      if (!this.keys.has(idempotency)) this.keys.set(idempotency, make());
      return this.keys.get(idempotency);
    };
    switch (key) {
      case 'POST /v1/spaces':
        return once(() => {
          const { ttlSeconds, webhook, ...rest } = sent;
          const hook = webhook && { webhook: { events: ['run.ended', 'approval.needed'], enabled: true, ...webhook, secret: 'whsec_1' } };
          const given = { source: 'api', hasFiles: true, modules: [], createdAt: NOW, updatedAt: NOW, etag: '"1"' };
          const made = { capabilities: [], limits: {}, ...rest, ...hook, id: `spc_${this.spaces.size + 1}`, ...given };
          this.spaces.set(made.id, made);
          return json(201, made, { etag: made.etag, location: `/v1/spaces/${made.id}` });
        });
      case 'GET /v1/spaces':
        return this.#page([...this.spaces.values()], query);
      case 'GET /v1/spaces/{}':
        return space ? json(200, space, { etag: space.etag }) : missing;
      case 'PATCH /v1/spaces/{}':
        if (!space) return missing;
        if (request.headers['if-match'] !== space.etag) return problem(412, 'precondition', 'changed meanwhile');
        if (sent.ttlSeconds) space.expiresAt = NOW;
        Object.assign(space, { ...sent, ttlSeconds: undefined }, { etag: `"${Number(space.etag.slice(1, -1)) + 1}"` });
        return json(200, space, { etag: space.etag });
      case 'PATCH /v1/spaces/{}/webhook':
        if (!space?.webhook) return missing;
        if (request.headers['if-match'] !== space.etag) return problem(412, 'precondition', 'changed meanwhile');
        Object.assign(space, { webhook: { ...space.webhook, ...sent, secret: undefined }, etag: `"${Number(space.etag.slice(1, -1)) + 1}"` });
        return json(200, space, { etag: space.etag });
      case 'DELETE /v1/spaces/{}':
        return this.spaces.delete(first) ? { status: 204 } : missing;
      case 'GET /v1/spaces/{}/files':
        return this.#page([...this.files].filter(([path]) => path.startsWith(query.get('prefix') ?? '')).map(([path, file]) => this.#file(path, file)), query);
      case 'GET /v1/spaces/{}/files/{}':
      case 'HEAD /v1/spaces/{}/files/{}': {
        const file = this.files.get(second);
        const headers = { etag: `"${file?.version}"`, 'content-length': file?.bytes.length };
        return file ? { status: 200, type: 'application/octet-stream', body: file.bytes, headers } : missing;
      }
      case 'PUT /v1/spaces/{}/files/{}': {
        const old = this.files.get(second);
        const { 'if-match': match, 'if-none-match': none } = request.headers;
        if ((match && match !== `"${old?.version}"`) || (none === '*' && old)) return problem(412, 'precondition', 'changed meanwhile');
        const file = { bytes: body, version: (old?.version ?? 0) + 1 };
        this.files.set(second, file);
        return { status: old ? 200 : 201, headers: { etag: `"${file.version}"`, 'content-length': 0 } };
      }
      case 'DELETE /v1/spaces/{}/files/{}': {
        const match = request.headers['if-match'];
        if (match && match !== `"${this.files.get(second)?.version}"`) return problem(412, 'precondition', 'changed meanwhile');
        return this.files.delete(second) ? { status: 204 } : missing;
      }
      case 'POST /v1/spaces/{}/runs':
        if (!space) return missing;
        if (sent.source?.includes('syntax error')) return problem(422, 'script.syntax', 'unexpected token');
        return once(() => this.#execute(first, sent, query.has('wait')));
      case 'GET /v1/runs':
        return this.#page([...this.runs.values()].map(({ run }) => run).filter((run) => !query.has('status') || run.status === query.get('status')), query);
      case 'GET /v1/runs/{}':
        return entry ? json(200, entry.run) : missing;
      case 'POST /v1/runs/{}/cancel':
        if (!entry) return missing;
        if (entry.run.status === 'finished') return problem(409, 'run.ended', 'the run has ended');
        entry.run.status = 'cancelled';
        this.#changed();
        return json(202, entry.run);
      case 'POST /v1/runs/{}/resume':
        if (entry?.run.status !== 'needs_resume') return problem(409, 'conflict', 'the run does not wait to be resumed');
        entry.run.status = 'running';
        return json(202, entry.run);
      case 'POST /v1/runs/{}/answers':
        if (!entry) return missing;
        entry.answer = sent;
        entry.run.status = 'running';
        return json(200, entry.run);
      case 'GET /v1/runs/{}/events':
        if (!entry) return missing;
        if (request.headers.accept === 'text/event-stream') return void this.#stream([first], query, request, response);
        return json(200, this.#eventPage(entry, Number(query.get('after') ?? -1), Number(query.get('limit') ?? 20)));
      case 'GET /v1/events':
        return void this.#stream(query.getAll('run'), query, request, response);
      case 'GET /v1/approvals':
        return this.#page(ordered([...this.approvals.values()].filter((one) => !query.has('status') || one.status === query.get('status')), query), query);
      case 'GET /v1/approvals/{}':
        return this.approvals.has(first) ? json(200, this.approvals.get(first)) : missing;
      case 'POST /v1/approvals/{}/decision':
        return this.approvals.has(first) ? this.#decide(this.approvals.get(first), sent) : missing;
      case 'GET /v1/capabilities':
        return this.#page([capability(false)], query);
      case 'GET /v1/capabilities/{}':
        return first === 'crm' ? json(200, capability(true)) : missing;
      case 'GET /v1/capabilities/search':
        return json(200, { items: capability(false).functions });
      case 'POST /v1/programs':
        return once(() => {
          const newest = this.programs.filter((one) => one.name === sent.name).at(-1);
          if (newest?.source === sent.source) return json(200, programVersion(newest, true));
          const version = (newest?.version ?? 0) + 1;
          this.programs.push({ ...sent, version });
          return json(201, programVersion(this.programs.at(-1), true), { location: `/v1/programs/${sent.name}/versions/${version}` });
        });
      case 'GET /v1/programs':
        return this.#page([...new Map(this.programs.map((one) => [one.name, one])).values()].map(program), query);
      case 'GET /v1/programs/{}': {
        const found = this.programs.filter((one) => one.name === first).at(-1);
        return found ? json(200, program(found)) : missing;
      }
      case 'GET /v1/programs/{}/versions':
        return this.#page(this.programs.filter((one) => one.name === first).map((one) => programVersion(one, false)).reverse(), query);
      case 'GET /v1/programs/{}/versions/{}': {
        const found = this.programs.find((one) => one.name === first && one.version === Number(second));
        return found ? json(200, programVersion(found, true)) : missing;
      }
      case 'DELETE /v1/programs/{}': {
        const before = this.programs.length;
        this.programs = this.programs.filter((one) => one.name !== first);
        return this.programs.length < before ? { status: 204 } : missing;
      }
      case 'GET /v1/audit':
        return this.#page(this.#audited(query), query);
      case 'GET /v1/audit/export': {
        const entries = this.#audited(query);
        const start = Number(query.get('cursor') ?? 0);
        const lines = entries.slice(start, start + this.exported);
        if (start + this.exported < entries.length) lines.push({ next: String(start + this.exported) });
        return { status: 200, type: 'application/x-ndjson', body: lines.map((line) => `${JSON.stringify(line)}\n`).join('') };
      }
      case 'GET /v1/audit/verification':
        return json(200, { ok: true, verdict: 'unchanged', entries: this.audit.length, files: 1 });
      case 'GET /v1/servers':
        return this.#page([...this.servers.values()], query);
      case 'POST /v1/servers/{}/accept': {
        const server = this.servers.get(first);
        if (!server) return missing;
        if (sent.offer !== undefined && sent.offer !== server.offer) return problem(409, 'server.changed', 'its tools changed');
        const { offer, changes, ...accepted } = { ...server, status: 'connected' };
        this.servers.set(first, accepted);
        return json(200, accepted);
      }
      default:
        return problem(500, 'host.internal', `the fake has no ${key}`);
    }
  }

  #audited(query) {
    const types = query.getAll('type');
    return ordered(this.audit.filter(({ entry }) => types.length === 0 || types.includes(entry.type)), query);
  }

  #file(path, { bytes }) {
    return { path, size: bytes.length, modifiedAt: NOW };
  }

  #eventPage({ run, events }, after, limit) {
    const items = events.filter(({ seq }) => seq > after).slice(0, limit);
    const last = items.at(-1)?.seq ?? after;
    return { items, ...(last < 0 ? {} : { next: last }), ended: ended(run) && last >= events.length - 1 };
  }

  // What a script does is decided by words in it.
  #execute(space, { source = '', program, input }, wait) {
    const started = { type: 'runStarted', script: 'program.ts', interfaces: [] };
    const usage = { fuel: 1, memoryBytes: 1, wallMs: 1, calls: 0, bytesIn: 0, bytesOut: 0 };
    let id;
    if (source.includes('createTicket')) {
      const approvalId = `apr_${this.approvals.size + 1}`;
      const call = { callId: 1, functionId: 'capabilities:crm/crm@1.0.0#create-ticket', capability: 'crm', function: 'createTicket', params: {} };
      const events = [started, { type: 'approvalRequired', source: 'capability', message: 'Create a ticket?', approvalId, expiresAt: NOW, ...call }];
      id = this.addRun({ space, status: 'awaiting_approval', events });
      const asked = { message: 'Create a ticket?', module: '@company/internal-sdk', places: ['program.ts:1'], createdAt: NOW, expiresAt: NOW };
      this.approvals.set(approvalId, { id: approvalId, runId: id, spaceId: space, status: 'pending', ...call, ...asked });
    } else if (source.includes('throw')) {
      const error = { code: 'script.error', message: 'no such customer', name: 'Error' };
      id = this.addRun({ space, status: 'failed', error, events: [started, { type: 'runFinished', ok: false, error, usage }] });
    } else {
      const value = program ? { program } : source.includes("'hello '") ? `hello ${input?.name}` : { input: input ?? null };
      id = this.addRun({ space, value, events: [started, { type: 'console', level: 'log', text: 'hello' }, { type: 'runFinished', ok: true, usage }] });
    }
    const { run } = this.runs.get(id);
    // Without `wait` the answer comes before the run has ended.
    return wait ? json(201, run) : json(202, { ...run, status: 'queued', value: undefined, error: undefined });
  }

  #decide(approval, { decision, reason, by }) {
    if (approval.status !== 'pending') return problem(409, 'approval.decided', 'already decided');
    Object.assign(approval, { status: decision === 'approve' ? 'approved' : 'denied', decision: { decision, by: by ?? 'the operator', caller: 'the operator', reason, decidedAt: NOW } });
    const { run, events } = this.runs.get(approval.runId);
    const push = (event) => events.push({ ...event, timestamp: NOW, runId: run.id, seq: events.length });
    push({ type: 'approvalDecided', approvalId: approval.id, callId: 1, decision });
    push({ type: 'runFinished', ok: true, usage: {} });
    run.status = 'finished';
    run.value = { ticket: decision === 'approve' };
    this.#changed();
    return json(200, approval);
  }

  #changed() {
    for (const watcher of this.watchers) watcher();
  }

  async #stream(runs, query, request, response) {
    this.connections += 1;
    this.open += 1;
    response.once('close', () => (this.open -= 1));
    const { newline, comments, chunk, random: pick } = this.stream;
    const id = request.headers['last-event-id'];
    const positions = id === undefined ? runs.map(() => -1) : id.split(',').map((text) => Math.max(-1, Number(text || -1) - (this.stream.overlap ?? 0)));
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.flushHeaders();
    const entries = runs.map((run) => this.runs.get(run));
    for (;;) {
      const lines = comments ? [`: keep-alive${newline}${newline}`] : [];
      // Runs take turns, as their events would in a real stream.
      for (let more = true; more; ) {
        more = false;
        entries.forEach(({ events }, index) => {
          const event = events[positions[index] + 1];
          if (event === undefined) return;
          more = true;
          positions[index] += 1;
          lines.push(`id: ${positions.map((one) => (one < 0 ? '' : one)).join(',')}${newline}data: ${JSON.stringify(event)}${newline}${newline}`);
        });
      }
      const over = entries.every(({ run }) => ended(run));
      for (const { run } of entries) {
        if (ended(run)) lines.push(`event: end${newline}data: ${JSON.stringify({ runId: run.id, status: run.status })}${newline}${newline}`);
      }
      let bytes = Buffer.from(lines.join(''));
      const cut = this.stream.cuts > 0;
      if (cut) {
        this.stream.cuts -= 1;
        bytes = bytes.subarray(0, pick(Math.min(bytes.length, this.stream.reach ?? 700)));
      }
      for (let start = 0; start < bytes.length; ) {
        const size = 1 + pick(chunk);
        response.write(bytes.subarray(start, start + size));
        start += size;
        // A turn of the loop flushes the chunk by itself.
        if (pick(4) === 0) await new Promise((resolve) => setImmediate(resolve));
      }
      if (cut) {
        await new Promise((resolve) => setTimeout(resolve, 2));
        return pick(2) === 0 ? request.socket.destroy() : response.end();
      }
      if (over || query.get('follow') === 'false') return response.end();
      await new Promise((resolve) => {
        this.watchers.add(resolve);
        request.socket.once('close', resolve);
      });
      if (request.socket.destroyed) return undefined;
    }
  }
}

function ordered(items, query) {
  return query.get('order') === 'newest' ? [...items].reverse() : items;
}

function ended(run) {
  return ['finished', 'failed', 'cancelled'].includes(run.status);
}

function capability(whole) {
  const module = '@company/internal-sdk';
  const listed = { name: 'crm', module, entry: module, functions: [{ name: 'crm.createTicket', id: 'x#y', module, signature: '(p: {})', description: 'd' }] };
  return whole ? { ...listed, declarations: `declare module '${module}' {}`, wit: 'package x:y;' } : listed;
}

function program({ name, version, description }) {
  return { name, version, createdAt: NOW, updatedAt: NOW, ...(description ? { description } : {}) };
}

function programVersion({ name, version, source }, whole) {
  return { name, version, hash: 'af13', createdAt: NOW, ...(whole ? { source } : {}) };
}
