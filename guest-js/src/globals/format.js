// The text of one console call: printf-style when the first argument is a
// string with % in it, then the rest as inspect writes it.
(function (native) {
  "use strict";
  const { shared } = native;
  const { charCodeAt, stringIndexOf, stringSlice, inspect } = shared;
  const { stringify } = JSON;
  const { parseFloat, parseInt } = Number;
  const toNumber = Number;
  const sameValue = Object.is;

  const isObject = (value) => (typeof value === "object" && value !== null) || typeof value === "function";
  const numberText = (value) => (sameValue(value, -0) ? "-0" : `${value}`);

  // Objects and symbols have no number without running a script's valueOf.
  function numberOf(value, convert) {
    if (typeof value === "bigint") return `${value}n`;
    return isObject(value) || typeof value === "symbol" ? "NaN" : numberText(convert(value));
  }

  function json(value) {
    try {
      return `${stringify(value)}`;
    } catch {
      return inspect(value, 0); // a cycle, a BigInt, or a toJSON that throws
    }
  }

  // The text for one placeholder; undefined when `letter` is none.
  function placeholder(letter, value) {
    switch (letter) {
      case 115:
        return typeof value === "string" ? value : typeof value === "function" ? inspect(value) : inspect(value, 0); // %s
      case 100:
        return numberOf(value, toNumber); // %d
      case 105:
        return numberOf(value, parseInt); // %i
      case 102:
        return numberOf(value, parseFloat); // %f
      case 106:
        return json(value); // %j
      case 79:
        return inspect(value); // %O
      case 111:
        return inspect(value, 4); // %o
      case 99:
        return ""; // %c: styling, nothing to show
      default:
        return undefined;
    }
  }

  shared.format = function format(values) {
    let text = "";
    let used = 0;
    const first = values[0];
    if (typeof first === "string") {
      used = 1;
      if (values.length === 1) return first;
      let last = 0;
      for (let at = stringIndexOf(first, "%"); at !== -1 && at < first.length - 1; at = stringIndexOf(first, "%", at)) {
        const letter = charCodeAt(first, at + 1);
        const part = letter === 37 ? "%" : used < values.length ? placeholder(letter, values[used]) : undefined;
        if (part !== undefined) {
          text += stringSlice(first, last, at) + part;
          last = at + 2;
          if (letter !== 37) used++;
        }
        at += 2;
      }
      text += stringSlice(first, last);
    }
    for (let index = used; index < values.length; index++) {
      const value = values[index];
      text += (index === 0 ? "" : " ") + (typeof value === "string" ? value : inspect(value));
    }
    return text;
  };
})
