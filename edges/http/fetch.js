// Requests of plugs with `fetch`: `agent-spaces:std/http` for node and browsers, as jco's modules import it.

// Answers are values of one call; the server's own limit is lower.
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;
const DEFAULT_TIMEOUT_MS = 60_000;

/** Thrown for the error of a WIT result. */
class Failure extends Error {
  constructor(message, retryable = true) {
    super(message);
    this.payload = { code: 'call.failed', message, retryable, details: undefined };
  }
}

export async function request(method, url, options = {}) {
  const { headers = '{}', query = '{}', json, text, bytes, timeoutMs = DEFAULT_TIMEOUT_MS, responseType = 'auto' } = options;
  const target = new URL(url);
  for (const [name, value] of Object.entries(JSON.parse(query))) target.searchParams.append(name, value);
  const sent = new Headers(JSON.parse(headers));
  if (json !== undefined) sent.set('content-type', 'application/json');
  try {
    const init = { method, headers: sent, body: json ?? text ?? bytes, redirect: 'error', credentials: 'omit', cache: 'no-store' };
    const response = await fetch(target, { ...init, signal: AbortSignal.timeout(timeoutMs) });
    return answer(response, await read(response), responseType);
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw new Failure(`the request failed: ${error?.cause?.code ?? error?.name ?? 'unknown error'}`);
  }
}

async function read(response) {
  const chunks = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    length += chunk.length;
    if (length > MAX_ANSWER_BYTES) throw new Failure(`the answer has more than ${MAX_ANSWER_BYTES} bytes`, false);
    chunks.push(chunk);
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}

function answer(response, bytes, responseType) {
  const headers = JSON.stringify(Object.fromEntries(response.headers));
  const base = { status: response.status, ok: response.ok, url: response.url, headers, json: undefined, text: undefined, bytes: undefined };
  const type = response.headers.get('content-type') ?? '';
  if (responseType === 'bytes') return { ...base, bytes };
  const text = new TextDecoder().decode(bytes);
  const isJson = responseType === 'json' || (responseType === 'auto' && /[/+]json\b/.test(type));
  return isJson && text !== '' ? { ...base, json: JSON.stringify(JSON.parse(text)) } : { ...base, text };
}

const withBody = (method) => (url, body, options) => request(method, url, body === undefined ? options : { ...options, json: body });
export const get = (url, options) => request('GET', url, options);
export const post = withBody('POST');
export const put = withBody('PUT');
export const patch = withBody('PATCH');
const remove = (url, options) => request('DELETE', url, options);
export { remove as delete, remove as _delete };
