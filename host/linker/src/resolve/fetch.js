// Makes `fetch` a global, over `http.request`: what the policy allows there is allowed here. Answers come whole, so
// that there is no stream of a body.
import { http } from '@agent-spaces/std';

// What this file uses is taken before the script runs, so that a script that patches a prototype breaks nothing here.
// There are no template literals, because the engine makes them by String.prototype.concat.
const { request } = http;
const { cancelCall } = globalThis.__agentSpaces;
const { ArrayBuffer, DataView, Headers, Promise, String, TextDecoder, TypeError, Uint8Array, URL, URLSearchParams } =
  globalThis;
const { isView } = ArrayBuffer;
const { defineProperty, getOwnPropertyDescriptor, getPrototypeOf, keys } = Object;
const { parse } = JSON;
const { bind, call } = Function.prototype;
const uncurryThis = bind.bind(call);
const getterOf = (prototype, name) => uncurryThis(getOwnPropertyDescriptor(prototype, name).get);

const { prototype: typedArray } = getPrototypeOf(Uint8Array);
const bufferOf = getterOf(typedArray, 'buffer');
const offsetOf = getterOf(typedArray, 'byteOffset');
const lengthOf = getterOf(typedArray, 'byteLength');
const kindOf = getterOf(typedArray, Symbol.toStringTag);
const viewBufferOf = getterOf(DataView.prototype, 'buffer');
const viewOffsetOf = getterOf(DataView.prototype, 'byteOffset');
const viewLengthOf = getterOf(DataView.prototype, 'byteLength');
const bufferLengthOf = getterOf(ArrayBuffer.prototype, 'byteLength');
const hrefOf = getterOf(URL.prototype, 'href');
const setHash = uncurryThis(getOwnPropertyDescriptor(URL.prototype, 'hash').set);
const queryText = uncurryThis(URLSearchParams.prototype.toString);
const hasHeader = uncurryThis(Headers.prototype.has);
const setHeader = uncurryThis(Headers.prototype.set);
const appendHeader = uncurryThis(Headers.prototype.append);
const eachHeader = uncurryThis(Headers.prototype.forEach);
const toUpperCase = uncurryThis(String.prototype.toUpperCase);
const toWellFormed = uncurryThis(String.prototype.toWellFormed);
const isAborted = getterOf(AbortSignal.prototype, 'aborted');
const reasonOf = getterOf(AbortSignal.prototype, 'reason');
const addEventListener = uncurryThis(EventTarget.prototype.addEventListener);
const removeEventListener = uncurryThis(EventTarget.prototype.removeEventListener);
const then = uncurryThis(Promise.prototype.then);
const decode = uncurryThis(TextDecoder.prototype.decode);
const utf8 = new TextDecoder();

const FORM = 'application/x-www-form-urlencoded;charset=UTF-8';
const TEXT = 'text/plain;charset=UTF-8';

// An own property, whatever setters and members the prototype has.
function put(target, name, value, enumerable = true) {
  defineProperty(target, name, { __proto__: null, value, writable: true, enumerable, configurable: true });
}

// What a getter or method of a class gives, or undefined for what is not of that class.
function tryOf(read, value) {
  try {
    return read(value);
  } catch {
    return undefined;
  }
}

// Goes on when a promise is settled. A promise without a constructor is taken as it is.
function settle(promise, onValue, onError) {
  put(promise, 'constructor', undefined, false);
  then(promise, onValue, onError);
}

// The bytes of a buffer or a view, not copied; undefined for anything else.
function bytesOf(value) {
  if (!isView(value)) return tryOf(bufferLengthOf, value) === undefined ? undefined : new Uint8Array(value);
  return kindOf(value) === undefined
    ? new Uint8Array(viewBufferOf(value), viewOffsetOf(value), viewLengthOf(value))
    : new Uint8Array(bufferOf(value), offsetOf(value), lengthOf(value));
}

// Headers of one's own. Those of others are not iterated, which would ask their prototype.
function headersOf(init) {
  if (tryOf((headers) => hasHeader(headers, 'accept'), init) === undefined) return new Headers(init ?? undefined);
  const fields = new Headers();
  eachHeader(init, (value, name) => appendHeader(fields, name, value));
  return fields;
}

class Response {
  #bytes;
  #isUsed = false;

  constructor(parts, bytes) {
    const names = keys(parts);
    for (let index = 0; index < names.length; index++)
      defineProperty(this, names[index], { __proto__: null, value: parts[names[index]], enumerable: true });
    this.#bytes = bytes;
  }
  get bodyUsed() {
    return this.#isUsed;
  }
  #take() {
    if (this.#isUsed) throw new TypeError('The body was read already: read it once, or clone() the response first');
    this.#isUsed = true;
    const bytes = this.#bytes;
    this.#bytes = undefined;
    return bytes;
  }
  async text() {
    return decode(utf8, this.#take());
  }
  async json() {
    return parse(decode(utf8, this.#take()));
  }
  async bytes() {
    return this.#take();
  }
  async arrayBuffer() {
    // A copy has a buffer of its own size.
    return bufferOf(new Uint8Array(this.#take()));
  }
  clone() {
    if (this.#isUsed) throw new TypeError('The body was read already: clone() the response before that');
    const { ok, status, statusText, url, redirected, type, headers } = this;
    const parts = { ok, status, statusText, url, redirected, type, headers: headersOf(headers) };
    return new Response(parts, new Uint8Array(this.#bytes));
  }
  static {
    defineProperty(this.prototype, Symbol.toStringTag, { __proto__: null, value: 'Response', configurable: true });
  }
}

function toResponse({ ok, status, url, headers, bytes }, asked) {
  const fields = new Headers();
  const names = keys(headers);
  for (let index = 0; index < names.length; index++) setHeader(fields, names[index], headers[names[index]]);
  const parts = { ok, status, statusText: '', url, redirected: url !== asked, type: 'basic', headers: fields };
  return new Response(parts, bytes);
}

// What `http.request` takes for the body, and the media type if the script names none.
function addBody(options, body) {
  const bytes = bytesOf(body);
  if (bytes !== undefined) {
    options.bytes = bytes;
    return undefined;
  }
  const form = tryOf(queryText, body);
  if (form === undefined && typeof body === 'object')
    throw new TypeError('The body must be a string, bytes or URLSearchParams: use JSON.stringify for an object');
  options.text = toWellFormed(form ?? String(body));
  return form === undefined ? TEXT : FORM;
}

// The address without its fragment, as an answer tells it.
function addressOf(input) {
  const url = new URL(tryOf(hrefOf, input) ?? String(input));
  setHash(url, '');
  return hrefOf(url);
}

// [method, url, options] for `http.request`. Objects have no prototype, so that nothing is added by one.
function toRequest(input, init) {
  const url = addressOf(input);
  const { method = 'GET', headers, body, redirect = 'follow', integrity = '' } = init;
  if (redirect !== 'follow') throw new TypeError("Redirects are followed: leave out redirect, or say 'follow'");
  if (integrity !== '') throw new TypeError('There is no integrity check here: hash the bytes of the answer');
  const verb = toUpperCase(String(method));
  const options = { __proto__: null, responseType: 'bytes' };
  const fields = headersOf(headers);
  if (body !== undefined && body !== null) {
    if (verb === 'GET' || verb === 'HEAD') throw new TypeError('A GET or HEAD request has no body');
    const type = addBody(options, body);
    if (type !== undefined && !hasHeader(fields, 'content-type')) setHeader(fields, 'content-type', type);
  }
  options.headers = { __proto__: null };
  eachHeader(fields, (value, name) => put(options.headers, name, value));
  return [verb, url, options];
}

function fetch(input, init = undefined) {
  return new Promise((resolve, reject) => {
    if (arguments.length === 0) throw new TypeError('fetch takes an address');
    init ??= { __proto__: null };
    const signal = init.signal ?? undefined;
    if (signal !== undefined && tryOf(isAborted, signal) === undefined)
      throw new TypeError('signal must be an AbortSignal');
    if (signal !== undefined && isAborted(signal)) return reject(reasonOf(signal));
    const asked = toRequest(input, init);
    // Made now, so that it tells where in the script it was called.
    const failure = new TypeError();
    const promise = request(asked[0], asked[1], asked[2]);
    // Whoever aborts waits no longer, and the host ends the request.
    const stop = () => {
      reject(reasonOf(signal));
      cancelCall(promise, undefined);
    };
    if (signal !== undefined) addEventListener(signal, 'abort', stop);
    const done = () => signal !== undefined && removeEventListener(signal, 'abort', stop);
    settle(
      promise,
      (answer) => {
        done();
        try {
          resolve(toResponse(answer, asked[1]));
        } catch (error) {
          reject(error);
        }
      },
      (cause) => {
        done();
        if (cause === undefined) return;
        put(failure, 'message', cause.message, false);
        put(failure, 'cause', cause, false);
        reject(failure);
      },
    );
  });
}

put(globalThis, 'fetch', fetch, false);
