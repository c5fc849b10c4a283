/**
 * What the events of a run say, in columns. A run may have hundreds of thousands of events: arguments are left out and
 * read again from the server, by the number of the event, when somebody looks at a call.
 */

import type { RunEvent } from '../../lib/types';
import { cut } from '../../lib/text';
import { bytes, doubles, integers } from './growing';
import { keepGap, type Gap } from './time-scale';

/** States of a call. Higher ones win where a pixel has several calls. */
export const DONE = 0;
export const OPEN = 1;
export const WAITS = 2;
export const FAILED = 3;

export const LEVELS = ['log', 'info', 'warn', 'error', 'debug'] as const;

/** Most texts of errors, progress and marks that are kept: each is short, their number is the script's choice. */
const MAX_NOTES = 5000;
/** Most characters of console output that are kept; later lines are read when somebody opens them. */
const MAX_CONSOLE = 8 * 1024 * 1024;
const MAX_LANES = 1000;
const MAX_FUNCTIONS = 5000;

export interface FunctionTotal {
  label: string;
  capability: string;
  name: string;
  functionId: string;
  calls: number;
  failed: number;
  open: number;
  totalMs: number;
  slowestMs: number;
  slowest: number;
}

export interface ApprovalWait {
  id: string;
  call: number;
  from: number;
  to?: number;
  decision?: string;
  by?: string;
  reason?: string;
}

export interface Mark {
  at: number;
  kind: 'started' | 'limit' | 'repeated' | 'finished' | 'failed';
  text: string;
}

export interface Nested {
  runId: string;
  call?: number;
  events: number;
  from: number;
  to: number;
}

const text = (value: unknown, max = 500): string => (typeof value === 'string' ? cut(value, max) : '');
const number = (value: unknown): number => (typeof value === 'number' && Number.isFinite(value) ? value : NaN);

/** `bank.pay`, whether the function's name has its capability or not. */
export function label(capability: string, name: string): string {
  return capability === '' || name.includes('.') ? name : `${capability}.${name}`;
}

export class RunLog {
  readonly runId: string;
  /** Number of the last event. */
  lastSeq = -1;
  events = 0;
  first = NaN;
  last = NaN;
  ended = false;
  caller: string | undefined;
  parent: { runId: string; callId: number } | undefined;

  readonly callId = integers();
  readonly start = doubles();
  /** NaN for calls without an end. */
  readonly end = doubles();
  /** As the host measured it; more exact than the times. */
  readonly took = doubles();
  readonly state = bytes();
  readonly cached = bytes();
  readonly fn = integers();
  readonly lane = integers();
  readonly seq = integers();
  readonly endSeq = integers();
  lanes = 0;
  failed = 0;
  open = 0;

  readonly functions: FunctionTotal[] = [];
  readonly errors = new Map<number, { code: string; message: string }>();
  readonly progress = new Map<number, { progress: number; total?: number; message: string }>();
  readonly repeats = new Map<number, number>();
  readonly waits: ApprovalWait[] = [];
  readonly marks: Mark[] = [];
  readonly pauses: { from: number; to?: number }[] = [];
  readonly nested = new Map<string, Nested>();
  /** Longest times without an event. */
  readonly gaps: Gap[] = [];

  readonly lineAt = doubles();
  readonly lineLevel = bytes();
  readonly lineSeq = integers();
  readonly lineText: (string | undefined)[] = [];
  #consoleSize = 0;

  readonly #byId = new Map<number, number>();
  readonly #byFunction = new Map<string, number>();
  readonly #byApproval = new Map<string, ApprovalWait>();
  /** Call in each lane; -1 for free ones. */
  readonly #busy: number[] = [];

  constructor(runId: string) {
    this.runId = runId;
  }

  get calls(): number {
    return this.callId.length;
  }

  get lines(): number {
    return this.lineAt.length;
  }

  indexOf(callId: number): number | undefined {
    return this.#byId.get(callId);
  }

  functionOf(call: number): FunctionTotal | undefined {
    return this.functions[this.fn.at(call)];
  }

  /** Time of a call so far, in milliseconds. */
  durationOf(call: number, now: number): number {
    const took = this.took.at(call);
    if (!Number.isNaN(took)) return took;
    const end = this.end.at(call);
    return Math.max(0, (Number.isNaN(end) ? now : end) - this.start.at(call));
  }

  push(event: RunEvent): void {
    const at = Date.parse(event.timestamp);
    if (Number.isNaN(at) || typeof event.type !== 'string') return;
    if (event.runId !== undefined && event.runId !== this.runId) return this.#pushNested(event, at);
    const seq = number(event.seq);
    if (seq <= this.lastSeq) return;
    this.lastSeq = seq;
    this.events++;
    if (Number.isNaN(this.first)) this.first = at;
    if (at > this.last) keepGap(this.gaps, { from: this.last, to: at });
    this.last = Number.isNaN(this.last) ? at : Math.max(this.last, at);
    if (event.parent && typeof event.parent.runId === 'string') this.parent ??= { runId: event.parent.runId, callId: number(event.parent.callId) };
    if (typeof event.caller === 'string') this.caller ??= event.caller;
    switch (event.type) {
      case 'runStarted':
        this.#mark({ at, kind: 'started', text: 'The script starts' });
        break;
      case 'console':
        this.#console(event, at, seq);
        break;
      case 'callScheduled':
        this.#scheduled(event, at, seq);
        break;
      case 'callResult':
      case 'callError':
        this.#ended(event, at, seq);
        break;
      case 'approvalRequired':
        this.#waits(event, at);
        break;
      case 'approvalDecided':
        this.#decided(event, at);
        break;
      case 'callProgress':
        this.#progressed(event);
        break;
      case 'callRepeated':
        this.#repeated(event, at);
        break;
      case 'runPaused':
        if (this.pauses.length < MAX_NOTES) this.pauses.push({ from: at });
        break;
      case 'runResumed': {
        const pause = this.pauses.at(-1);
        if (pause) pause.to ??= at;
        break;
      }
      case 'limitReached':
        this.#mark({ at, kind: 'limit', text: `Limit reached: ${text(event['limit'], 60)} (${text(event['code'], 60)})` });
        break;
      case 'runFinished': {
        this.ended = true;
        const error = event['error'] as { code?: unknown; message?: unknown } | undefined;
        this.#mark(event['ok'] === true ? { at, kind: 'finished', text: 'The run finished' } : { at, kind: 'failed', text: `The run failed: ${text(error?.code, 60)}` });
        break;
      }
    }
  }

  #mark(mark: Mark): void {
    if (this.marks.length < MAX_NOTES) this.marks.push(mark);
  }

  #pushNested(event: RunEvent, at: number): void {
    const known = this.nested.get(event.runId);
    if (known) {
      known.events++;
      known.to = Math.max(known.to, at);
      return;
    }
    if (this.nested.size >= MAX_NOTES) return;
    const nested: Nested = { runId: event.runId, events: 1, from: at, to: at };
    if (event.parent?.runId === this.runId) nested.call = event.parent.callId;
    this.nested.set(event.runId, nested);
  }

  #console(event: RunEvent, at: number, seq: number): void {
    this.lineAt.push(at);
    this.lineSeq.push(seq);
    this.lineLevel.push(Math.max(0, LEVELS.indexOf(event['level'])));
    const said = typeof event['text'] === 'string' ? event['text'] : '';
    this.#consoleSize += said.length + 16;
    this.lineText.push(this.#consoleSize <= MAX_CONSOLE ? said : undefined);
  }

  #functionIndex(event: RunEvent): number {
    const functionId = text(event['functionId'], 300);
    const capability = text(event['capability'], 200);
    const name = text(event['function'], 200);
    const key = `${functionId}\n${capability}\n${name}`;
    let index = this.#byFunction.get(key);
    if (index === undefined) {
      if (this.functions.length >= MAX_FUNCTIONS) return MAX_FUNCTIONS - 1;
      index = this.functions.length;
      this.functions.push({ label: label(capability, name), capability, name, functionId, calls: 0, failed: 0, open: 0, totalMs: 0, slowestMs: 0, slowest: -1 });
      this.#byFunction.set(key, index);
    }
    return index;
  }

  #scheduled(event: RunEvent, at: number, seq: number): void {
    const id = number(event.callId);
    if (Number.isNaN(id) || this.#byId.has(id)) return;
    const call = this.callId.length;
    const fn = this.#functionIndex(event);
    let lane = this.#busy.indexOf(-1);
    if (lane < 0) lane = Math.min(this.#busy.length, MAX_LANES - 1);
    this.#busy[lane] = call;
    this.lanes = Math.max(this.lanes, lane + 1);
    this.#byId.set(id, call);
    this.callId.push(id);
    this.start.push(at);
    this.end.push(NaN);
    this.took.push(NaN);
    this.state.push(OPEN);
    this.cached.push(0);
    this.fn.push(fn);
    this.lane.push(lane);
    this.seq.push(seq);
    this.endSeq.push(0);
    this.open++;
    const total = this.functions[fn];
    if (total) {
      total.calls++;
      total.open++;
    }
  }

  #call(event: RunEvent): number | undefined {
    return this.#byId.get(number(event.callId));
  }

  #ended(event: RunEvent, at: number, seq: number): void {
    const call = this.#call(event);
    if (call === undefined || !Number.isNaN(this.end.at(call))) return;
    const failed = event.type === 'callError';
    const took = number(event['durationMs']);
    this.end.set(call, at);
    this.took.set(call, took);
    this.endSeq.set(call, seq);
    this.state.set(call, failed ? FAILED : DONE);
    if (event['cached'] === true) this.cached.set(call, 1);
    const lane = this.lane.at(call);
    if (this.#busy[lane] === call) this.#busy[lane] = -1;
    this.progress.delete(call);
    this.open--;
    if (failed) {
      this.failed++;
      if (this.errors.size < MAX_NOTES) this.errors.set(call, { code: text(event['code'], 100), message: text(event['message']) });
    }
    const total = this.functionOf(call);
    if (!total) return;
    total.open--;
    if (failed) total.failed++;
    const ms = Number.isNaN(took) ? at - this.start.at(call) : took;
    total.totalMs += ms;
    if (ms >= total.slowestMs) {
      total.slowestMs = ms;
      total.slowest = call;
    }
  }

  #waits(event: RunEvent, at: number): void {
    const call = this.#call(event);
    const id = text(event['approvalId'], 200);
    if (call === undefined || this.waits.length >= MAX_NOTES || this.#byApproval.has(id)) return;
    const wait: ApprovalWait = { id, call, from: at };
    this.waits.push(wait);
    this.#byApproval.set(id, wait);
    this.state.set(call, WAITS);
  }

  #decided(event: RunEvent, at: number): void {
    const wait = this.#byApproval.get(text(event['approvalId'], 200));
    if (!wait) return;
    wait.to = at;
    wait.decision = text(event['decision'], 20);
    if (event['by'] !== undefined) wait.by = text(event['by'], 200);
    if (event['reason'] !== undefined) wait.reason = text(event['reason']);
    if (this.state.at(wait.call) === WAITS) this.state.set(wait.call, OPEN);
  }

  #progressed(event: RunEvent): void {
    const call = this.#call(event);
    if (call === undefined || !Number.isNaN(this.end.at(call)) || this.progress.size >= MAX_NOTES) return;
    const total = number(event['total']);
    this.progress.set(call, { progress: number(event['progress']), message: text(event['message'], 200), ...(Number.isNaN(total) ? {} : { total }) });
  }

  #repeated(event: RunEvent, at: number): void {
    const call = this.#call(event);
    if (call === undefined) return;
    if (this.repeats.has(call) || this.repeats.size < MAX_NOTES) this.repeats.set(call, (this.repeats.get(call) ?? 0) + 1);
    this.#mark({ at, kind: 'repeated', text: `${this.functionOf(call)?.label ?? 'A call'} is made again (${text(event['code'], 60)})` });
  }
}
