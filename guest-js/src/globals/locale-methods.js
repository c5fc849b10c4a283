// toLocaleString, toLocaleDateString and toLocaleTimeString of Number, BigInt,
// Date and arrays, by Intl.
(function (native) {
  "use strict";
  const { shared } = native;
  const { hidden, uncurryThis, dateGetTime, numberFormat, dateTimeFormat } = shared;
  const numberValue = uncurryThis(Number.prototype.valueOf);
  const bigintValue = uncurryThis(BigInt.prototype.valueOf);

  // What is asked for most is made once.
  let plain;
  function formatNumber(value, locales, options) {
    if (locales === undefined && options === undefined)
      return numberFormat.format((plain ??= numberFormat.initialize(undefined, undefined)), value);
    return numberFormat.format(numberFormat.initialize(locales, options), value);
  }
  function formatDate(date, locales, options, required, defaults) {
    const time = dateGetTime(date);
    if (time !== time) return "Invalid Date";
    return dateTimeFormat.format(dateTimeFormat.initialize(locales, options, required, defaults), time);
  }

  const define = (prototype, methods) => {
    for (const name of Object.keys(methods)) hidden(prototype, name, methods[name]);
  };
  define(Number.prototype, {
    toLocaleString(locales = undefined, options = undefined) {
      return formatNumber(numberValue(this), locales, options);
    },
  });
  define(BigInt.prototype, {
    toLocaleString(locales = undefined, options = undefined) {
      return formatNumber(bigintValue(this), locales, options);
    },
  });
  define(Date.prototype, {
    toLocaleString(locales = undefined, options = undefined) {
      return formatDate(this, locales, options, "any", "all");
    },
    toLocaleDateString(locales = undefined, options = undefined) {
      return formatDate(this, locales, options, "date", "date");
    },
    toLocaleTimeString(locales = undefined, options = undefined) {
      return formatDate(this, locales, options, "time", "time");
    },
  });

  // Array items get the arguments too, as ECMA-402 asks (QuickJS drops them).
  const items = {
    toLocaleString(locales = undefined, options = undefined) {
      const { length } = this;
      let text = "";
      for (let index = 0; index < length; index++) {
        const item = this[index];
        text +=
          (index === 0 ? "" : ",") + (item === undefined || item === null ? "" : item.toLocaleString(locales, options));
      }
      return text;
    },
  };
  define(Array.prototype, items);
  define(shared.TypedArray.prototype, items);
})
