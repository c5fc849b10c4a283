// Requests of plugs over wasi:http 0.2, which every wasmtime has: `agent-spaces:std/http` as a component of its own.
// One request at a time: the calls of WASI 0.2 wait for their answer.
import types from 'wasi:http/types@0.2.0';
import outgoing from 'wasi:http/outgoing-handler@0.2.0';

// Answers are values of one call; the server's own limit is lower.
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;
// What `blocking-write-and-flush` takes at once.
const WRITE_BYTES = 4096;
const DEFAULT_TIMEOUT_MS = 60_000;

// The engine of this component has no TextEncoder.
const encode = (text) => Uint8Array.from(encodeURIComponent(text).match(/%..|[^%]/g) ?? [], (unit) => (unit.length === 3 ? parseInt(unit.slice(1), 16) : unit.charCodeAt(0)));
function decode(bytes) {
  let text = '';
  for (let at = 0; at < bytes.length; ) {
    const first = bytes[at];
    const length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    let point = length === 1 ? first : first & (0xff >> (length + 1));
    for (let next = 1; next < length; next++) point = point * 64 + (bytes[at + next] & 0x3f);
    text += String.fromCodePoint(point > 0x10ffff || !(point >= 0) ? 0xfffd : point);
    at += length;
  }
  return text;
}

const failure = (message) => ({ code: 'call.failed', message, retryable: true, details: null });
const describe = (error) => (typeof error === 'string' ? error : (error?.tag ?? error?.message ?? 'unknown error'));

async function request(method, url, options) {
  const parts = /^(https?):\/\/([^/?#@]+)([^#]*)/.exec(url);
  if (!parts) throw { ...failure(`${url} is no URL of HTTP`), retryable: false };
  const [, scheme, authority, path] = parts;
  const body = bodyOf(options);
  const headers = Object.entries(JSON.parse(options?.headers ?? '{}'));
  if (options?.json != null) headers.push(['content-type', 'application/json']);
  if (body) headers.push(['content-length', String(body.length)]);
  try {
    return answer(url, send({ method, scheme, authority, path: withQuery(path, options?.query), headers, body, timeoutMs: options?.timeoutMs }), options?.responseType);
  } catch (error) {
    throw error?.code ? error : failure(`the request failed: ${describe(error)}`);
  }
}

function bodyOf(options) {
  if (options?.json != null) return encode(options.json);
  if (options?.text != null) return encode(options.text);
  return options?.bytes ?? null;
}

function withQuery(path, query) {
  const pairs = Object.entries(JSON.parse(query ?? '{}')).map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`);
  const begun = path === '' ? '/' : path.startsWith('?') ? `/${path}` : path;
  return pairs.length === 0 ? begun : begun + (begun.includes('?') ? '&' : '?') + pairs.join('&');
}

function send({ method, scheme, authority, path, headers, body, timeoutMs }) {
  const fields = types.Fields.fromList(headers.map(([name, value]) => [name.toLowerCase(), encode(String(value))]));
  const sent = new types.OutgoingRequest(fields);
  const known = ['get', 'head', 'post', 'put', 'delete', 'patch', 'options'].includes(method.toLowerCase());
  sent.setMethod(known ? { tag: method.toLowerCase() } : { tag: 'other', val: method });
  sent.setScheme({ tag: scheme === 'https' ? 'HTTPS' : 'HTTP' });
  sent.setAuthority(authority);
  sent.setPathWithQuery(path);
  const outgoingBody = sent.body();
  const nanoseconds = (timeoutMs ?? DEFAULT_TIMEOUT_MS) * 1e6;
  const timeouts = new types.RequestOptions();
  timeouts.setFirstByteTimeout(nanoseconds);
  timeouts.setBetweenBytesTimeout(nanoseconds);
  const future = outgoing.handle(sent, timeouts);
  if (body) {
    const stream = outgoingBody.write();
    for (let at = 0; at < body.length; at += WRITE_BYTES) stream.blockingWriteAndFlush(body.slice(at, at + WRITE_BYTES));
    stream[Symbol.dispose]();
  }
  types.OutgoingBody.finish(outgoingBody, null);
  const ready = future.subscribe();
  ready.block();
  ready[Symbol.dispose]();
  let received = future.get();
  // The result of being asked once, and in it that of the request.
  while (received?.tag === 'ok' && received.val?.tag !== undefined) received = received.val;
  future[Symbol.dispose]();
  if (received?.tag === 'err') throw received.val;
  return received.val;
}

function answer(url, response, responseType) {
  const status = response.status();
  const fields = response.headers();
  const headers = {};
  for (const [name, value] of fields.entries()) {
    const text = decode(new Uint8Array(value));
    const key = name.toLowerCase();
    headers[key] = key in headers ? `${headers[key]}, ${text}` : text;
  }
  fields[Symbol.dispose]();
  const bytes = read(response.consume());
  response[Symbol.dispose]();
  const base = { status, ok: status >= 200 && status < 300, url, headers: JSON.stringify(headers), json: null, text: null, bytes: null };
  const isJson = responseType === 'json' || ((responseType ?? 'auto') === 'auto' && /[/+]json\b/.test(headers['content-type'] ?? ''));
  if (responseType === 'bytes') return { ...base, bytes };
  const text = decode(bytes);
  return isJson && text !== '' ? { ...base, json: JSON.stringify(JSON.parse(text)) } : { ...base, text };
}

function read(body) {
  const stream = body.stream();
  const chunks = [];
  let length = 0;
  for (;;) {
    let chunk;
    try {
      chunk = stream.blockingRead(65_536);
    } catch (error) {
      const end = error?.payload ?? error;
      if (end?.tag === 'closed') break;
      throw end;
    }
    length += chunk.length;
    if (length > MAX_ANSWER_BYTES) throw { ...failure(`the answer has more than ${MAX_ANSWER_BYTES} bytes`), retryable: false };
    chunks.push(new Uint8Array(chunk));
  }
  stream[Symbol.dispose]();
  body[Symbol.dispose]();
  const whole = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}

const withBody = (method) => (url, body, options) => request(method, url, body == null ? options : { ...options, json: body });
export const http = {
  get: (url, options) => request('GET', url, options),
  post: withBody('POST'),
  put: withBody('PUT'),
  patch: withBody('PATCH'),
  delete: (url, options) => request('DELETE', url, options),
  request,
};
