/** Requests: authorization, timeouts, retries and problem documents. */
import { ApiError, ConnectionFailed } from './errors.js';
import { queryText, type Query } from './paths.js';
import { delayBefore, mayRepeat, parseRetryAfter, sleep, type Repeatable } from './retry.js';
import type { Problem } from './types.js';

/** Options of every method. */
export interface CallOptions {
  /** Aborts the method, including its retries. */
  signal?: AbortSignal;
  /** Timeout of each attempt in milliseconds, instead of the client's. */
  timeoutMs?: number;
}

/** Request of one method. */
export interface Request extends CallOptions {
  method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path with its segments encoded, from `/v1`. */
  path: string;
  query?: Query;
  headers?: Record<string, string | undefined>;
  /** Body as JSON. */
  json?: unknown;
  /** Body as bytes. */
  body?: Blob | Uint8Array<ArrayBuffer> | string;
  repeatable: Repeatable;
  /** For a deletion: 404 after a lost answer is success. */
  goneIsDone?: boolean;
}

/** Answer with its body already read. */
export interface Answered {
  status: number;
  headers: Headers;
  body: Uint8Array;
}

/** Settings of a transport. */
export interface TransportSettings {
  url: string;
  token: string | undefined;
  timeoutMs: number;
  retries: number;
  streamRetries: number;
  streamSilenceMs: number;
  fetch: typeof fetch;
}

/** Largest answer, in bytes: eight times the largest file, above any page. */
const MAX_BODY = 64 * 1024 * 1024;

export class Transport {
  // Private, so that no log of a client prints the token.
  readonly #settings: TransportSettings;

  constructor(settings: TransportSettings) {
    this.#settings = settings;
  }

  /** Timeout of one attempt, in milliseconds. */
  get timeoutMs(): number {
    return this.#settings.timeoutMs;
  }

  /** Attempts to resume an event stream without progress. */
  get streamRetries(): number {
    return this.#settings.streamRetries;
  }

  /** Sends a request and parses its answer as JSON. */
  async json<T>(request: Request): Promise<T> {
    return parseJson<T>((await this.send(request)).body);
  }

  /** Sends a request, with retries. Throws ApiError for a status of 400 and above. */
  async send(request: Request): Promise<Answered> {
    for (let attempt = 0; ; attempt += 1) {
      let failure: unknown;
      let wait: number | undefined;
      try {
        const answer = await this.#attempt(request);
        // A browser answers a redirect with the status 0.
        if (answer.status >= 200 && answer.status < 300) return answer;
        if (answer.status === 404 && attempt > 0 && request.goneIsDone) return answer;
        const error = this.#problem(answer);
        failure = error;
        if (mayRepeat(error.status, request.repeatable)) wait = delayBefore(attempt, error.retryAfter);
      } catch (error) {
        if (!(error instanceof ConnectionFailed)) throw error;
        failure = error;
        if (request.repeatable === 'always') wait = delayBefore(attempt);
      }
      if (wait === undefined || attempt >= this.#settings.retries) throw failure;
      await sleep(wait, request.signal);
    }
  }

  /** Deletes a resource. If the answer to the first attempt was lost, the second finds nothing, which is what was asked for. */
  async remove(path: string, options: CallOptions, ifMatch?: string): Promise<void> {
    const repeatable = ifMatch === undefined ? 'always' : 'refused';
    await this.send({ ...options, method: 'DELETE', path, headers: { 'If-Match': ifMatch }, repeatable, goneIsDone: true });
  }

  /**
   * Opens a stream, in one attempt: whoever follows events knows where to resume. Each chunk of the stream must arrive within the longest silence
   * after the previous one.
   */
  async stream(request: Request): Promise<AsyncGenerator<Uint8Array, void, void>> {
    const timer = new Timer(request.signal);
    try {
      timer.start(request.timeoutMs ?? this.#settings.timeoutMs);
      const response = await this.#fetch(request, timer.signal);
      if (response.status !== 200) {
        throw this.#problem({ status: response.status, headers: response.headers, body: await readAll(response) });
      }
      return chunks(response, timer, this.#settings.streamSilenceMs);
    } catch (error) {
      timer.stop();
      throw timer.explain(error);
    }
  }

  /** Opens a stream that cannot be resumed, with the retries of a request. */
  async open(request: Request): Promise<AsyncGenerator<Uint8Array, void, void>> {
    for (let attempt = 0; ; attempt += 1) {
      let wait: number | undefined;
      try {
        return await this.stream(request);
      } catch (error) {
        if (error instanceof ConnectionFailed) wait = delayBefore(attempt);
        if (error instanceof ApiError && mayRepeat(error.status, request.repeatable)) wait = delayBefore(attempt, error.retryAfter);
        if (wait === undefined || attempt >= this.#settings.retries) throw error;
      }
      await sleep(wait, request.signal);
    }
  }

  async #attempt(request: Request): Promise<Answered> {
    const timer = new Timer(request.signal);
    try {
      timer.start(request.timeoutMs ?? this.#settings.timeoutMs);
      const response = await this.#fetch(request, timer.signal);
      return { status: response.status, headers: response.headers, body: await readAll(response) };
    } catch (error) {
      throw timer.explain(error);
    } finally {
      timer.stop();
    }
  }

  #fetch(request: Request, signal: AbortSignal): Promise<Response> {
    const headers: Record<string, string> = { Accept: 'application/json' };
    if (this.#settings.token !== undefined) headers['Authorization'] = `Bearer ${this.#settings.token}`;
    let body: BodyInit | undefined = request.body;
    if (request.json !== undefined) {
      headers['Content-Type'] = 'application/json';
      body = JSON.stringify(request.json);
    }
    for (const [name, value] of Object.entries(request.headers ?? {})) {
      if (value !== undefined) headers[name] = value;
    }
    const { url, fetch } = this.#settings;
    // A redirect is answered as an error: the token is for this server only.
    return fetch(`${url}${request.path}${queryText(request.query)}`, { method: request.method, headers, body: body ?? null, signal, redirect: 'manual' });
  }

  #problem(answer: Answered): ApiError {
    let problem: Partial<Problem> = {};
    if (/^application\/(problem\+)?json\b/.test(answer.headers.get('content-type') ?? '')) {
      try {
        // After parsing: JSON may escape characters of the token.
        const redacted = (_: string, value: unknown) => (typeof value === 'string' ? this.#redact(value) : value);
        problem = JSON.parse(new TextDecoder().decode(answer.body), redacted) as Partial<Problem>;
      } catch {
        // Not the server's document: its status still says what happened.
      }
    }
    return new ApiError(answer.status, problem ?? {}, parseRetryAfter(answer.headers.get('retry-after')));
  }

  /** Removes the token from the text of a server or proxy that repeats its request. */
  #redact(text: string): string {
    const { token } = this.#settings;
    return token === undefined ? text : text.replaceAll(token, '[redacted]');
  }
}

/** Longest time of `setTimeout`, in milliseconds: it fires at once for a longer one. */
const MAX_TIMER = 2 ** 31 - 1;

/** Abort signal of one attempt: that of the caller, and a timeout. `AbortSignal.any` is missing in node 18. */
class Timer {
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #expired: number | undefined;
  readonly #abort = () => this.#controller.abort(this.#outer?.reason);

  constructor(outer: AbortSignal | undefined) {
    this.#outer = outer;
    if (outer?.aborted) this.#abort();
    outer?.addEventListener('abort', this.#abort);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Starts the timeout, or starts it again. */
  start(milliseconds: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#expired = milliseconds;
      this.#controller.abort();
    }, Math.min(milliseconds, MAX_TIMER));
  }

  /** Stops the timeout while the caller is busy with what was received. */
  pause(): void {
    clearTimeout(this.#timer);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#outer?.removeEventListener('abort', this.#abort);
  }

  /** Ends the connection. */
  close(): void {
    this.stop();
    this.#controller.abort();
  }

  /** Returns the error to throw for a failed attempt. */
  explain(error: unknown): unknown {
    if (error instanceof ApiError || error instanceof ConnectionFailed) return error;
    if (this.#outer?.aborted) return this.#outer.reason;
    if (this.#expired !== undefined) return new ConnectionFailed(`no answer within ${this.#expired} ms`);
    return new ConnectionFailed(`connection failed: ${reason(error)}`);
  }
}

async function* chunks(response: Response, timer: Timer, silenceMs: number): AsyncGenerator<Uint8Array, void, void> {
  const reader = response.body?.getReader();
  try {
    while (reader !== undefined) {
      timer.start(silenceMs);
      const { done, value } = await reader.read();
      timer.pause();
      if (done) return;
      yield value;
    }
  } catch (error) {
    throw timer.explain(error);
  } finally {
    timer.close();
  }
}

async function readAll(response: Response): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let length = 0;
  const reader = response.body?.getReader();
  while (reader !== undefined) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > MAX_BODY) {
      await reader.cancel();
      throw new ConnectionFailed(`answer is larger than ${MAX_BODY} bytes`);
    }
    parts.push(value);
  }
  const body = new Uint8Array(length);
  let offset = 0;
  for (const part of parts) {
    body.set(part, offset);
    offset += part.length;
  }
  return body;
}

/** Parses JSON of a server. */
export function parseJson<T>(body: Uint8Array): T {
  try {
    return JSON.parse(new TextDecoder().decode(body)) as T;
  } catch {
    throw new ConnectionFailed('answer is not JSON: is this the address of an Agent Spaces server?');
  }
}

/** Returns the text of the innermost cause: `fetch failed` says nothing. */
function reason(error: unknown): string {
  let inner = error;
  for (let depth = 0; depth < 8 && inner instanceof Error && inner.cause instanceof Error; depth += 1) inner = inner.cause;
  return inner instanceof Error ? inner.message || inner.name : String(inner);
}
