// How many digits of a number are shown, and which: the options that
// NumberFormat and PluralRules share, and rounding in decimal.
(function (native) {
  "use strict";
  const { shared } = native;
  const { stringSlice, stringIndexOf, repeat, padStart, matches, charCodeAt } = shared;
  const { oneOf, refuse } = shared.intl;
  const { min, max } = Math;
  const { Number } = globalThis;
  const DECIMAL = /^[ \t\n\r]*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,4})?[ \t\n\r]*$/;
  // Digits of a text that are taken as they are; more become a Number first.
  const MAX_TEXT = 1000;
  const ROUNDING = " ceil floor expand trunc halfCeil halfFloor halfExpand halfTrunc halfEven ";

  function count(options, name, least, most, fallback) {
    const value = options[name];
    if (value === undefined) return fallback;
    const number = +value;
    if (!(number >= least && number <= most)) throw new RangeError(`${name} value is out of range.`);
    return number - (number % 1);
  }

  // ECMA-402's SetNumberFormatDigitOptions, with what is not the default here
  // refused.
  function digitOptions(options, usualLeast, usualMost, compact) {
    const integers = count(options, "minimumIntegerDigits", 1, 21, 1);
    let least = options.minimumFractionDigits;
    let most = options.maximumFractionDigits;
    let leastSignificant = options.minimumSignificantDigits;
    let mostSignificant = options.maximumSignificantDigits;
    const increment = options.roundingIncrement;
    if (increment !== undefined && +increment !== 1) refuse(options, ["roundingIncrement"], ", but for 1");
    const mode = oneOf(options, "roundingMode", ROUNDING, "halfExpand");
    oneOf(options, "roundingPriority", " auto ", "auto");
    const strip = oneOf(options, "trailingZeroDisplay", " auto stripIfInteger ", "auto") === "stripIfInteger";
    const settings = { __proto__: null, integers, mode, strip, compactDefault: false };
    if (leastSignificant !== undefined || mostSignificant !== undefined) {
      leastSignificant = count(options, "minimumSignificantDigits", 1, 21, 1);
      mostSignificant = count(options, "maximumSignificantDigits", leastSignificant, 21, 21);
      settings.leastSignificant = leastSignificant;
      settings.mostSignificant = mostSignificant;
      return settings;
    }
    if (least === undefined && most === undefined && compact) {
      settings.compactDefault = true;
      settings.least = settings.most = 0;
      return settings;
    }
    least = count(options, "minimumFractionDigits", 0, 100, undefined);
    most = count(options, "maximumFractionDigits", 0, 100, undefined);
    if (least === undefined) least = min(usualLeast, most ?? usualLeast);
    else if (most === undefined) most = max(usualMost, least);
    if (most === undefined) most = max(usualMost, least);
    if (least > most) throw new RangeError("maximumFractionDigits value is out of range.");
    settings.least = least;
    settings.most = most;
    return settings;
  }

  function resolvedDigits(result, settings) {
    result.minimumIntegerDigits = settings.integers;
    if (settings.least !== undefined) {
      result.minimumFractionDigits = settings.least;
      result.maximumFractionDigits = settings.most;
    }
    if (settings.mostSignificant !== undefined || settings.compactDefault) {
      result.minimumSignificantDigits = settings.leastSignificant ?? 1;
      result.maximumSignificantDigits = settings.mostSignificant ?? 2;
    }
  }

  function resolvedRounding(result, settings) {
    result.roundingIncrement = 1;
    result.roundingMode = settings.mode;
    result.roundingPriority = settings.compactDefault ? "morePrecision" : "auto";
    result.trailingZeroDisplay = settings.strip ? "stripIfInteger" : "auto";
  }

  // A value as Intl takes it: { negative, special } or with `digits` and where
  // the `point` stands in them: 12.5 is "125" and 2. These are the shortest
  // digits that mean the number, not its exact binary value.
  function decimal(value) {
    if ((typeof value === "object" && value !== null) || typeof value === "function") value = toPrimitive(value);
    if (typeof value === "string") {
      if (value.length > MAX_TEXT || !matches(DECIMAL, value)) value = Number(value);
    } else if (typeof value !== "bigint") value = +value;
    if (value !== value) return { __proto__: null, negative: false, special: "nan" };
    if (value === Infinity || value === -Infinity) return { __proto__: null, negative: value < 0, special: "infinity" };
    let text = value === 0 && 1 / value < 0 ? "-0" : `${value}`;
    let start = 0;
    while (stringIndexOf(" \t\n\r", text[start]) !== -1) start++;
    const negative = text[start] === "-";
    if (negative || text[start] === "+") start++;
    let end = text.length;
    while (stringIndexOf(" \t\n\r", text[end - 1]) !== -1) end--;
    text = stringSlice(text, start, end);
    let exponentAt = stringIndexOf(text, "e");
    if (exponentAt === -1) exponentAt = stringIndexOf(text, "E");
    const mantissa = exponentAt === -1 ? text : stringSlice(text, 0, exponentAt);
    const exponent = exponentAt === -1 ? 0 : +stringSlice(text, exponentAt + 1);
    const pointAt = stringIndexOf(mantissa, ".");
    let digits = pointAt === -1 ? mantissa : stringSlice(mantissa, 0, pointAt) + stringSlice(mantissa, pointAt + 1);
    let point = (pointAt === -1 ? mantissa.length : pointAt) + exponent;
    let zeros = 0;
    while (zeros < digits.length && charCodeAt(digits, zeros) === 48) zeros++;
    digits = stringSlice(digits, zeros);
    point -= zeros;
    return { __proto__: null, negative, special: undefined, digits, point: digits === "" ? 1 : point };
  }
  const toPrimitive = (value) => {
    // What a symbol's method gives, or valueOf, as for any arithmetic.
    const bare = value[Symbol.toPrimitive];
    if (bare !== undefined && bare !== null) return shared.apply(bare, value, ["number"]);
    const number = value.valueOf();
    return typeof number === "object" || typeof number === "function" ? `${value}` : number;
  };

  // Whether what is cut off at `at` adds one to what is left.
  function roundsUp(digits, at, mode, negative) {
    const code = at < 0 ? 48 : charCodeAt(digits, at);
    let rest = false;
    for (let index = max(at, 0) + 1; !rest && index < digits.length; index++) rest = charCodeAt(digits, index) !== 48;
    if (at < 0) rest = digits !== "";
    if (code === 48 && !rest) return false;
    if (mode === "trunc" || mode === (negative ? "ceil" : "floor")) return false;
    if (mode === "expand" || mode === (negative ? "floor" : "ceil")) return true;
    if (code !== 53 || rest) return code >= 53;
    if (mode === "halfEven") return at > 0 && charCodeAt(digits, at - 1) % 2 === 1;
    return mode === "halfExpand" || mode === (negative ? "halfFloor" : "halfCeil");
  }

  // Keeps `kept` digits.
  function round(digits, point, kept, mode, negative) {
    if (kept >= digits.length) return [digits, point];
    const up = roundsUp(digits, kept, mode, negative);
    if (kept < 0) return up ? ["1", point - kept + 1] : ["", 1];
    let text = stringSlice(digits, 0, kept);
    if (!up) return text === "" ? ["", 1] : [text, point];
    let index = kept - 1;
    while (index >= 0 && charCodeAt(text, index) === 57) index--;
    if (index < 0) return [`1${repeat("0", kept)}`, point + 1];
    return [`${stringSlice(text, 0, index)}${+text[index] + 1}${repeat("0", kept - index - 1)}`, point];
  }

  // Digits and point of a decimal once rounded.
  function rounded({ digits, point, negative }, settings) {
    if (digits === "") return [digits, point];
    // Two significant digits, but all of the integer.
    const kept = settings.compactDefault
      ? max(2, point)
      : settings.mostSignificant !== undefined
        ? settings.mostSignificant
        : point + settings.most;
    return round(digits, point, kept, settings.mode, negative);
  }

  // [integer, fraction] as they are written, not grouped.
  function spread(digits, point, settings) {
    let integer =
      digits === "" || point <= 0
        ? "0"
        : point >= digits.length
          ? digits + repeat("0", point - digits.length)
          : stringSlice(digits, 0, point);
    let fraction =
      digits === "" || point >= digits.length
        ? ""
        : point <= 0
          ? repeat("0", -point) + digits
          : stringSlice(digits, point);
    const least = settings.mostSignificant === undefined ? settings.least : max(0, settings.leastSignificant - point);
    let end = fraction.length;
    while (end > least && charCodeAt(fraction, end - 1) === 48) end--;
    fraction = stringSlice(fraction, 0, end);
    if (fraction.length < least) fraction += repeat("0", least - fraction.length);
    if (settings.strip && matches(/^0*$/, fraction)) fraction = "";
    integer = padStart(integer, settings.integers, "0");
    return [integer, fraction];
  }

  shared.digits = { __proto__: null, digitOptions, resolvedDigits, resolvedRounding, decimal, rounded, spread };
})
