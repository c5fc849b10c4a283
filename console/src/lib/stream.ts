/** Server-sent events over fetch, which can send the console's header; EventSource cannot. */

import { ApiError, request } from './api';

export interface StreamEvent {
  event: string;
  id?: string;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  data: any;
}

export type StreamState = 'open' | 'waiting' | 'closed';

export interface FollowOptions {
  onEvent(event: StreamEvent): void;
  onState?(state: StreamState): void;
  /** Called once if the server refuses the stream; it is closed then. */
  onError?(error: ApiError): void;
  /** Id of the last event that the caller has. */
  lastId?: string;
  /** Goes on in a tab that nobody sees. Others pause, because browsers allow few connections to a server. */
  background?: boolean;
}

const MAX_EVENT = 16 * 1024 * 1024;
const SILENCE_MS = 45_000;
const FIRST_DELAY = 500;
const MAX_DELAY = 15_000;
const HIDDEN_MS = 20_000;

/** Parser of a stream's text, given in pieces. */
export function parser(emit: (event: StreamEvent) => void): { push(text: string): void; retry(): number | undefined } {
  let rest = '';
  let scanned = 0;
  // A lone CR at the end may be the first half of CRLF.
  const breaks = /\r\n|\n|\r(?!$)/g;
  let retry: number | undefined;
  let event = '';
  let data: string[] = [];
  let id: string | undefined;
  let size = 0;

  function line(text: string): void {
    if (text === '') {
      if (data.length > 0) {
        const joined = data.join('\n');
        let value: unknown = joined;
        try {
          value = JSON.parse(joined);
        } catch {
          // Data that is no JSON is text.
        }
        emit({ event: event || 'message', data: value, ...(id === undefined ? {} : { id }) });
      }
      event = '';
      data = [];
      id = undefined;
      size = 0;
      return;
    }
    const colon = text.indexOf(':');
    if (colon === 0) return;
    const name = colon < 0 ? text : text.slice(0, colon);
    let value = colon < 0 ? '' : text.slice(colon + 1);
    if (value.startsWith(' ')) value = value.slice(1);
    if (name === 'data') {
      size += value.length;
      if (size > MAX_EVENT) throw new Error('event too large');
      data.push(value);
    } else if (name === 'event') event = value;
    else if (name === 'id' && !value.includes('\0')) id = value;
    else if (name === 'retry' && /^\d+$/.test(value)) retry = Number(value);
  }

  return {
    push(text) {
      rest += text;
      let start = 0;
      breaks.lastIndex = scanned;
      for (let found = breaks.exec(rest); found; found = breaks.exec(rest)) {
        line(rest.slice(start, found.index));
        start = found.index + found[0].length;
      }
      rest = rest.slice(start);
      if (rest.length > MAX_EVENT) throw new Error('line too large');
      scanned = Math.max(0, rest.length - 1);
    },
    retry: () => retry,
  };
}

/** Characters that are parsed, and time that passes, before the page may paint: a stream can bring megabytes at once. */
const PIECE = 32 * 1024;
const SLICE_MS = 10;

function pause(): Promise<void> {
  return new Promise((done) => setTimeout(done));
}

/** Reads one response to its end. */
export async function read(response: Response, emit: (event: StreamEvent) => void, alive: () => void = () => {}): Promise<number | undefined> {
  const lines = parser(emit);
  const reader = response.body?.getReader();
  if (!reader) return undefined;
  const decoder = new TextDecoder();
  let since = performance.now();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return lines.retry();
      alive();
      const text = decoder.decode(value, { stream: true });
      for (let at = 0; at < text.length; at += PIECE) {
        lines.push(text.slice(at, at + PIECE));
        if (performance.now() - since < SLICE_MS) continue;
        await pause();
        since = performance.now();
      }
    }
  } catch (error) {
    // Otherwise the connection of a stream that nobody reads stays open.
    void reader.cancel().catch(() => {});
    throw error;
  }
}

/** Follows a stream until `event: end`, a refusal, or a call of the returned function. Resumes after the last id. */
export function follow(path: string, options: FollowOptions): () => void {
  let stopped = false;
  let ended = false;
  let lastId = options.lastId;
  let delay = FIRST_DELAY;
  let abort = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let state: StreamState | undefined;
  let paused = false;

  const hidden = (): boolean => options.background !== true && typeof document !== 'undefined' && document.hidden;
  let hiding: ReturnType<typeof setTimeout> | undefined;

  function onVisibility(): void {
    clearTimeout(hiding);
    if (hidden()) hiding = setTimeout(() => abort.abort(), HIDDEN_MS);
    else if (paused) {
      paused = false;
      delay = FIRST_DELAY;
      void connect();
    }
  }

  function close(): void {
    stopped = true;
    clearTimeout(timer);
    clearTimeout(hiding);
    if (typeof document !== 'undefined') document.removeEventListener('visibilitychange', onVisibility);
    tell('closed');
  }

  function tell(next: StreamState): void {
    if (state === next) return;
    state = next;
    options.onState?.(next);
  }

  function later(): void {
    if (stopped) return;
    tell('waiting');
    timer = setTimeout(connectIfSeen, delay * (0.75 + Math.random() / 2));
    delay = Math.min(delay * 2, MAX_DELAY);
  }

  function connectIfSeen(): void {
    if (hidden()) paused = true;
    else void connect();
  }

  async function connect(): Promise<void> {
    abort = new AbortController();
    let silence: ReturnType<typeof setTimeout> | undefined;
    const alive = (): void => {
      clearTimeout(silence);
      silence = setTimeout(() => abort.abort(), SILENCE_MS);
    };
    try {
      const headers: Record<string, string> = { accept: 'text/event-stream' };
      if (lastId !== undefined) headers['last-event-id'] = lastId;
      alive();
      const response = await request(path, { headers, signal: abort.signal });
      if (stopped) return;
      tell('open');
      const retry = await read(
        response,
        (event) => {
          if (stopped || ended) return;
          delay = FIRST_DELAY;
          if (event.id !== undefined) lastId = event.id;
          if (event.event === 'end') ended = true;
          options.onEvent(event);
        },
        alive,
      );
      if (retry !== undefined && delay === FIRST_DELAY) delay = Math.min(Math.max(retry, FIRST_DELAY), MAX_DELAY);
    } catch (error) {
      const refused = error instanceof ApiError && error.status >= 400 && error.status < 500 && error.status !== 408 && error.status !== 429;
      if (refused && !stopped) {
        options.onError?.(error);
        close();
        return;
      }
    } finally {
      clearTimeout(silence);
    }
    if (stopped) return;
    if (ended) close();
    else later();
  }

  if (typeof document !== 'undefined') document.addEventListener('visibilitychange', onVisibility);
  void connect();
  return () => {
    if (stopped) return;
    close();
    abort.abort();
  };
}
