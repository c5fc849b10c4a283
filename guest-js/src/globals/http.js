// What a script that answers HTTP requests is given, and what its answer
// means. Used by compiled services only; scripts see no new global.
(function (native) {
  "use strict";
  const { shared } = native;
  const { put } = shared;
  const { Headers, Uint8Array, JSON, Array } = globalThis;
  const { isArray } = Array;
  const { parse, stringify } = JSON;
  const isBytes = (value) => shared.className(value) === "Uint8Array";
  const hasOwn = Object.hasOwn;
  // Iterating Headers must not depend on what a script did to its prototype.
  const forEachHeader = shared.uncurryThis(Headers.prototype.forEach);

  const TEXT = "text/plain; charset=utf-8";
  const MEDIA_JSON = "application/json";
  const BINARY = "application/octet-stream";

  // A request as scripts see it: like the fetch standard's, with the body there.
  shared.toRequest = ({ method, url, headers, body }) => {
    const request = {};
    put(request, "method", method);
    put(request, "url", url);
    put(request, "headers", new Headers(headers));
    put(request, "body", body);
    put(request, "text", () => native.bytesToString(body));
    put(request, "json", () => parse(native.bytesToString(body)));
    return request;
  };

  function toBody(value) {
    if (value === undefined || value === null) return { bytes: new Uint8Array(0), type: undefined };
    if (typeof value === "string") return { bytes: native.stringToBytes(shared.toWellFormed(value)), type: TEXT };
    if (isBytes(value)) return { bytes: value, type: BINARY };
    const text = stringify(value);
    if (text === undefined) throw new TypeError("The answer has no JSON form");
    return { bytes: native.stringToBytes(shared.toWellFormed(text)), type: MEDIA_JSON };
  }

  // A string, bytes, JSON-able data, or { status, headers, body } → [status, [[name, value]…], bytes].
  shared.toResponse = (value) => {
    const isResponse =
      value !== null &&
      typeof value === "object" &&
      !isArray(value) &&
      !isBytes(value) &&
      (hasOwn(value, "status") || hasOwn(value, "headers") || hasOwn(value, "body"));
    const { status, headers, body } = isResponse ? value : { body: value };
    const { bytes, type } = toBody(body);
    const code = status === undefined ? (type === undefined ? 204 : 200) : status;
    if (typeof code !== "number" || code !== code >>> 0 || code < 200 || code > 599) {
      throw new RangeError("The answer's status must be an integer from 200 to 599");
    }
    const fields = new Headers(headers ?? []);
    if (type !== undefined && !fields.has("content-type")) fields.set("content-type", type);
    const pairs = [];
    forEachHeader(fields, (text, name) => put(pairs, pairs.length, [name, text]));
    return [code, pairs, bytes];
  };
})
