/** The audit log: own entries, or all of them for the operator, who also verifies it. */
import { exportAudit } from './export.js';
import { List, type ListOptions, type PageOf } from './pages.js';
import type { Query } from './paths.js';
import type { CallOptions, Transport } from './transport.js';
import type { AuditEntry, AuditVerification, ListOrder } from './types.js';

/** Seconds that a verification may take in addition to the timeout: it reads the whole log. */
const VERIFY_SECONDS = 600;

/** Selection of entries. */
export interface AuditFilter {
  /** Types of events (`runStarted`) or actions (`run.created`). */
  type?: string | readonly string[];
  /** Name of a caller; empty for entries without one. */
  caller?: string;
  /** Id of a run. */
  run?: string;
  from?: string | Date;
  until?: string | Date;
  /** Text anywhere in the entry, in any case. */
  q?: string;
  /** `oldest` first by default. */
  order?: ListOrder;
}

export class Audit {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  list(filter: AuditFilter & ListOptions & CallOptions = {}): List<AuditEntry> {
    const { limit, signal, timeoutMs, ...rest } = filter;
    const query = queryOf(rest);
    return new List((cursor) =>
      this.#transport.json<PageOf<AuditEntry>>({ signal, timeoutMs, method: 'GET', path: '/v1/audit', query: { ...query, limit, cursor }, repeatable: 'always' }),
    );
  }

  /** Reads the entries as a stream, over as many requests as it takes. A stream that is cut throws ConnectionFailed. */
  export(filter: AuditFilter & CallOptions = {}): AsyncGenerator<AuditEntry, void, void> {
    const { signal, timeoutMs, ...rest } = filter;
    return exportAudit(this.#transport, queryOf(rest), { signal, timeoutMs });
  }

  /** Verifies the whole log. Only for the operator. */
  verify({ signal, timeoutMs = this.#transport.timeoutMs }: CallOptions = {}): Promise<AuditVerification> {
    const path = '/v1/audit/verification';
    return this.#transport.json({ signal, timeoutMs: timeoutMs + VERIFY_SECONDS * 1000, method: 'GET', path, repeatable: 'always' });
  }
}

function queryOf({ type, caller, run, from, until, q, order }: AuditFilter): Query {
  const time = (value: string | Date | undefined) => (value instanceof Date ? value.toISOString() : value);
  return { type, caller, run, from: time(from), until: time(until), q, order };
}
