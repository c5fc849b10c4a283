// URL: parsing and serialising is the host's (the WHATWG parser of Rust's
// `url` crate); this class holds the parts and keeps searchParams in step.
(function (native) {
  "use strict";
  const { shared } = native;
  const { expose, tag, stringSlice, toWellFormed, mapSet, layout } = shared;

  // Positions in what native.parseUrl answers.
  const PARTS = [
    "href",
    "origin",
    "protocol",
    "username",
    "password",
    "host",
    "hostname",
    "port",
    "pathname",
    "search",
    "hash",
  ];
  const HREF = 0;
  const SEARCH = 9;

  const text = (value) => toWellFormed(`${value}`);
  const queryOf = (parts) => stringSlice(parts[SEARCH], 1);
  const shown = (input) => layout.quote(input.length > 200 ? `${stringSlice(input, 0, 200)}...` : input);

  function parse(input, base) {
    return native.parseUrl(text(input), base === undefined ? undefined : text(base));
  }

  function invalid(input, base) {
    input = text(input);
    const error = new TypeError(
      `Invalid URL: ${shown(input)}${base === undefined ? "" : ` with base ${shown(text(base))}`}`,
    );
    error.code = "ERR_INVALID_URL";
    error.input = input;
    return error;
  }

  let read;
  let write;

  class URL {
    #parts;
    #parameters = undefined;

    constructor(input, base = undefined) {
      if (arguments.length === 0) throw new TypeError("URL needs a string: new URL(url, base)");
      this.#parts = parse(input, base);
      if (this.#parts === null) throw invalid(input, base);
    }
    static canParse(input, base = undefined) {
      if (arguments.length === 0) throw new TypeError("URL.canParse needs a string");
      return parse(input, base) !== null;
    }
    static parse(input, base = undefined) {
      if (arguments.length === 0) throw new TypeError("URL.parse needs a string");
      return parse(input, base) === null ? null : new URL(input, base);
    }
    get href() {
      return this.#parts[HREF];
    }
    set href(value) {
      const parts = parse(value, undefined);
      if (parts === null) throw invalid(value, undefined);
      this.#replace(parts);
    }
    get searchParams() {
      return (this.#parameters ??= shared.linkParameters(queryOf(this.#parts), (query) => {
        this.#parts = native.setUrlPart(this.#parts[HREF], "search", query) ?? this.#parts;
      }));
    }
    toString() {
      return this.#parts[HREF];
    }
    toJSON() {
      return this.#parts[HREF];
    }

    #replace(parts) {
      this.#parts = parts;
      if (this.#parameters !== undefined) shared.refreshParameters(this.#parameters, queryOf(parts));
    }
    static {
      read = (url, index) => url.#parts[index];
      // A value that the part cannot take leaves the URL as it was.
      write = (url, index, value) => {
        const parts = native.setUrlPart(url.#parts[HREF], PARTS[index], text(value));
        if (parts !== null) url.#replace(parts);
      };
      mapSet(shared.views, URL.prototype, (url) => {
        if (!(#parts in url)) return undefined;
        const view = {};
        for (let index = 0; index < PARTS.length; index++) {
          if (index === 10) view.searchParams = url.searchParams;
          view[PARTS[index]] = url.#parts[index];
        }
        return view;
      });
    }
  }
  for (let index = 1; index < PARTS.length; index++) {
    const accessor = {
      get() {
        return read(this, index);
      },
      set(value) {
        write(this, index, value);
      },
    };
    Object.defineProperty(URL.prototype, PARTS[index], {
      get: accessor.get,
      set: PARTS[index] === "origin" ? undefined : accessor.set,
      enumerable: true,
      configurable: true,
    });
  }
  tag(URL, "URL");
  expose("URL", URL);
})
