// URLSearchParams: the application/x-www-form-urlencoded rules of the URL
// standard, in plain JavaScript. A URL's own searchParams is linked to it.
(function (native) {
  "use strict";
  const { shared } = native;
  const {
    expose,
    tag,
    push,
    join,
    sort,
    matches,
    split,
    stringIndexOf,
    stringSlice,
    charCodeAt,
    toUpperCase,
    numberToString,
    toWellFormed,
    mapSet,
    viewLength,
  } = shared;
  const replaceAll = shared.uncurryThis(String.prototype.replaceAll);
  const { fromCharCode } = String;
  const { Map, Uint8Array } = globalThis;
  const PLAIN = /^[A-Za-z0-9*\-._]*$/;
  // Each byte as it is written; filled on first use, so that it costs the
  // snapshot nothing.
  let encoded;

  function encodeByte(byte) {
    if (byte === 32) return "+";
    const character = fromCharCode(byte);
    return matches(PLAIN, character) ? character : `%${byte < 16 ? "0" : ""}${toUpperCase(numberToString(byte, 16))}`;
  }

  function encode(text) {
    if (matches(PLAIN, text)) return text;
    if (encoded === undefined) {
      encoded = [];
      for (let byte = 0; byte < 256; byte++) push(encoded, encodeByte(byte));
    }
    const bytes = native.stringToBytes(text);
    let result = "";
    for (let index = 0; index < viewLength(bytes); index++) result += encoded[bytes[index]];
    return result;
  }

  function hexDigit(code) {
    if (code >= 48 && code <= 57) return code - 48;
    code |= 32;
    return code >= 97 && code <= 102 ? code - 87 : -1;
  }

  // %XX undone; a stray % stays. Bytes that are no UTF-8 become U+FFFD.
  function decode(text) {
    if (stringIndexOf(text, "+") !== -1) text = replaceAll(text, "+", " ");
    if (stringIndexOf(text, "%") === -1) return text;
    const bytes = native.stringToBytes(text);
    let end = 0;
    for (let index = 0; index < viewLength(bytes); index++) {
      let byte = bytes[index];
      if (byte === 37 && index + 2 < viewLength(bytes)) {
        const high = hexDigit(bytes[index + 1]);
        const low = hexDigit(bytes[index + 2]);
        if (high !== -1 && low !== -1) {
          byte = high * 16 + low;
          index += 2;
        }
      }
      bytes[end++] = byte;
    }
    return native.bytesToString(new Uint8Array(shared.viewBuffer(bytes), shared.viewByteOffset(bytes), end));
  }

  function parse(text) {
    const pairs = [];
    const pieces = split(text, "&");
    for (let index = 0; index < pieces.length; index++) {
      const piece = pieces[index];
      if (piece === "") continue;
      const equals = stringIndexOf(piece, "=");
      push(
        pairs,
        equals === -1
          ? [decode(piece), ""]
          : [decode(stringSlice(piece, 0, equals)), decode(stringSlice(piece, equals + 1))],
      );
    }
    return pairs;
  }

  function serialize(pairs) {
    const pieces = [];
    for (let index = 0; index < pairs.length; index++)
      push(pieces, `${encode(pairs[index][0])}=${encode(pairs[index][1])}`);
    return join(pieces, "&");
  }

  const text = (value) => toWellFormed(`${value}`);
  function needArguments(count, expected, method) {
    if (count < expected)
      throw new TypeError(
        `URLSearchParams.${method} takes ${expected} argument${expected > 1 ? "s" : ""}, not ${count}`,
      );
  }

  let pairsOf;

  class URLSearchParams {
    #pairs = [];
    // Tells the URL this belongs to of each change; undefined if on its own.
    #changed = undefined;

    constructor(init = "") {
      if (init !== null && (typeof init === "object" || typeof init === "function")) {
        shared.pairsOf(init, "URLSearchParams", (name, value) => push(this.#pairs, [text(name), text(value)]));
      } else {
        init = text(init);
        this.#pairs = parse(charCodeAt(init, 0) === 63 ? stringSlice(init, 1) : init);
      }
    }
    get size() {
      return this.#pairs.length;
    }
    append(name, value) {
      needArguments(arguments.length, 2, "append");
      push(this.#pairs, [text(name), text(value)]);
      this.#changed?.(serialize(this.#pairs));
    }
    delete(name, value = undefined) {
      needArguments(arguments.length, 1, "delete");
      name = text(name);
      if (value !== undefined) value = text(value);
      let kept = 0;
      for (let index = 0; index < this.#pairs.length; index++) {
        const pair = this.#pairs[index];
        if (pair[0] !== name || (value !== undefined && pair[1] !== value)) this.#pairs[kept++] = pair;
      }
      this.#pairs.length = kept;
      this.#changed?.(serialize(this.#pairs));
    }
    get(name) {
      needArguments(arguments.length, 1, "get");
      name = text(name);
      for (let index = 0; index < this.#pairs.length; index++)
        if (this.#pairs[index][0] === name) return this.#pairs[index][1];
      return null;
    }
    getAll(name) {
      needArguments(arguments.length, 1, "getAll");
      name = text(name);
      const values = [];
      for (let index = 0; index < this.#pairs.length; index++)
        if (this.#pairs[index][0] === name) push(values, this.#pairs[index][1]);
      return values;
    }
    has(name, value = undefined) {
      needArguments(arguments.length, 1, "has");
      name = text(name);
      if (value !== undefined) value = text(value);
      for (let index = 0; index < this.#pairs.length; index++) {
        const pair = this.#pairs[index];
        if (pair[0] === name && (value === undefined || pair[1] === value)) return true;
      }
      return false;
    }
    set(name, value) {
      needArguments(arguments.length, 2, "set");
      name = text(name);
      const pair = [name, text(value)];
      let kept = 0;
      let placed = false;
      for (let index = 0; index < this.#pairs.length; index++) {
        const current = this.#pairs[index];
        if (current[0] !== name) this.#pairs[kept++] = current;
        else if (!placed) {
          this.#pairs[kept++] = pair;
          placed = true;
        }
      }
      this.#pairs.length = kept;
      if (!placed) push(this.#pairs, pair);
      this.#changed?.(serialize(this.#pairs));
    }
    sort() {
      sort(this.#pairs, (left, right) => (left[0] < right[0] ? -1 : left[0] > right[0] ? 1 : 0));
      this.#changed?.(serialize(this.#pairs));
    }
    toString() {
      return serialize(this.#pairs);
    }
    static {
      pairsOf = (parameters) => parameters.#pairs;
      // For URL: the parameters of one URL, and their refresh when it changes.
      shared.linkParameters = (query, changed) => {
        const parameters = new URLSearchParams();
        parameters.#pairs = parse(query);
        parameters.#changed = changed;
        return parameters;
      };
      shared.refreshParameters = (parameters, query) => void (parameters.#pairs = parse(query));
      mapSet(shared.views, URLSearchParams.prototype, (parameters) => {
        if (!(#pairs in parameters)) return undefined;
        const view = new Map();
        for (let index = 0; index < parameters.#pairs.length; index++)
          mapSet(view, parameters.#pairs[index][0], parameters.#pairs[index][1]);
        return view;
      });
    }
  }
  tag(URLSearchParams, "URLSearchParams");
  shared.pairIterator(URLSearchParams, "URLSearchParams", pairsOf);
  expose("URLSearchParams", URLSearchParams);
})
