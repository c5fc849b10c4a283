/** Spaces: create, get, list, update, delete; runs started in one; programs and calls that are only checked. */
import type { RunEvent } from './event.js';
import { Files } from './files.js';
import { newKey } from './idempotency.js';
import { List, type ListOptions, type PageOf } from './pages.js';
import { segment } from './paths.js';
import { Run, hasEnded, valueOf } from './runs.js';
import type { CallOptions, Transport } from './transport.js';
import type { Check, Explanation, NewCheck, NewExplanation, NewRun, NewSpace, RunInfo, SpaceChange, SpaceInfo, WebhookChange } from './types.js';

/** Seconds that `Space.run` lets the server wait for the end: most runs need no event stream at all. */
const FIRST_WAIT = 10;

/** Options of a start. */
export interface StartOptions extends CallOptions, Omit<NewRun, 'source' | 'program'> {
  /** Key that makes repeated starts one run; random by default, so that the client's own retries are. */
  idempotencyKey?: string;
}

/** Options of a run that is waited for. */
export interface RunOptions extends StartOptions {
  /** Called with each event, as it happens. */
  onEvent?: (event: RunEvent) => void;
}

/** What to run: source text, or a published program. */
export type Script = string | { program: string };

export class Spaces {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  async create(space: NewSpace, options: CallOptions & { idempotencyKey?: string } = {}): Promise<Space> {
    const { idempotencyKey = newKey(), ...call } = options;
    const headers = { 'Idempotency-Key': idempotencyKey };
    const request = { ...call, method: 'POST', path: '/v1/spaces', headers, json: space, repeatable: 'always' } as const;
    return new Space(this.#transport, await this.#transport.json<SpaceInfo>(request));
  }

  async get(id: string, options: CallOptions = {}): Promise<Space> {
    return new Space(this.#transport, await getSpace(this.#transport, id, options));
  }

  list({ limit, ...call }: ListOptions & CallOptions = {}): List<Space> {
    return new List(async (cursor) => {
      const page = await this.#transport.json<PageOf<SpaceInfo>>({ ...call, method: 'GET', path: '/v1/spaces', query: { limit, cursor }, repeatable: 'always' });
      return { ...page, items: page.items.map((info) => new Space(this.#transport, info)) };
    });
  }

  /** Deletes a space and cancels its runs. */
  async delete(id: string, options: CallOptions = {}): Promise<void> {
    await this.#transport.remove(`/v1/spaces/${segment(id)}`, options);
  }
}

export class Space {
  readonly id: string;
  readonly files: Files;
  /** The space as the server last sent it. */
  info: SpaceInfo;
  readonly #transport: Transport;

  constructor(transport: Transport, info: SpaceInfo) {
    this.#transport = transport;
    this.id = info.id;
    this.info = info;
    this.files = new Files(transport, info.id);
  }

  get name(): string {
    return this.info.name;
  }

  /** Runs a script to its end and returns its value. Throws RunFailed if it fails or is cancelled. */
  async run<T = unknown>(script: Script, options: RunOptions = {}): Promise<T> {
    const { onEvent, ...start } = options;
    const run = await this.#create(script, start, onEvent === undefined ? FIRST_WAIT : 0);
    if (onEvent === undefined && hasEnded(run.info)) return valueOf<T>(run.info);
    const { signal, timeoutMs } = start;
    for await (const event of run.events({ signal, timeoutMs })) onEvent?.(event);
    return valueOf<T>((await run.refresh({ signal, timeoutMs })).info);
  }

  /** Starts a script and returns its run at once. */
  async start(script: Script, options: StartOptions = {}): Promise<Run> {
    return this.#create(script, options, 0);
  }

  /** Checks a program without running it: its syntax, imports and types, and what it can reach. */
  async check(source: string, { name, ...call }: CallOptions & Omit<NewCheck, 'source'> = {}): Promise<Check> {
    return this.#ask('check', { source, name } satisfies NewCheck, call);
  }

  /** Explains what the policy decides about a function; with `params`, about that call. */
  async explain(name: string, { params, ...call }: CallOptions & Omit<NewExplanation, 'function'> = {}): Promise<Explanation> {
    return this.#ask('explain', { function: name, params } satisfies NewExplanation, call);
  }

  /** Changes the space; fails with `precondition` if somebody else has changed it since it was read. */
  async update(change: SpaceChange, options: CallOptions = {}): Promise<this> {
    return this.#patch('', change, options);
  }

  /** Changes the webhook of the space, which keeps its secret; fails with `precondition` as `update` does. */
  async updateWebhook(change: WebhookChange, options: CallOptions = {}): Promise<this> {
    return this.#patch('/webhook', change, options);
  }

  /** Reads the space again. */
  async refresh(options: CallOptions = {}): Promise<this> {
    this.info = await getSpace(this.#transport, this.id, options);
    return this;
  }

  /** Deletes the space and cancels its runs. */
  async delete(options: CallOptions = {}): Promise<void> {
    await this.#transport.remove(`/v1/spaces/${segment(this.id)}`, options);
  }

  async #ask<T>(verb: string, json: unknown, options: CallOptions): Promise<T> {
    return this.#transport.json<T>({ ...options, method: 'POST', path: `/v1/spaces/${segment(this.id)}/${verb}`, json, repeatable: 'always' });
  }

  async #patch(below: string, change: SpaceChange | WebhookChange, options: CallOptions): Promise<this> {
    const path = `/v1/spaces/${segment(this.id)}${below}`;
    const headers = { 'If-Match': this.info.etag };
    this.info = await this.#transport.json<SpaceInfo>({ ...options, method: 'PATCH', path, headers, json: change, repeatable: 'refused' });
    return this;
  }

  async #create(script: Script, options: StartOptions, wait: number): Promise<Run> {
    const { signal, timeoutMs = this.#transport.timeoutMs, idempotencyKey = newKey(), ...rest } = options;
    const info = await this.#transport.json<RunInfo>({
      signal,
      timeoutMs: timeoutMs + wait * 1000,
      method: 'POST',
      path: `/v1/spaces/${segment(this.id)}/runs`,
      query: { wait: wait === 0 ? undefined : wait },
      headers: { 'Idempotency-Key': idempotencyKey },
      json: { ...rest, ...(typeof script === 'string' ? { source: script } : { program: script.program }) } satisfies NewRun,
      repeatable: 'always',
    });
    return new Run(this.#transport, info);
  }
}

function getSpace(transport: Transport, id: string, options: CallOptions): Promise<SpaceInfo> {
  return transport.json({ ...options, method: 'GET', path: `/v1/spaces/${segment(id)}`, repeatable: 'always' });
}
