// Proxy in front of a server that adds what takes too long to make for real: a list of many runs, and one run with many events. Everything
// else is the server's answer.
import { createServer, request as forward } from 'node:http';

const PAGE = 100;

function manyRuns(count, space) {
  const now = Date.now();
  return Array.from({ length: count }, (_, i) => {
    const at = new Date(now - i * 1000).toISOString();
    const status = ['finished', 'failed', 'cancelled', 'finished'][i % 4];
    return { id: `run_many_${String(i).padStart(6, '0')}`, spaceId: space, name: `script-${i}.ts`, status, createdAt: at, updatedAt: at, endedAt: at, usage: { fuel: i, memoryBytes: 1 << 20, wallMs: 12, calls: 1, bytesIn: 1, bytesOut: 1 } };
  });
}

// Events of a run that calls one function again and again: two for each call.
function manyEvents(count, run) {
  const begun = Date.now() - count * 10;
  const events = [{ type: 'runStarted', script: 'many.ts', interfaces: [] }];
  for (let call = 1; events.length + 2 < count; call++) {
    events.push({ type: 'callScheduled', callId: call, interface: 'x', functionId: 'capabilities:bank/bank@1.0.0#balance', capability: 'bank', function: 'balance', params: { call } });
    if (call % 50 === 0) events.push({ type: 'callError', callId: call, durationMs: 8, code: 'call.failed', message: `call ${call} failed` });
    else events.push({ type: 'callResult', callId: call, durationMs: 8 });
    if (call % 10 === 0) events.push({ type: 'console', level: 'log', text: `line ${call}` });
  }
  events.push({ type: 'runFinished', ok: true, usage: { fuel: 1, memoryBytes: 1, wallMs: 1, calls: 1, bytesIn: 1, bytesOut: 1 } });
  return events.map((event, seq) => ({ ...event, seq, runId: run, timestamp: new Date(begun + seq * 10).toISOString() }));
}

export const BIG_RUN = 'run_many_000000';

export async function startLarge(target, { runs, events, space }) {
  const list = manyRuns(runs, space);
  const log = manyEvents(events, BIG_RUN);
  const host = new URL(target).host;
  const json = (response, value) => response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));

  function own(request, response) {
    const { pathname, searchParams } = new URL(request.url, target);
    if (request.method !== 'GET') return false;
    if (pathname === '/v1/runs') {
      const status = searchParams.get('status');
      const found = status ? list.filter((run) => run.status === status) : list;
      const from = Number(searchParams.get('cursor') ?? 0);
      const limit = Math.min(PAGE, Number(searchParams.get('limit') ?? PAGE));
      json(response, { items: found.slice(from, from + limit), ...(from + limit < found.length ? { next: String(from + limit) } : {}) });
      return true;
    }
    const [, id, rest] = /^\/v1\/runs\/(run_many_\d+)(\/\w+)?$/.exec(pathname) ?? [];
    if (id === undefined) return false;
    const run = list.find((one) => one.id === id);
    if (rest === undefined) json(response, { ...run, hasValue: true, value: 1 });
    else if (rest === '/source') json(response, { name: run.name, source: 'import { bank } from "@capabilities/bank";\nfor (;;) await bank.balance({});\n', modules: [] });
    else if (rest === '/events') {
      const all = id === BIG_RUN ? log : [];
      if ((request.headers.accept ?? '').includes('text/event-stream')) {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        const from = request.headers['last-event-id'] === undefined ? 0 : Number(request.headers['last-event-id']) + 1;
        response.write(all.slice(from).map((event) => `id: ${event.seq}\ndata: ${JSON.stringify(event)}\n\n`).join(''));
        response.end(`event: end\ndata: {"runId":"${id}","status":"${run.status}"}\n\n`);
      } else {
        const after = searchParams.has('after') ? Number(searchParams.get('after')) + 1 : 0;
        const items = all.slice(after, after + Number(searchParams.get('limit') ?? 100));
        json(response, { items, ...(items.length > 0 ? { next: items.at(-1).seq } : {}), ended: after + items.length >= all.length });
      }
    } else return false;
    return true;
  }

  const server = createServer((request, response) => {
    if (own(request, response)) return;
    const headers = { ...request.headers, host };
    if (headers.origin) headers.origin = target;
    const onward = forward(target + request.url, { method: request.method, headers }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    response.on('close', () => onward.destroy());
    request.pipe(onward);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${server.address().port}`, stop: () => (server.closeAllConnections(), server.close()) };
}
