// Timers and queueMicrotask.
(function (native) {
  "use strict";
  const { shared } = native;
  const { expose, apply } = shared;
  const enqueue = globalThis.queueMicrotask;
  // The longest delay a browser takes; longer ones wait this long.
  const MAX_DELAY = 2147483647;

  function start(name, callback, delay, values, repeat) {
    if (typeof callback !== "function") {
      throw new TypeError(
        `${name} takes a function${typeof callback === "string" ? ": code in a string is not run here" : ""}`,
      );
    }
    delay = +delay;
    delay = delay > 0 ? (delay < MAX_DELAY ? delay : MAX_DELAY) : 0;
    return native.setTimer(
      values.length === 0 ? () => void callback() : () => void apply(callback, undefined, values),
      delay,
      repeat,
    );
  }

  function clear(id) {
    id = typeof id === "object" || typeof id === "symbol" || typeof id === "bigint" ? NaN : +id;
    if (id > 0 && id === id >>> 0) native.clearTimer(id); // ids are 32-bit integers
  }

  expose("setTimeout", function setTimeout(callback, delay = 0, ...values) {
    return start("setTimeout", callback, delay, values, false);
  });
  expose("setInterval", function setInterval(callback, delay = 0, ...values) {
    return start("setInterval", callback, delay, values, true);
  });
  // Node's name for "after this turn"; as good as a timer of no delay.
  expose("setImmediate", function setImmediate(callback, ...values) {
    return start("setImmediate", callback, 0, values, false);
  });
  expose("clearTimeout", function clearTimeout(id = undefined) {
    clear(id);
  });
  expose("clearInterval", function clearInterval(id = undefined) {
    clear(id);
  });
  expose("clearImmediate", function clearImmediate(id = undefined) {
    clear(id);
  });
  expose("queueMicrotask", function queueMicrotask(callback) {
    if (typeof callback !== "function") throw new TypeError("queueMicrotask takes a function");
    enqueue(() => {
      try {
        callback();
      } catch (error) {
        native.reportError(error);
      }
    });
  });
})
