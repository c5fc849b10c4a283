/** Export of the audit log as a file. */

import { ApiError, request, url, type Query } from '../../lib/api';

/** The file is put together in the browser: larger ones are for the command line. */
const MAX_BYTES = 1024 * 1024 * 1024;

/** Downloads the entries that a search finds, one JSON object in a line. `told` gets the bytes so far. */
export async function download(query: Query, signal: AbortSignal, told: (bytes: number) => void): Promise<void> {
  const response = await request(url('/v1/audit/export', query), { headers: { accept: 'application/x-ndjson' }, signal });
  const reader = response.body?.getReader();
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for (;;) {
    const read = await reader?.read();
    if (!read || read.done) break;
    parts.push(read.value as Uint8Array<ArrayBuffer>);
    size += read.value.byteLength;
    told(size);
    if (size > MAX_BYTES) {
      await reader?.cancel();
      throw new ApiError({ status: 0, code: 'too_large', detail: 'The export is larger than 1 GiB. Search for less, or copy the files of the log on the server.' });
    }
  }
  const address = URL.createObjectURL(new Blob(parts, { type: 'application/x-ndjson' }));
  const anchor = document.createElement('a');
  anchor.href = address;
  anchor.download = `audit-${new Date().toISOString().slice(0, 19).replaceAll(':', '')}.ndjson`;
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
