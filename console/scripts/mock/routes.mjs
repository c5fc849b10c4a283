// Answers of the mock server. They have the shapes of the REST API, not its checks.
import * as data from './data.mjs';

const { runs, events, approvals, spaces, capabilities, functions, servers, agents, sessions, messages, files, programs, audit } = data;

export class Refusal extends Error {
  constructor(status, code, detail) {
    super(detail);
    this.problem = { type: `urn:agent-spaces:problem:${code}`, title: code, status, code, detail };
  }
}
const missing = (what) => new Refusal(404, 'not_found', `There is no such ${what}.`);

/** Listeners of `GET /v1/changes`, and of the events of runs. */
export const changes = new Set();
export const followers = new Set();

export function tellRun(run) {
  run.updatedAt = new Date().toISOString();
  for (const { me, send } of changes) {
    if (me.operator || me.name === run.caller) send('run', { id: run.id, spaceId: run.spaceId, name: run.name, status: run.status, updatedAt: run.updatedAt });
  }
}
export function tellApproval(approval) {
  for (const { me, send } of changes) {
    if (me.operator || me.name === approval.caller) send('approval', { id: approval.id, ...(approval.agent === undefined ? { runId: approval.runId } : { agent: approval.agent }), status: approval.status });
  }
}
export function addEvent(run, type, members) {
  const list = events.get(run.id);
  const event = { type, timestamp: new Date().toISOString(), runId: run.id, seq: list.length, ...(run.caller ? { caller: run.caller } : {}), ...members };
  list.push(event);
  for (const follower of followers) if (follower.run === run.id) follower.push(event);
}
export function finish(run, status, error) {
  const list = events.get(run.id);
  const open = new Set();
  for (const event of list) {
    if (event.type === 'callScheduled') open.add(event.callId);
    else if (event.type === 'callResult' || event.type === 'callError') open.delete(event.callId);
  }
  if (status !== 'cancelled') for (const callId of open) addEvent(run, 'callResult', { callId, durationMs: 900 });
  run.status = status;
  run.endedAt = new Date().toISOString();
  run.usage = { fuel: 4.1e8, memoryBytes: 12 << 20, wallMs: Date.now() - Date.parse(run.createdAt), calls: 5, bytesIn: 4000, bytesOut: 900 };
  if (status === 'finished') Object.assign(run, { hasValue: true, value: { paid: 1 } });
  if (error) run.error = error;
  addEvent(run, 'runFinished', { ok: status === 'finished', usage: run.usage, ...(error ? { error } : {}) });
  for (const follower of followers) if (follower.run === run.id) follower.end(status);
  tellRun(run);
}

function page(list, query, max = 100) {
  const limit = Math.min(max, Number(query.get('limit') ?? 50));
  const from = Number(query.get('cursor') ?? 0);
  const items = list.slice(from, from + limit);
  return { items, ...(from + limit < list.length ? { next: String(from + limit) } : {}) };
}
const own = (me, thing) => me.operator || thing.caller === me.name;
function find(list, id, what) {
  const found = list.find((one) => one.id === id || one.name === id);
  if (!found) throw missing(what);
  return found;
}
const lean = ({ console: _c, value: _v, approvals: _a, ...run }) => run;

function capabilityView(one, whole) {
  const list = one.functions.map(({ parameters, returns, annotations, decision, ...rest }) => (whole ? { ...rest, parameters, returns, annotations, decision } : rest));
  const { declarations, wit, ...rest } = one;
  return whole ? { ...rest, functions: list, declarations, wit } : { ...rest, functions: list };
}

function auditList(me, query) {
  const text = query.get('q')?.toLowerCase();
  const list = audit.filter(({ time, entry }) => {
    if (!me.operator && entry.caller !== me.name) return false;
    if (query.has('type') && ![entry.type, entry.action].includes(query.get('type'))) return false;
    if (query.has('caller') && entry.caller !== query.get('caller')) return false;
    if (query.has('run') && entry.runId !== query.get('run')) return false;
    if (query.has('from') && time < query.get('from')) return false;
    if (query.has('until') && time >= query.get('until')) return false;
    return !text || JSON.stringify(entry).toLowerCase().includes(text);
  });
  return query.get('order') === 'newest' ? list.reverse() : list;
}

function decide(me, id, body) {
  const approval = find(approvals, id, 'approval');
  if (!me.operator && !me.mayApprove) throw new Refusal(403, 'auth.denied', 'This caller may not decide on approvals: the operator can set `mayApprove` for it.');
  if (approval.status !== 'pending') throw new Refusal(409, 'approval.decided', 'Somebody decided it before: approved by ann.');
  approval.status = body.decision === 'approve' ? 'approved' : 'denied';
  approval.decision = { decision: body.decision, by: body.by ?? me.name, caller: me.name, ...(body.reason ? { reason: body.reason } : {}), decidedAt: new Date().toISOString() };
  const run = runs.find((one) => one.id === approval.runId);
  tellApproval(approval);
  if (run?.status === 'awaiting_approval') {
    delete run.approvals;
    run.status = 'running';
    addEvent(run, 'approvalDecided', { approvalId: id, callId: 5, decision: body.decision, by: approval.decision.by });
    addEvent(run, 'runResumed', { pausedMs: 9000 });
    tellRun(run);
    setTimeout(() => {
      if (body.decision === 'approve') addEvent(run, 'callResult', { callId: 5, durationMs: 900 });
      else addEvent(run, 'callError', { callId: 5, durationMs: 900, code: 'call.denied', message: 'a person denied the call' });
      finish(run, body.decision === 'approve' ? 'finished' : 'failed', body.decision === 'approve' ? undefined : { code: 'call.denied', message: 'bank.pay: denied by ann' });
    }, 1500);
  }
  return approval;
}

function check(source) {
  const lines = source.split('\n');
  const diagnostics = [];
  lines.forEach((text, i) => {
    const column = text.indexOf('accuont');
    if (column >= 0) diagnostics.push({ line: i + 1, column: column + 1, severity: 'error', code: 'TS2561', message: "Object literal may only specify known properties, but 'accuont' does not exist. Did you mean to write 'account'?" });
    if (text.includes('any')) diagnostics.push({ line: i + 1, column: text.indexOf('any') + 1, severity: 'warning', code: 'any', message: 'Avoid `any`.' });
  });
  const imported = capabilities.filter((one) => source.includes(one.module));
  const interfaces = imported.map((one) => ({
    interface: one.functions[0].id.split('#')[0],
    functions: one.functions.map((each) => ({
      function: each.name,
      functionId: each.id,
      provider: { kind: 'mcp', description: 'MCP server' },
      decision: each.decision === 'approval' ? 'approve' : each.decision,
      because: `$.policy.functions["${each.name}"]`,
      terms: each.name === 'bank.pay' ? ['at most 5 calls in a run', 'the argument `account` matches DE*'] : [],
      namedAt: lines.flatMap((text, i) => (text.includes(`${each.name}(`) ? [{ file: 'program.ts', line: i + 1, column: text.indexOf(each.name) + 1 }] : [])),
    })),
  }));
  const standard = source.includes('@agent-spaces/std');
  const manifest = { script: 'program.ts', interfaces, limits: { timeMs: 60_000, memoryBytes: 64 << 20, calls: 1000, fuel: 1e9 }, ...(standard ? { files: { workspace: '/srv/files', read: true, write: true, maxFileBytes: 10e6, maxTotalBytes: 100e6 }, network: { enabled: true, domains: ['api.example.com', '*.acme.com'], methods: ['GET', 'HEAD'] } } : {}) };
  return { diagnostics, more: 0, types: { checked: true }, manifest };
}

const routes = [
  ['GET', '/v1/me', ({ me }) => me],
  ['GET', '/v1/runs', ({ me, query }) => page(runs.filter((run) => own(me, run) && (!query.has('status') || run.status === query.get('status')) && (!query.has('space') || run.spaceId === query.get('space')) && (!query.has('createdFrom') || run.createdAt >= query.get('createdFrom')) && (!query.has('createdUntil') || run.createdAt < query.get('createdUntil'))).map(lean), query)],
  ['GET', '/v1/runs/{}', ({ id }) => find(runs, id, 'run')],
  ['GET', '/v1/runs/{}/source', ({ id }) => ({ name: find(runs, id, 'run').name, source: data.SOURCE, modules: ['@capabilities/bank', '@capabilities/crm'], input: { query: 'overdue' } })],
  ['POST', '/v1/runs/{}/replay', ({ body }) => (body.source === undefined ? { same: true, calls: 5, text: 'The replay made the same 5 calls and ended the same way.\n' } : { same: false, calls: 4, text: 'The replay differs at call 5: the run called bank.pay, the replay ended.\n', difference: { recorded: 'call 5 of bank.pay', replayed: 'the end of the script', expected: { call: 5, function: 'bank.pay', functionId: 'capabilities:bank/bank@1.0.0#pay', params: { account: 'DE1', money: { amount: 42.5 } } }, places: ['payout.ts:16'] }, value: { paid: 0 }, hasValue: true, console: [{ level: 'log', text: '3 customers' }] })],
  ['POST', '/v1/runs/{}/cancel', ({ id }) => {
    const run = find(runs, id, 'run');
    if (run.endedAt) throw new Refusal(409, 'run.ended', 'The run has ended.');
    finish(run, 'cancelled', { code: 'run.cancelled', message: 'the run was cancelled' });
    return run;
  }],
  ['POST', '/v1/runs/{}/resume', ({ id }) => {
    const run = find(runs, id, 'run');
    run.status = 'running';
    tellRun(run);
    return run;
  }],
  ['POST', '/v1/runs/{}/answers', ({ id }) => {
    const run = find(runs, id, 'run');
    delete run.inDoubt;
    run.status = 'running';
    tellRun(run);
    return run;
  }],
  ['GET', '/v1/approvals', ({ me, query }) => page(approvals.filter((one) => own(me, one) && (!query.has('status') || one.status === query.get('status')) && (!query.has('agent') || one.agent === query.get('agent')) && (!query.has('run') || one.runId === query.get('run')) && (!query.has('space') || one.spaceId === query.get('space'))).sort((a, b) => (query.get('order') === 'newest' ? -1 : 1) * a.createdAt.localeCompare(b.createdAt)), query)],
  ['GET', '/v1/approvals/{}', ({ id }) => find(approvals, id, 'approval')],
  ['POST', '/v1/approvals/{}/decision', ({ me, id, body }) => decide(me, id, body)],
  ['GET', '/v1/spaces', ({ query }) => page(spaces, query)],
  ['POST', '/v1/spaces', ({ body }) => {
    const made = { id: `spc_${data.hex(6)}`, source: 'api', base: 'support', capabilities: [], modules: [], limits: {}, hasFiles: true, createdAt: new Date().toISOString(), updatedAt: new Date().toISOString(), etag: '"1"', ...body };
    if (body.webhook) made.webhook = { events: ['run.ended'], enabled: true, ...body.webhook };
    spaces.push(made);
    return made;
  }],
  ['GET', '/v1/spaces/{}', ({ id }) => find(spaces, id, 'space')],
  ['PATCH', '/v1/spaces/{}', ({ id, body, headers }) => {
    const space = find(spaces, id, 'space');
    if (headers['if-match'] && headers['if-match'] !== space.etag) throw new Refusal(412, 'conflict', 'Somebody else changed the space. Load it again.');
    return Object.assign(space, body, { etag: `"${Date.now()}"`, updatedAt: new Date().toISOString() });
  }],
  ['PATCH', '/v1/spaces/{}/webhook', ({ id, body }) => {
    const space = find(spaces, id, 'space');
    space.webhook = { ...space.webhook, ...body };
    return space;
  }],
  ['DELETE', '/v1/spaces/{}', ({ id }) => {
    spaces.splice(spaces.indexOf(find(spaces, id, 'space')), 1);
    return undefined;
  }],
  ['GET', '/v1/spaces/{}/files', ({ query }) => page(files.filter((file) => file.path.startsWith(query.get('prefix') ?? '')), query)],
  ['POST', '/v1/spaces/{}/runs', ({ me, id, body }) => {
    const run = data.makeRun('running', 0, { spaceId: id, name: body.name ?? 'program.ts', ...(me.operator ? {} : { caller: me.name }) });
    if (me.operator) delete run.caller;
    run.console = [];
    events.set(run.id, []);
    addEvent(run, 'runStarted', { script: run.name, interfaces: [] });
    tellRun(run);
    setTimeout(() => addEvent(run, 'console', { level: 'log', text: 'Hello from the mock server' }), 600);
    const thrown = String(body.source).split('\n').findIndex((text) => text.includes('throw '));
    setTimeout(() => (thrown < 0 ? finish(run, 'finished') : finish(run, 'failed', { code: 'script.error', name: 'Error', message: 'thrown by the script', location: { file: run.name, line: thrown + 1, column: 1 }, stack: `    at <module> (${run.name}:${thrown + 1}:1)` })), 2000);
    return run;
  }],
  ['POST', '/v1/spaces/{}/check', ({ body }) => check(body.source)],
  ['POST', '/v1/spaces/{}/explain', ({ body }) => {
    const found = Object.values(functions).flat().find((one) => one.name === body.function || one.id === body.function);
    if (!found) throw missing('function');
    return { function: found.name, functionId: found.id, decision: found.decision, text: `${found.name} ${found.decision === 'allow' ? 'is allowed' : found.decision === 'deny' ? 'is denied' : 'needs approval'}.\n  because of policy["${found.name.split('.')[0]}.*"]\n`, because: `policy["${found.name.split('.')[0]}.*"]`, rules: [{ text: 'at most 5 calls in a run', place: `policy["${found.name}"].maxPerRun` }, { text: 'account begins with DE', place: `policy["${found.name}"].arguments.account`, passes: body.params ? String(body.params.account ?? '').startsWith('DE') : undefined, ...(body.params && !String(body.params.account ?? '').startsWith('DE') ? { why: 'the account is in another country' } : {}) }] };
  }],
  ['GET', '/v1/capabilities', ({ query }) => page(capabilities.map((one) => capabilityView(one, false)), query)],
  ['GET', '/v1/capabilities/search', ({ query }) => ({ items: Object.values(functions).flat().filter((one) => `${one.name} ${one.description}`.toLowerCase().includes((query.get('q') ?? '').toLowerCase())).map(({ parameters: _p, returns: _r, annotations: _a, decision: _d, ...rest }) => rest) })],
  ['GET', '/v1/capabilities/{}', ({ id }) => capabilityView(find(capabilities, id, 'capability'), true)],
  ['GET', '/v1/programs', ({ query }) => page(programs, query)],
  ['GET', '/v1/programs/{}', ({ id }) => find(programs, id, 'program')],
  ['GET', '/v1/programs/{}/versions', ({ query }) => page([3, 2, 1].map((version) => ({ name: 'report', version, hash: data.hex(64), createdAt: data.ago(version * 1e7) })), query)],
  ['GET', '/v1/programs/{}/versions/{}', ({ id }) => ({ name: id, version: 3, hash: data.hex(64), createdAt: data.ago(1e7), source: data.SOURCE })],
  ['POST', '/v1/programs', ({ body }) => ({ name: body.name, version: 1, hash: data.hex(64), createdAt: new Date().toISOString() })],
  ['GET', '/v1/servers', ({ query }) => page(servers, query)],
  ['POST', '/v1/servers/{}/accept', ({ me, id }) => {
    if (!me.operator) throw new Refusal(403, 'auth.denied', 'Only the operator accepts changes of servers.');
    const server = find(servers, id, 'server');
    server.status = 'connected';
    delete server.changes;
    return server;
  }],
  ['GET', '/v1/audit', ({ me, query }) => page(auditList(me, query), query)],
  ['GET', '/v1/audit/verification', ({ me }) => {
    if (!me.operator) throw new Refusal(403, 'auth.denied', 'Only the operator verifies the log.');
    return { verdict: 'unchanged', entries: audit.length, files: 1, recovered: 0, lost: 0, gaps: 0, unwritten: 0, waiting: 0, removed: 0 };
  }],
  ['GET', '/v1/agents', () => ({ items: agents })],
  ['GET', '/v1/agents/{}/sessions', ({ id, query }) => page(sessions[id] ?? [], query)],
  ['GET', '/v1/agents/{}/sessions/{}', ({ id, second }) => ({ ...find(sessions[id] ?? [], second, 'session'), messages })],
];
approvals.push({
  id: 'apr_agent1',
  agent: 'accountant',
  status: 'pending',
  capability: 'bank',
  function: 'pay',
  functionId: 'capabilities:bank/bank@1.0.0#pay',
  module: '@capabilities/bank',
  params: { account: 'DE89370400440532013000', money: { amount: 12, currency: 'EUR' }, reference: 'Invoice 9' },
  message: 'Pay an invoice?',
  places: [],
  createdAt: data.ago(60_000),
  expiresAt: data.iso(Date.now() + 240_000),
});

const compiled = routes.map(([method, pattern, handler]) => [method, new RegExp(`^${pattern.replaceAll('{}', '([^/]+)')}$`), handler]);

/** Result of a JSON operation; undefined if there is none. */
export function answer(method, path, context) {
  for (const [one, pattern, handler] of compiled) {
    const found = one === method ? pattern.exec(path) : null;
    if (!found) continue;
    const [id, second] = found.slice(1).map(decodeURIComponent);
    return { value: handler({ ...context, id, second }) };
  }
  return undefined;
}
