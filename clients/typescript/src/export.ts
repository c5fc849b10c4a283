/** Exports of the audit log: lines of JSON, over as many requests as it takes. */
import { ConnectionFailed } from './errors.js';
import type { Query } from './paths.js';
import { parseJson, type CallOptions, type Transport } from './transport.js';
import type { AuditEntry } from './types.js';

/** Longest line in bytes: several times the largest entry. */
const MAX_LINE = 64 * 1024 * 1024;

/** Last line of an export that ends before the log does. */
type Continuation = { next: string | null };

export async function* exportAudit(transport: Transport, query: Query, call: CallOptions): AsyncGenerator<AuditEntry, void, void> {
  for (let cursor: string | undefined; ; ) {
    const headers = { Accept: 'application/x-ndjson' };
    const request = { ...call, method: 'GET', path: '/v1/audit/export', query: { ...query, cursor }, headers, repeatable: 'always' } as const;
    let next: string | undefined;
    for await (const line of lines(await transport.open(request))) {
      const entry = parseJson<AuditEntry | Continuation>(line);
      if (!('next' in entry)) {
        yield entry;
      } else if (typeof entry.next === 'string' && entry.next !== cursor) {
        next = entry.next;
      } else {
        throw new ConnectionFailed('the server repeats an export');
      }
    }
    if (next === undefined) return;
    cursor = next;
  }
}

/** Splits chunks of any size into lines. A line without its end was cut. */
async function* lines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, void> {
  // Parts of the line that has not ended yet. They are joined once, so that a long line costs no more than its length.
  let parts: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      parts.push(chunk.subarray(start, end));
      const line = joined(parts, length + end - start);
      start = end + 1;
      parts = [];
      length = 0;
      if (line.length > 0) yield line;
    }
    if (start === chunk.length) continue;
    parts.push(chunk.subarray(start));
    length += chunk.length - start;
    if (length > MAX_LINE) throw new ConnectionFailed(`line is longer than ${MAX_LINE} bytes`);
  }
  if (length > 0) throw new ConnectionFailed('export was cut');
}

function joined(parts: readonly Uint8Array[], length: number): Uint8Array {
  const whole = new Uint8Array(length);
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}
