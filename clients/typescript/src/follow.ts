/** Event streams that resume by themselves after a cut: every event once, in order. */
import { ApiError, ConnectionFailed } from './errors.js';
import type { RunEvent } from './event.js';
import { segment, type Query } from './paths.js';
import { delayBefore, mayRepeat, sleep } from './retry.js';
import { Parser, type Message } from './sse.js';
import { parseJson, type CallOptions, type Transport } from './transport.js';

/** Options of an event stream. */
export interface EventOptions extends CallOptions {
  /** Number of the last event that is already known: only later ones are returned. */
  after?: number;
  /** False to end with the events that are there now. */
  follow?: boolean;
}

/** Life of a connection in milliseconds after which its cut is no failure: proxies cut idle streams, and a run may wait for days. */
const HEALTHY = 10_000;
/** Maximum number of runs of one stream, as the server has it. */
const MAX_RUNS = 64;

/** Follows one run. */
export function followRun(transport: Transport, run: string, options: EventOptions = {}): AsyncGenerator<RunEvent, void, void> {
  const seen = new Map<string, number>();
  if (options.after !== undefined) seen.set(run, options.after);
  const id = options.after === undefined ? undefined : String(options.after);
  const query: Query = options.follow === false ? { follow: false } : {};
  return follow(transport, `/v1/runs/${segment(run)}/events`, query, seen, new Set([run]), id, options);
}

/** Follows several runs until all have ended. */
export function followRuns(transport: Transport, runs: readonly string[], options: CallOptions = {}): AsyncGenerator<RunEvent, void, void> {
  const ids = [...new Set(runs)];
  if (ids.length === 0 || ids.length > MAX_RUNS) throw new RangeError(`one stream follows 1 to ${MAX_RUNS} runs, not ${ids.length}`);
  return follow(transport, '/v1/events', { run: ids }, new Map(), new Set(ids), undefined, options);
}

async function* follow(
  transport: Transport,
  path: string,
  query: Query,
  seen: Map<string, number>,
  open: Set<string>,
  lastId: string | undefined,
  options: EventOptions,
): AsyncGenerator<RunEvent, void, void> {
  for (let failures = 0; ; ) {
    const opened = Date.now();
    let failure: unknown = new ConnectionFailed('event stream was cut');
    let retryAfter: number | undefined;
    try {
      const headers = { Accept: 'text/event-stream', 'Last-Event-ID': lastId };
      const chunks = await transport.stream({ ...options, method: 'GET', path, query, headers, repeatable: 'always' });
      const parser = new Parser();
      for await (const chunk of chunks) {
        for (const message of parser.push(chunk)) {
          if (message.event === 'end') {
            open.delete(endedRun(message));
            if (open.size === 0) return;
          } else if (message.event === 'message') {
            const event = parseEvent(message.data);
            lastId = message.id ?? lastId;
            if (event.seq <= (seen.get(event.runId) ?? -1)) continue;
            seen.set(event.runId, event.seq);
            failures = 0;
            yield event;
          }
        }
      }
      if (options.follow === false) return;
    } catch (error) {
      const passing = error instanceof ConnectionFailed || (error instanceof ApiError && mayRepeat(error.status, 'always'));
      if (!passing) throw error;
      failure = error;
      if (error instanceof ApiError) retryAfter = error.retryAfter;
    }
    if (Date.now() - opened >= HEALTHY) failures = 0;
    const wait = delayBefore(failures, retryAfter);
    failures += 1;
    if (failures > transport.streamRetries || wait === undefined) throw failure;
    await sleep(wait, options.signal);
  }
}

function parseEvent(data: string): RunEvent {
  let event: unknown;
  try {
    event = JSON.parse(data);
  } catch {
    throw new ConnectionFailed('event is not JSON');
  }
  const { seq, runId } = (event ?? {}) as Partial<RunEvent>;
  if (typeof seq !== 'number' || typeof runId !== 'string') throw new ConnectionFailed('event has no seq or runId');
  return event as RunEvent;
}

/** Returns the run that an `end` message is about. */
function endedRun(message: Message): string {
  // After a cut, the server says again which runs had ended: the name decides, not what is still open.
  const { runId } = parseJson<{ runId?: string }>(new TextEncoder().encode(message.data));
  if (runId === undefined) throw new ConnectionFailed('end of a stream without runId');
  return runId;
}
