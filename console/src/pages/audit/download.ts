/** Export of the audit log as a file. */

import { ApiError, request, url, type Query } from '../../lib/api';

/** The file is put together in the browser: larger ones are for the command line. */
const MAX_BYTES = 1024 * 1024 * 1024;
/** The last line of an answer that is not the end is short. */
const MAX_TAIL = 4096;

type Bytes = Uint8Array<ArrayBuffer>;

/**
 * Cursor of the next export, and the bytes of the last line that has it. An export that stops before the end of the log
 * has a last line with `next` alone.
 */
export function cursor(tail: string): { next: string; bytes: number } | undefined {
  const last = tail.trimEnd().split('\n').at(-1) ?? '';
  if (!last.startsWith('{"next":')) return undefined;
  try {
    const { next } = JSON.parse(last) as { next?: unknown };
    if (typeof next !== 'string') return undefined;
    return { next, bytes: new TextEncoder().encode(tail.slice(tail.lastIndexOf(last))).length };
  } catch {
    return undefined;
  }
}

/** Downloads the entries that a search finds, one JSON object in a line. `told` gets the bytes so far. */
export async function download(query: Query, signal: AbortSignal, told: (bytes: number) => void): Promise<void> {
  const parts: Blob[] = [];
  let size = 0;
  let next: string | undefined;
  do {
    const response = await request(url('/v1/audit/export', { ...query, cursor: next }), { headers: { accept: 'application/x-ndjson' }, signal });
    const reader = response.body?.getReader();
    const chunks: Bytes[] = [];
    for (;;) {
      const read = await reader?.read();
      if (!read || read.done) break;
      chunks.push(read.value as Bytes);
      size += read.value.byteLength;
      told(size);
      if (size > MAX_BYTES) {
        await reader?.cancel();
        throw new ApiError({ status: 0, code: 'too_large', detail: 'The export is larger than 1 GiB. Search for less, or copy the files of the log on the server.' });
      }
    }
    const part = new Blob(chunks);
    const found = cursor(await part.slice(-MAX_TAIL).text());
    parts.push(found ? part.slice(0, part.size - found.bytes) : part);
    next = found?.next;
  } while (next !== undefined);
  const address = URL.createObjectURL(new Blob(parts, { type: 'application/x-ndjson' }));
  const anchor = document.createElement('a');
  anchor.href = address;
  anchor.download = `audit-${new Date().toISOString().slice(0, 19).replaceAll(':', '')}.ndjson`;
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
