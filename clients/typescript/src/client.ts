/** Entry point: one object per server and token. */
import { Approvals } from './approvals.js';
import { Audit } from './audit.js';
import { Capabilities } from './capabilities.js';
import type { RunEvent } from './event.js';
import { followRuns } from './follow.js';
import { baseUrl } from './paths.js';
import { Programs } from './programs.js';
import { Runs } from './runs.js';
import { Servers } from './servers.js';
import { Spaces } from './spaces.js';
import { Transport, type CallOptions } from './transport.js';
import type { Me } from './types.js';

/** Options of a client. */
export interface ClientOptions {
  /** Address of the server: `http://127.0.0.1:8080`. */
  url: string | URL;
  /** Token of the caller. */
  token?: string;
  /** Timeout of one attempt, in milliseconds; 30 seconds by default. */
  timeoutMs?: number;
  /** Retries of one request; 5 by default. */
  retries?: number;
  /** Attempts to resume an event stream without a new event; 12 by default, about 45 seconds. */
  streamRetries?: number;
  /** Silence after which an event stream counts as cut, in milliseconds; by default 45 seconds, three of the server's comments. */
  streamSilenceMs?: number;
  /** Another `fetch`, for proxies and tests. */
  fetch?: typeof fetch;
}

/** Client for an Agent Spaces server. */
export class AgentSpaces {
  readonly spaces: Spaces;
  readonly runs: Runs;
  readonly approvals: Approvals;
  readonly capabilities: Capabilities;
  readonly programs: Programs;
  readonly audit: Audit;
  readonly servers: Servers;
  readonly #transport: Transport;

  constructor(options: ClientOptions) {
    const { token } = options;
    // `fetch` would print the token in its own error.
    if (token !== undefined && !/^[\x21-\x7e]+$/.test(token)) throw new TypeError('token is empty or has characters that a header cannot contain');
    this.#transport = new Transport({
      url: baseUrl(options.url),
      token,
      timeoutMs: options.timeoutMs ?? 30_000,
      retries: options.retries ?? 5,
      streamRetries: options.streamRetries ?? 12,
      streamSilenceMs: options.streamSilenceMs ?? 45_000,
      // A browser's `fetch` must be called as a method of the global object.
      fetch: options.fetch ?? globalThis.fetch.bind(globalThis),
    });
    this.spaces = new Spaces(this.#transport);
    this.runs = new Runs(this.#transport);
    this.approvals = new Approvals(this.#transport);
    this.capabilities = new Capabilities(this.#transport);
    this.programs = new Programs(this.#transport);
    this.audit = new Audit(this.#transport);
    this.servers = new Servers(this.#transport);
  }

  /** Returns the caller whose token this is, and what it may do. */
  me(options: CallOptions = {}): Promise<Me> {
    return this.#transport.json({ ...options, method: 'GET', path: '/v1/me', repeatable: 'always' });
  }

  /** Follows up to 64 runs in one stream, until all have ended. Resumes by itself after a cut. */
  events(runs: readonly string[], options: CallOptions = {}): AsyncGenerator<RunEvent, void, void> {
    return followRuns(this.#transport, runs, options);
  }
}
