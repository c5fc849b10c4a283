// Headers, as the fetch standard has them (guard "none").
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
    toLowerCase,
    stringSlice,
    charCodeAt,
    mapGet,
    mapSet,
    mapHas,
    mapDelete,
    mapForEach,
  } = shared;
  const { Map } = globalThis;
  const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
  const FORBIDDEN = /[\0\n\r]|[^\0-\xff]/;

  function nameOf(name) {
    name = `${name}`;
    if (!matches(TOKEN, name))
      throw new TypeError(`Invalid header name: ${shared.layout.quote(stringSlice(name, 0, 100))}`);
    return toLowerCase(name);
  }

  function isSpace(code) {
    return code === 32 || code === 9 || code === 10 || code === 13;
  }

  function valueOf(value, name) {
    value = `${value}`;
    let start = 0;
    let end = value.length;
    while (start < end && isSpace(charCodeAt(value, start))) start++;
    while (end > start && isSpace(charCodeAt(value, end - 1))) end--;
    value = stringSlice(value, start, end);
    if (matches(FORBIDDEN, value))
      throw new TypeError(
        `Invalid value of header ${name}: line breaks, NUL and characters above U+00FF are not allowed`,
      );
    return value;
  }

  function needArguments(count, expected, method) {
    if (count < expected)
      throw new TypeError(`Headers.${method} takes ${expected} argument${expected > 1 ? "s" : ""}, not ${count}`);
  }

  let sortedPairs;

  class Headers {
    // Lower-case name → its values in the order they were added.
    #values = new Map();
    // The sorted pairs, until the next change.
    #sorted = undefined;

    constructor(init = undefined) {
      if (init === undefined) return;
      if (init === null || (typeof init !== "object" && typeof init !== "function"))
        throw new TypeError("Headers takes an object, an iterable of pairs or Headers");
      shared.pairsOf(init, "Headers", (name, value) => this.#append(name, value));
    }
    #append(name, value) {
      name = nameOf(name);
      value = valueOf(value, name);
      const values = mapGet(this.#values, name);
      if (values === undefined) mapSet(this.#values, name, [value]);
      else push(values, value);
      this.#sorted = undefined;
    }
    append(name, value) {
      needArguments(arguments.length, 2, "append");
      this.#append(name, value);
    }
    set(name, value) {
      needArguments(arguments.length, 2, "set");
      name = nameOf(name);
      mapSet(this.#values, name, [valueOf(value, name)]);
      this.#sorted = undefined;
    }
    get(name) {
      needArguments(arguments.length, 1, "get");
      const values = mapGet(this.#values, nameOf(name));
      return values === undefined ? null : join(values, ", ");
    }
    has(name) {
      needArguments(arguments.length, 1, "has");
      return mapHas(this.#values, nameOf(name));
    }
    delete(name) {
      needArguments(arguments.length, 1, "delete");
      mapDelete(this.#values, nameOf(name));
      this.#sorted = undefined;
    }
    getSetCookie() {
      const copy = [];
      const values = mapGet(this.#values, "set-cookie") ?? [];
      for (let index = 0; index < values.length; index++) push(copy, values[index]);
      return copy;
    }
    static {
      // Sorted by name; cookies stay apart, all other values are joined.
      sortedPairs = (headers) => {
        if (headers.#sorted !== undefined) return headers.#sorted;
        const pairs = [];
        mapForEach(headers.#values, (values, name) => {
          if (name !== "set-cookie") push(pairs, [name, join(values, ", ")]);
          else for (let index = 0; index < values.length; index++) push(pairs, [name, values[index]]);
        });
        return (headers.#sorted = sort(pairs, (left, right) => (left[0] < right[0] ? -1 : left[0] > right[0] ? 1 : 0)));
      };
      mapSet(shared.views, Headers.prototype, (headers) => {
        if (!(#values in headers)) return undefined;
        const view = {};
        mapForEach(headers.#values, (values, name) =>
          shared.put(view, name, name === "set-cookie" && values.length > 1 ? values : join(values, ", ")),
        );
        return view;
      });
    }
  }
  tag(Headers, "Headers");
  shared.pairIterator(Headers, "Headers", sortedPairs);
  expose("Headers", Headers);
})
