/** Runs: get, list, follow, cancel, resume, answer, replay. */
import { RunFailed } from './errors.js';
import type { EventPage, RunEvent } from './event.js';
import { followRun, type EventOptions } from './follow.js';
import { List, type ListOptions, type PageOf } from './pages.js';
import { segment } from './paths.js';
import type { CallOptions, Transport } from './transport.js';
import type { CallAnswer, NewReplay, Replay, RunInfo, RunSource, RunStatus } from './types.js';

/** Seconds that a replay may take in addition to the timeout. */
const REPLAY_SECONDS = 70;

/** Selection of runs. */
export interface RunFilter extends ListOptions, CallOptions {
  /** Id of a space. */
  space?: string;
  status?: RunStatus;
  createdFrom?: string | Date;
  createdUntil?: string | Date;
}

/** True if the run will not change any more. */
export function hasEnded(run: RunInfo): boolean {
  return run.status === 'finished' || run.status === 'failed' || run.status === 'cancelled';
}

/** Returns the value of an ended run; throws RunFailed if it has none. */
export function valueOf<T>(run: RunInfo): T {
  if (run.status !== 'finished') throw new RunFailed(run);
  return run.value as T;
}

export class Runs {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Returns a run. With `wait`, answers when it has ended or after that many whole seconds, at most 60. */
  async get(id: string, options: CallOptions & { wait?: number } = {}): Promise<Run> {
    return new Run(this.#transport, await getRun(this.#transport, id, options));
  }

  /** Lists runs, newest first. */
  list(filter: RunFilter = {}): List<Run> {
    const { limit, space, status, createdFrom, createdUntil, ...call } = filter;
    const time = (value: string | Date | undefined) => (value instanceof Date ? value.toISOString() : value);
    const query = { space, status, createdFrom: time(createdFrom), createdUntil: time(createdUntil), limit };
    return new List(async (cursor) => {
      const request = { ...call, method: 'GET', path: '/v1/runs', query: { ...query, cursor }, repeatable: 'always' } as const;
      const page = await this.#transport.json<PageOf<RunInfo>>(request);
      return { ...page, items: page.items.map((info) => new Run(this.#transport, info)) };
    });
  }

  /** Follows a run; resumes by itself after a cut. */
  events(id: string, options: EventOptions = {}): AsyncGenerator<RunEvent, void, void> {
    return followRun(this.#transport, id, options);
  }

  /** Returns one page of a run's events, without following it. */
  eventPage(id: string, { after, limit, ...call }: CallOptions & { after?: number; limit?: number } = {}): Promise<EventPage> {
    return this.#transport.json({ ...call, method: 'GET', path: `/v1/runs/${segment(id)}/events`, query: { after, limit }, repeatable: 'always' });
  }

  async cancel(id: string, options: CallOptions = {}): Promise<Run> {
    return this.#post(id, 'cancel', undefined, options);
  }

  /** Continues a run of status `needs_resume`. */
  async resume(id: string, options: CallOptions = {}): Promise<Run> {
    return this.#post(id, 'resume', undefined, options);
  }

  /** Says whether a call in doubt happened. */
  async answer(id: string, answer: CallAnswer, options: CallOptions = {}): Promise<Run> {
    return this.#post(id, 'answers', answer, options);
  }

  /** Returns the source of a run, as its author wrote it, and its input. */
  source(id: string, options: CallOptions = {}): Promise<RunSource> {
    return this.#transport.json({ ...options, method: 'GET', path: `/v1/runs/${segment(id)}/source`, repeatable: 'always' });
  }

  /** Executes a run again offline, with its recorded answers, and compares every step; with `source`, a changed program. */
  replay(id: string, { source, signal, timeoutMs = this.#transport.timeoutMs }: CallOptions & NewReplay = {}): Promise<Replay> {
    const path = `/v1/runs/${segment(id)}/replay`;
    return this.#transport.json({ signal, timeoutMs: timeoutMs + REPLAY_SECONDS * 1000, method: 'POST', path, json: { source } satisfies NewReplay, repeatable: 'always' });
  }

  async #post(id: string, verb: string, json: unknown, options: CallOptions): Promise<Run> {
    const path = `/v1/runs/${segment(id)}/${verb}`;
    return new Run(this.#transport, await this.#transport.json<RunInfo>({ ...options, method: 'POST', path, json, repeatable: 'refused' }));
  }
}

export class Run {
  readonly id: string;
  /** The run as the server last sent it. */
  info: RunInfo;
  readonly #transport: Transport;

  constructor(transport: Transport, info: RunInfo) {
    this.#transport = transport;
    this.id = info.id;
    this.info = info;
  }

  get status(): RunStatus {
    return this.info.status;
  }

  /** True if the run will not change any more. */
  get ended(): boolean {
    return hasEnded(this.info);
  }

  /** Follows the run from its first event, or after one, to its end. Resumes by itself after a cut: every event once, in order. */
  events(options: EventOptions = {}): AsyncGenerator<RunEvent, void, void> {
    return followRun(this.#transport, this.id, options);
  }

  /** Waits for the end by following the run. */
  async wait(options: CallOptions = {}): Promise<this> {
    if (!this.ended) {
      for await (const _ of this.events(options));
      await this.refresh(options);
    }
    return this;
  }

  /** Waits for the end and returns the script's value. Throws RunFailed if the run failed or was cancelled. */
  async value<T = unknown>(options: CallOptions = {}): Promise<T> {
    return valueOf<T>((await this.wait(options)).info);
  }

  /** Reads the run again. With `wait`, answers when it has ended or after that many whole seconds, at most 60. */
  async refresh(options: CallOptions & { wait?: number } = {}): Promise<this> {
    this.info = await getRun(this.#transport, this.id, options);
    return this;
  }

  async cancel(options: CallOptions = {}): Promise<this> {
    return this.#take(await new Runs(this.#transport).cancel(this.id, options));
  }

  /** Continues a run of status `needs_resume`. */
  async resume(options: CallOptions = {}): Promise<this> {
    return this.#take(await new Runs(this.#transport).resume(this.id, options));
  }

  /** Says whether a call in doubt happened. */
  async answer(answer: CallAnswer, options: CallOptions = {}): Promise<this> {
    return this.#take(await new Runs(this.#transport).answer(this.id, answer, options));
  }

  /** Returns the source of the run, as its author wrote it, and its input. */
  source(options: CallOptions = {}): Promise<RunSource> {
    return new Runs(this.#transport).source(this.id, options);
  }

  /** Executes the run again offline, with its recorded answers, and compares every step; with `source`, a changed program. */
  replay(options: CallOptions & NewReplay = {}): Promise<Replay> {
    return new Runs(this.#transport).replay(this.id, options);
  }

  #take(run: Run): this {
    this.info = run.info;
    return this;
  }
}

function getRun(transport: Transport, id: string, { wait, timeoutMs = transport.timeoutMs, signal }: CallOptions & { wait?: number }): Promise<RunInfo> {
  const path = `/v1/runs/${segment(id)}`;
  return transport.json({ signal, timeoutMs: timeoutMs + (wait ?? 0) * 1000, method: 'GET', path, query: { wait }, repeatable: 'always' });
}
