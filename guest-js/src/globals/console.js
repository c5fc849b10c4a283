// The console: every method writes through native.write(level, text).
(function (native) {
  "use strict";
  const { shared } = native;
  const {
    expose,
    format,
    inspect,
    table,
    framesOf,
    join,
    split,
    repeat,
    stringSlice,
    charCodeAt,
    toWellFormed,
    mapGet,
    mapSet,
    mapDelete,
  } = shared;
  const toFixed = shared.uncurryThis(Number.prototype.toFixed);
  const { min } = Math;

  // Characters one call may write; the run as a whole has its own cap.
  const MAX_TEXT = 65536;
  // Groups deeper than this stop indenting, so that indentation cannot
  // multiply the size of what is written.
  const MAX_INDENTED_GROUPS = 32;

  // The deepest that console.dir goes, whatever it is asked for: each level
  // takes stack.
  const MAX_DEPTH = 100;

  let groups = 0;
  const counts = new Map();
  const timers = new Map();

  function write(level, text) {
    if (groups > 0) {
      const indentation = repeat("  ", min(groups, MAX_INDENTED_GROUPS));
      text = indentation + (text.length > MAX_TEXT ? text : join(split(text, "\n"), `\n${indentation}`));
    }
    if (text.length > MAX_TEXT) {
      const last = charCodeAt(text, MAX_TEXT - 1);
      const end = last >= 0xd800 && last <= 0xdbff ? MAX_TEXT - 1 : MAX_TEXT;
      text = `${stringSlice(text, 0, end)}\n... cut here: ${text.length - end} more characters (one console call shows at most ${MAX_TEXT})`;
    }
    // The host takes UTF-8, which has no lone surrogates.
    native.write(level, toWellFormed(text));
  }

  const writer =
    (level) =>
    (...values) =>
      write(level, format(values));
  const labelOf = (label) => (typeof label === "string" ? label : inspect(label, 0));

  function duration(milliseconds) {
    return milliseconds >= 1000 ? `${toFixed(milliseconds / 1000, 3)}s` : `${+toFixed(milliseconds, 3)}ms`;
  }

  // The time since console.time(label), or undefined after a warning.
  function elapsed(label, method) {
    const start = mapGet(timers, label);
    if (start !== undefined) return `${label}: ${duration(native.monotonic() - start)}`;
    write("warn", `No such label '${label}' for console.${method}()`);
    return undefined;
  }

  const console = {
    log: writer("log"),
    info: writer("info"),
    warn: writer("warn"),
    error: writer("error"),
    debug: writer("debug"),
    trace(...values) {
      const text = format(values);
      const frames = framesOf(new Error().stack);
      write("error", `Trace${text === "" ? "" : `: ${text}`}${frames.length === 0 ? "" : `\n${join(frames, "\n")}`}`);
    },
    dir(value, options) {
      const depth = options?.depth;
      write("log", inspect(value, depth === null ? MAX_DEPTH : typeof depth === "number" ? min(depth, MAX_DEPTH) : 2));
    },
    dirxml: writer("log"),
    table(data, columns) {
      write("log", table(data, columns) ?? format([data]));
    },
    group(...values) {
      if (values.length > 0) write("log", format(values));
      groups++;
    },
    groupEnd() {
      if (groups > 0) groups--;
    },
    time(label = "default") {
      label = labelOf(label);
      if (mapGet(timers, label) !== undefined) write("warn", `Label '${label}' already exists for console.time()`);
      else mapSet(timers, label, native.monotonic());
    },
    timeLog(label = "default", ...values) {
      const text = elapsed(labelOf(label), "timeLog");
      if (text !== undefined) write("log", values.length === 0 ? text : `${text} ${format(values)}`);
    },
    timeEnd(label = "default") {
      label = labelOf(label);
      const text = elapsed(label, "timeEnd");
      if (text !== undefined) write("log", text);
      mapDelete(timers, label);
    },
    count(label = "default") {
      label = labelOf(label);
      const count = (mapGet(counts, label) ?? 0) + 1;
      mapSet(counts, label, count);
      write("log", `${label}: ${count}`);
    },
    countReset(label = "default") {
      label = labelOf(label);
      if (!mapDelete(counts, label)) write("warn", `Count for '${label}' does not exist`);
    },
    assert(condition, ...values) {
      if (condition) return;
      const text = format(values);
      write("error", `Assertion failed${text === "" ? "" : `: ${text}`}`);
    },
  };
  console.groupCollapsed = console.group;
  Object.defineProperty(console, Symbol.toStringTag, { value: "console", configurable: true });
  expose("console", console);
})
