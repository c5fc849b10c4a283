/** The caller's own entries of the audit log. */
import { List, type ListOptions, type PageOf } from './pages.js';
import type { CallOptions, Transport } from './transport.js';
import type { AuditEntry } from './types.js';

export class Audit {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  list({ limit, ...call }: ListOptions & CallOptions = {}): List<AuditEntry> {
    return new List((cursor) =>
      this.#transport.json<PageOf<AuditEntry>>({ ...call, method: 'GET', path: '/v1/audit', query: { limit, cursor }, repeatable: 'always' }),
    );
  }
}
