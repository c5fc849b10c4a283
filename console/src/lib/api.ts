/** Requests to the REST API of the server that the page came from. */

import { NotJson } from './schema';
import type { Fault, Paged, Problem, RunError } from './types';

export type Query = Record<string, string | number | boolean | undefined | string[]>;

/** Header that other sites cannot send without the server's consent: the session cookie counts only with it. */
export const CONSOLE_HEADER = 'x-agent-spaces-console';

/** Longest answer that the page reads: beyond it a browser tab suffers. */
const MAX_BYTES = 64 * 1024 * 1024;

export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  /** Error of a script, with its place. */
  readonly error?: RunError;
  /** Faults of the request, one by one. */
  readonly errors?: Fault[];

  constructor(problem: Pick<Problem, 'status' | 'code' | 'detail'> & Partial<Problem>) {
    super(problem.detail);
    this.name = 'ApiError';
    this.status = problem.status;
    this.code = problem.code;
    this.detail = problem.detail;
    if (problem.error) this.error = problem.error;
    if (problem.errors) this.errors = problem.errors;
  }
}

let signedOut: () => void = () => {};

/** @internal The session asks to be told of answers with 401. */
export function onSignedOut(fn: () => void): void {
  signedOut = fn;
}

/** URL of a path below the server, with its query. Arrays repeat the parameter; undefined is left out. */
export function url(path: string, query: Query = {}): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue;
    for (const one of Array.isArray(value) ? value : [value]) params.append(name, String(one));
  }
  const text = params.toString();
  return text ? `${path}${path.includes('?') ? '&' : '?'}${text}` : path;
}

/** Request with the headers of the console; throws an ApiError unless the answer is a success. */
export async function request(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  headers.set(CONSOLE_HEADER, '1');
  if (!headers.has('accept')) headers.set('accept', 'application/json');
  let response: Response;
  try {
    response = await fetch(path, { ...init, headers, credentials: 'same-origin', cache: 'no-store', redirect: 'error' });
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new ApiError({ status: 0, code: 'network', detail: 'The server does not answer. Check that agent-spaces serve is running.' });
  }
  if (response.ok) return response;
  const problem = await problemOf(response);
  if (response.status === 401) signedOut();
  throw problem;
}

async function problemOf(response: Response): Promise<ApiError> {
  const { status } = response;
  try {
    const body = (await response.json()) as Partial<Problem>;
    if (typeof body.detail === 'string') {
      return new ApiError({ ...body, status, code: body.code ?? `http.${status}`, detail: body.detail });
    }
  } catch {
    // Not a problem document: a proxy answered.
  }
  return new ApiError({ status, code: `http.${status}`, detail: `The server answered with status ${status}.` });
}

async function body<T>(response: Response): Promise<T> {
  if (response.status === 204 || response.headers.get('content-length') === '0') return undefined as T;
  const text = await textOf(response);
  if (text === '') return undefined as T;
  if (!(response.headers.get('content-type') ?? '').includes('json')) return text as T;
  try {
    return JSON.parse(text) as T;
  } catch {
    throw new ApiError({ status: 0, code: 'network', detail: 'The answer of the server was cut or is not JSON. Try again.' });
  }
}

/** Text of an answer, which is read only up to the bound: its length may not be told in advance. */
async function textOf(response: Response): Promise<string> {
  const tooLarge = (): ApiError => new ApiError({ status: 0, code: 'too_large', detail: 'The answer is too large for the console. Use the command line.' });
  const told = Number(response.headers.get('content-length') ?? 0);
  const reader = response.body?.getReader();
  if (!reader) return '';
  if (told > MAX_BYTES) {
    void reader.cancel().catch(() => {});
    throw tooLarge();
  }
  const decoder = new TextDecoder();
  const parts: string[] = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.byteLength;
    if (size > MAX_BYTES) {
      void reader.cancel().catch(() => {});
      throw tooLarge();
    }
    parts.push(decoder.decode(value, { stream: true }));
  }
  parts.push(decoder.decode());
  return parts.join('');
}

/** `GET`; a path such as `/v1/runs`. */
export async function get<T>(path: string, query?: Query, signal?: AbortSignal): Promise<T> {
  return body<T>(await request(url(path, query), signal ? { signal } : {}));
}

/** Replacer that refuses fields of a form which are no JSON yet. */
function complete(this: unknown, key: string, value: unknown): unknown {
  if ((this as Record<string, unknown>)[key] instanceof NotJson) {
    throw new ApiError({ status: 0, code: 'console', detail: `The field ${key} is not valid JSON. Correct it.` });
  }
  return value;
}

/** Request that changes something. Objects are sent as JSON; strings, Blobs and ArrayBuffers as they are. */
export async function send<T>(method: string, path: string, content?: unknown, headers: Record<string, string> = {}): Promise<T> {
  const init: RequestInit & { headers: Record<string, string> } = { method, headers: { ...headers } };
  if (typeof content === 'string' || content instanceof Blob || content instanceof ArrayBuffer) {
    init.body = content;
  } else if (content !== undefined) {
    init.body = JSON.stringify(content, complete);
    init.headers['content-type'] ??= 'application/json';
  }
  return body<T>(await request(path, init));
}

/** Pages of a list, until its end or until the caller stops. */
export async function* pages<T>(path: string, query: Query = {}, signal?: AbortSignal): AsyncGenerator<T[]> {
  let cursor: string | undefined;
  do {
    const page: Paged<T> = await get(path, { ...query, cursor }, signal);
    yield page.items;
    cursor = page.next;
  } while (cursor !== undefined);
}

/** All items of a list, at most `limit` of them. */
export async function all<T>(path: string, query: Query = {}, limit = 1000, signal?: AbortSignal): Promise<T[]> {
  const items: T[] = [];
  for await (const page of pages<T>(path, query, signal)) {
    items.push(...page);
    if (items.length >= limit) break;
  }
  return items.slice(0, limit);
}

/** Path with parts that may have any character: `` path`/v1/runs/${id}` ``. */
export function path(strings: TemplateStringsArray, ...parts: (string | number)[]): string {
  return strings.reduce((text, fixed, i) => text + fixed + (i < parts.length ? encodeURIComponent(String(parts[i])) : ''), '');
}
