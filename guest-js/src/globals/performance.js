// performance.now and timeOrigin. Nothing is read while loading: it would be
// the snapshot's time, not the run's.
(function (native) {
  "use strict";
  let origin;
  const performance = {
    // Milliseconds since the run began.
    now() {
      return native.monotonic();
    },
    get timeOrigin() {
      return (origin ??= native.now() - native.monotonic());
    },
    toJSON() {
      return { timeOrigin: performance.timeOrigin };
    },
  };
  Object.defineProperty(performance, Symbol.toStringTag, { value: "Performance", configurable: true });
  native.shared.expose("performance", performance);
})
