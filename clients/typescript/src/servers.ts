/** MCP servers of the configuration: list, accept. */
import { List, type ListOptions, type PageOf } from './pages.js';
import { segment } from './paths.js';
import type { CallOptions, Transport } from './transport.js';
import type { NewAcceptance, Server } from './types.js';

/** Seconds that an acceptance may take in addition to the timeout: the server is started. */
const ACCEPT_SECONDS = 60;

export class Servers {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Lists servers as they were last seen: none is started. */
  list({ limit, ...call }: ListOptions & CallOptions = {}): List<Server> {
    return new List((cursor) =>
      this.#transport.json<PageOf<Server>>({ ...call, method: 'GET', path: '/v1/servers', query: { limit, cursor }, repeatable: 'always' }),
    );
  }

  /**
   * Accepts the tools of a server. Only for the operator. With `offer` of the server as it was reviewed, one that offers something else by now
   * fails with `server.changed`.
   */
  accept(name: string, { offer, signal, timeoutMs = this.#transport.timeoutMs }: NewAcceptance & CallOptions = {}): Promise<Server> {
    const json: NewAcceptance = offer === undefined ? {} : { offer };
    const path = `/v1/servers/${segment(name)}/accept`;
    return this.#transport.json({ signal, timeoutMs: timeoutMs + ACCEPT_SECONDS * 1000, method: 'POST', path, json, repeatable: 'refused' });
  }
}
