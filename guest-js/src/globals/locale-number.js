// Number and BigInt toLocaleString, as en-US (QuickJS has no Intl). Other
// locales fall back to it, as ECMA-402 allows; options that would silently
// give another text than asked for are refused.
(function (native) {
  "use strict";
  const { shared } = native;
  const { hidden, uncurryThis, stringSlice, stringIndexOf, repeat, padStart, toUpperCase, matches, charCodeAt } =
    shared;
  const numberValue = uncurryThis(Number.prototype.valueOf);
  const bigintValue = uncurryThis(BigInt.prototype.valueOf);
  const { min, max } = Math;
  const NO_BREAK_SPACE = "\u00a0";

  // Symbols as en-US writes them; other codes stand as they are.
  const SYMBOLS = {
    __proto__: null,
    USD: "$",
    EUR: "€",
    GBP: "£",
    JPY: "¥",
    CNY: "CN¥",
    INR: "₹",
    KRW: "₩",
    CAD: "CA$",
    AUD: "A$",
    NZD: "NZ$",
    MXN: "MX$",
    BRL: "R$",
    HKD: "HK$",
    TWD: "NT$",
    ILS: "₪",
    VND: "₫",
    PHP: "₱",
    XAF: "FCFA",
    XOF: "F\u202fCFA",
    XCD: "EC$",
  };
  const NO_DECIMALS = " JPY KRW VND CLP ISK PYG UGX XAF XOF XPF RWF BIF DJF GNF KMF VUV ";
  const THREE_DECIMALS = " BHD IQD JOD KWD LYD OMR TND ";

  function digitsOption(options, name, least, most, fallback) {
    const value = options[name];
    if (value === undefined) return fallback;
    const number = +value;
    if (!(number >= least && number <= most)) throw new RangeError(`${name} value is out of range.`);
    return number - (number % 1);
  }

  function oneOf(options, name, allowed, fallback) {
    const value = options[name];
    if (value === undefined) return fallback;
    if (stringIndexOf(allowed, ` ${value} `) === -1)
      throw new RangeError(
        `Value ${value} of option ${name} is not supported here (only:${stringSlice(allowed, 0, -1)})`,
      );
    return `${value}`;
  }

  function settings(options) {
    if (options === null) throw new TypeError("Cannot convert null to object");
    options ??= { __proto__: null };
    const style = oneOf(options, "style", " decimal percent currency ", "decimal");
    oneOf(options, "notation", " standard ", "standard");
    let currency = options.currency;
    if (currency !== undefined && !matches(/^[A-Za-z]{3}$/, (currency = `${currency}`)))
      throw new RangeError(`Invalid currency code : ${currency}`);
    if (style === "currency" && currency === undefined)
      throw new TypeError("Currency code is required with currency style.");
    currency = currency === undefined ? undefined : toUpperCase(currency);

    const usual =
      style !== "currency"
        ? 0
        : stringIndexOf(NO_DECIMALS, ` ${currency} `) !== -1
          ? 0
          : stringIndexOf(THREE_DECIMALS, ` ${currency} `) !== -1
            ? 3
            : 2;
    const usualMost = style === "decimal" ? 3 : usual;
    let least = digitsOption(options, "minimumFractionDigits", 0, 100, undefined);
    let most = digitsOption(options, "maximumFractionDigits", 0, 100, undefined);
    if (least === undefined) least = most === undefined ? usual : min(usual, most);
    else if (most === undefined) most = max(usualMost, least);
    if (most === undefined) most = max(usualMost, least);
    if (least > most) throw new RangeError("maximumFractionDigits value is out of range.");
    const leastSignificant = digitsOption(options, "minimumSignificantDigits", 1, 21, undefined);
    const mostSignificant = digitsOption(
      options,
      "maximumSignificantDigits",
      leastSignificant ?? 1,
      21,
      leastSignificant === undefined ? undefined : 21,
    );
    return {
      __proto__: null,
      style,
      currency,
      least,
      most,
      mostSignificant,
      leastSignificant: leastSignificant ?? 1,
      integers: digitsOption(options, "minimumIntegerDigits", 1, 21, 1),
      grouping: options.useGrouping !== false && options.useGrouping !== "false",
      sign: oneOf(options, "signDisplay", " auto always never exceptZero negative ", "auto"),
      display: oneOf(options, "currencyDisplay", " symbol narrowSymbol code ", "symbol"),
      accounting: oneOf(options, "currencySign", " standard accounting ", "standard") === "accounting",
    };
  }

  // The decimal digits of a non-negative number and where the point stands in
  // them: 12.5 → ["125", 2]. Intl rounds these, the shortest digits that mean
  // the number, and not its exact binary value.
  function decimalOf(value) {
    const text = `${value}`;
    const exponentAt = stringIndexOf(text, "e");
    const mantissa = exponentAt === -1 ? text : stringSlice(text, 0, exponentAt);
    const exponent = exponentAt === -1 ? 0 : +stringSlice(text, exponentAt + 1);
    const pointAt = stringIndexOf(mantissa, ".");
    let digits = pointAt === -1 ? mantissa : stringSlice(mantissa, 0, pointAt) + stringSlice(mantissa, pointAt + 1);
    let point = (pointAt === -1 ? mantissa.length : pointAt) + exponent;
    let zeros = 0;
    while (zeros < digits.length - 1 && charCodeAt(digits, zeros) === 48) zeros++;
    digits = stringSlice(digits, zeros);
    point -= zeros;
    return digits === "0" ? ["0", 1] : [digits, point];
  }

  // Keeps `count` digits, rounding half away from zero.
  function roundDigits(decimal, count) {
    const digits = decimal[0];
    if (count >= digits.length) return decimal;
    if (count < 0) return ["0", 1];
    const up = charCodeAt(digits, count) >= 53;
    let kept = stringSlice(digits, 0, count);
    if (!up) return kept === "" ? ["0", 1] : [kept, decimal[1]];
    let index = count - 1;
    while (index >= 0 && charCodeAt(kept, index) === 57) index--;
    kept =
      index < 0
        ? `1${repeat("0", count)}`
        : `${stringSlice(kept, 0, index)}${+kept[index] + 1}${repeat("0", count - index - 1)}`;
    return [kept, index < 0 ? decimal[1] + 1 : decimal[1]];
  }

  function group(integer) {
    let text = "";
    let end = integer.length;
    for (; end > 3; end -= 3) text = `,${stringSlice(integer, end - 3, end)}${text}`;
    return stringSlice(integer, 0, end) + text;
  }

  // [text, whether it is zero after rounding] of a finite, non-negative value.
  function magnitude(value, options) {
    let decimal = decimalOf(value);
    if (options.style === "percent" && decimal[0] !== "0") decimal = [decimal[0], decimal[1] + 2];
    let { least } = options;
    if (options.mostSignificant !== undefined) {
      decimal = roundDigits(decimal, options.mostSignificant);
      least = max(0, options.leastSignificant - decimal[1]);
    } else {
      decimal = roundDigits(decimal, decimal[1] + options.most);
    }
    const digits = decimal[0];
    const point = decimal[1];
    let integer =
      point <= 0
        ? "0"
        : point >= digits.length
          ? digits + repeat("0", point - digits.length)
          : stringSlice(digits, 0, point);
    let fraction = point >= digits.length ? "" : point <= 0 ? repeat("0", -point) + digits : stringSlice(digits, point);
    let end = fraction.length;
    while (end > least && charCodeAt(fraction, end - 1) === 48) end--;
    fraction = stringSlice(fraction, 0, end);
    fraction += repeat("0", max(0, least - fraction.length));
    integer = padStart(integer, options.integers, "0");
    return [
      (options.grouping ? group(integer) : integer) + (fraction === "" ? "" : `.${fraction}`),
      matches(/^0*$/, digits),
    ];
  }

  function withCurrency(text, options) {
    const symbol = options.display === "code" ? options.currency : (SYMBOLS[options.currency] ?? options.currency);
    // A name of letters is set apart from digits.
    return (
      (options.display === "narrowSymbol" && matches(/^[A-Z]+\$$/, symbol) ? "$" : symbol) +
      (matches(/[A-Za-z]$/, symbol) && matches(/^[0-9]/, text) ? NO_BREAK_SPACE : "") +
      text
    );
  }

  shared.formatNumber = function formatNumber(value, rawOptions) {
    const options = settings(rawOptions);
    const negative = typeof value === "bigint" ? value < 0n : value < 0 || 1 / value === -Infinity;
    let text;
    let zero = false;
    if (value !== value) text = "NaN";
    else if (value === Infinity || value === -Infinity) text = "∞";
    else {
      const parts = magnitude(negative ? -value : value, options);
      text = parts[0];
      zero = parts[1];
    }
    if (options.style === "percent") text += "%";
    if (options.style === "currency") text = withCurrency(text, options);
    const plain = zero || value !== value;
    const minus =
      negative &&
      options.sign !== "never" &&
      !(plain && (options.sign === "exceptZero" || options.sign === "negative"));
    const plus = !negative && (options.sign === "always" || (options.sign === "exceptZero" && !plain));
    if (minus && options.accounting && options.style === "currency") return `(${text})`;
    return (minus ? "-" : plus ? "+" : "") + text;
  };

  hidden(
    Number.prototype,
    "toLocaleString",
    {
      toLocaleString(locales = undefined, options = undefined) {
        return shared.formatNumber(numberValue(this), options);
      },
    }.toLocaleString,
  );
  hidden(
    BigInt.prototype,
    "toLocaleString",
    {
      toLocaleString(locales = undefined, options = undefined) {
        return shared.formatNumber(bigintValue(this), options);
      },
    }.toLocaleString,
  );

  // Array items get the arguments too, as ECMA-402 asks (QuickJS drops them).
  function toLocaleString(locales = undefined, options = undefined) {
    const length = this.length;
    let text = "";
    for (let index = 0; index < length; index++) {
      const item = this[index];
      text +=
        (index === 0 ? "" : ",") + (item === undefined || item === null ? "" : item.toLocaleString(locales, options));
    }
    return text;
  }
  hidden(Array.prototype, "toLocaleString", toLocaleString);
  hidden(shared.TypedArray.prototype, "toLocaleString", toLocaleString);
})
