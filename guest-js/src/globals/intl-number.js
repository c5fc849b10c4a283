// Intl.NumberFormat: decimals, percents, currencies by symbol or code, and
// compact notation. Options that would need data that is not here are refused.
(function (native) {
  "use strict";
  const { shared } = native;
  const { stringSlice, stringIndexOf, toUpperCase, matches } = shared;
  const { define, resolve, section, optionsOf, oneOf, tokens, addPart } = shared.intl;
  const { digitOptions, resolvedDigits, resolvedRounding, decimal, rounded, spread } = shared.digits;
  const { parse } = JSON;
  const NO_BREAK_SPACE = "\u00a0";
  const CODE = /^[A-Za-z]{3}$/;
  // Next to digits, a currency that ends so is set apart from them.
  const ENDS_IN_LETTER = /[^\p{S}\p{Z}]$/u;

  let currencyDigits;
  const digitsOf = (currency) => (currencyDigits ??= parse(shared.currencyData.digits))[currency] ?? 2;
  let narrowSymbols;
  function symbolOf(data, currency, display) {
    if (display === "code") return currency;
    if (display === "narrowSymbol") {
      const narrow = data.narrow[currency] ?? (narrowSymbols ??= parse(shared.currencyData.narrow))[currency];
      if (narrow !== undefined) return narrow;
    }
    return data.symbols[currency] ?? currency;
  }

  function groupingOf(options, compact) {
    const value = options.useGrouping;
    const usual = compact ? "min2" : "auto";
    if (value === undefined || value === "true" || value === "false") return usual;
    if (value === true) return "always";
    if (value === false || value === null || value === 0 || value === "" || value !== value) return false;
    return oneOf(options, "useGrouping", " min2 auto always ", usual);
  }

  function initialize(locales, rawOptions) {
    const locale = resolve(locales);
    const data = section(locale.data, "number");
    const options = optionsOf(rawOptions);
    oneOf(options, "localeMatcher", " lookup best fit ", "best fit");
    oneOf(options, "numberingSystem", " latn ", "latn");
    const style = oneOf(options, "style", " decimal percent currency ", "decimal");
    let { currency } = options;
    if (currency !== undefined && !matches(CODE, (currency = `${currency}`)))
      throw new RangeError(`Invalid currency code : ${stringSlice(currency, 0, 20)}`);
    if (style === "currency" && currency === undefined)
      throw new TypeError("Currency code is required with currency style.");
    const display = oneOf(options, "currencyDisplay", " symbol narrowSymbol code ", "symbol");
    const sign = oneOf(options, "currencySign", " standard accounting ", "standard");
    const notation = oneOf(options, "notation", " standard compact ", "standard");
    const compact = notation === "compact";
    if (compact && style === "percent")
      throw new RangeError("Compact notation is not available here for percentages, only for decimals and currencies");
    currency = style === "currency" ? toUpperCase(currency) : undefined;
    const usual = style === "currency" && !compact ? digitsOf(currency) : 0;
    const digits = digitOptions(options, usual, style === "decimal" && !compact ? 3 : usual, compact);
    const compactDisplay = oneOf(options, "compactDisplay", " short long ", "short");
    const grouping = groupingOf(options, compact);
    const symbol = style === "currency" ? symbolOf(data, currency, display) : "";
    return {
      __proto__: null,
      locale,
      data,
      style,
      currency,
      display,
      accounting: sign === "accounting",
      compact: compact ? compactDisplay : undefined,
      digits,
      grouping,
      leastGroup: grouping === "always" ? 1 : grouping === "min2" ? 2 : data.leastGroup,
      sign: oneOf(options, "signDisplay", " auto never always exceptZero negative ", "auto"),
      symbol,
      isLetters: matches(ENDS_IN_LETTER, symbol),
    };
  }

  // The row of compact data for a power of ten, and the number rounded by it.
  function shorten(state, number) {
    const { data } = state;
    const rows =
      state.style === "currency" ? data.compactCurrency : state.compact === "long" ? data.compactLong : data.compact;
    const rowOf = (point) => (point < 4 ? undefined : rows[point - 4 < rows.length ? point - 4 : rows.length - 1]);
    let row = number.digits === "" ? undefined : rowOf(number.point);
    const scaled = { __proto__: null, digits: number.digits, point: 0, negative: number.negative };
    scaled.point = number.point - (row === undefined ? 0 : row[0]);
    let [digits, point] = rounded(scaled, state.digits);
    // 999,999 is a million once it is rounded.
    const grown = point > scaled.point ? rowOf(number.point + 1) : row;
    if (grown !== row && (grown?.[0] ?? 0) !== (row?.[0] ?? 0)) {
      row = grown;
      scaled.point = number.point - row[0];
      [digits, point] = rounded(scaled, state.digits);
    } else row = grown;
    const [integer, fraction] = spread(digits, point, state.digits);
    let pattern = "{n}";
    let word = "";
    if (row !== undefined) {
      const isOne = integer === "1" && fraction === "";
      const at =
        row.length === 3
          ? 1
          : isOne
            ? 5
            : shared.pluralCategory(state.locale.data, integer, fraction) === "one"
              ? 3
              : 1;
      pattern = row[at];
      word = row[at + 1];
    }
    return { __proto__: null, integer, fraction, pattern, word, isZero: matches(/^0*$/, digits) };
  }

  // What is written, as { pattern, sign, integer, fraction, word, special }.
  function shape(state, value) {
    const { data, style } = state;
    const number = decimal(value);
    let shown;
    if (number.special !== undefined) {
      shown = { __proto__: null, integer: undefined, fraction: "", pattern: "{n}", word: "", isZero: false };
    } else {
      if (style === "percent" && number.digits !== "") number.point += 2;
      if (state.compact !== undefined) shown = shorten(state, number);
      else {
        const [digits, point] = rounded(number, state.digits);
        const [integer, fraction] = spread(digits, point, state.digits);
        shown = { __proto__: null, integer, fraction, pattern: "{n}", word: "", isZero: matches(/^0*$/, digits) };
      }
    }
    const isPlain = shown.isZero || number.special === "nan";
    const isMinus =
      number.negative &&
      state.sign !== "never" &&
      !(isPlain && (state.sign === "exceptZero" || state.sign === "negative"));
    const isPlus = !number.negative && (state.sign === "always" || (state.sign === "exceptZero" && !isPlain));
    shown.sign = isMinus ? data.minus : isPlus ? data.plus : "";
    shown.special = number.special === undefined ? undefined : data[number.special];
    if (style === "currency") shown.pattern = currencyPattern(state, shown, isMinus, isPlus);
    else {
      if (style === "percent") shown.pattern = within(data.percent, shown.pattern);
      if (shown.sign !== "") shown.pattern = `{-}${shown.pattern}`;
    }
    return shown;
  }

  // The pattern with another in place of the number.
  function within(pattern, inner) {
    if (inner === "{n}") return pattern;
    const at = stringIndexOf(pattern, "{n}");
    return stringSlice(pattern, 0, at) + inner + stringSlice(pattern, at + 3);
  }

  function currencyPattern(state, shown, isMinus, isPlus) {
    const { currency } = state.data;
    // Only digits are set apart from letters.
    const isLetters = state.isLetters && shown.special === undefined;
    const forms = state.accounting
      ? isLetters
        ? currency.accountingLetters
        : currency.accounting
      : isLetters
        ? currency.letters
        : currency.sign;
    if (shown.pattern === "{n}") return isMinus ? forms[1] : isPlus ? `{-}${forms[0]}` : forms[0];
    // Compact currencies have patterns of their own, without an accounting form.
    let inner = shown.pattern;
    if (isLetters && stringSlice(inner, 0, 6) === "{c}{n}") inner = `{c}${NO_BREAK_SPACE}${stringSlice(inner, 3)}`;
    return isMinus || isPlus ? `{-}${inner}` : inner;
  }

  function grouped(state, integer) {
    if (state.grouping === false || integer.length < 3 + state.leastGroup) return integer;
    let text = "";
    let end = integer.length;
    for (; end > 3; end -= 3) text = state.data.group + stringSlice(integer, end - 3, end) + text;
    return stringSlice(integer, 0, end) + text;
  }

  function format(state, value) {
    const shown = shape(state, value);
    const number =
      shown.special ??
      grouped(state, shown.integer) + (shown.fraction === "" ? "" : state.data.decimal + shown.fraction);
    if (shown.pattern === "{n}") return number;
    const list = tokens(shown.pattern);
    let text = "";
    for (let index = 0; index < list.length; index++) {
      const token = list[index];
      if (token === "{n}") text += number;
      else if (token === "{-}") text += shown.sign;
      else if (token === "{c}") text += state.symbol;
      else if (token === "{k}") text += shown.word;
      else if (token === "{p}") text += state.data.percentSign;
      else text += token;
    }
    return text;
  }

  function numberParts(state, shown, parts) {
    if (shown.special !== undefined) {
      addPart(parts, shown.special === state.data.nan ? "nan" : "infinity", shown.special);
      return;
    }
    const { integer } = shown;
    if (grouped(state, integer) === integer) addPart(parts, "integer", integer);
    else {
      let start = 0;
      for (let end = integer.length % 3 || 3; end <= integer.length; end += 3) {
        if (start > 0) addPart(parts, "group", state.data.group);
        addPart(parts, "integer", stringSlice(integer, start, end));
        start = end;
      }
    }
    if (shown.fraction === "") return;
    addPart(parts, "decimal", state.data.decimal);
    addPart(parts, "fraction", shown.fraction);
  }

  function formatToParts(state, value) {
    const shown = shape(state, value);
    const list = tokens(shown.pattern);
    const parts = [];
    for (let index = 0; index < list.length; index++) {
      const token = list[index];
      if (token === "{n}") numberParts(state, shown, parts);
      else if (token === "{-}") addPart(parts, shown.sign === state.data.minus ? "minusSign" : "plusSign", shown.sign);
      else if (token === "{c}") addPart(parts, "currency", state.symbol);
      else if (token === "{k}") addPart(parts, "compact", shown.word);
      else if (token === "{p}") addPart(parts, "percentSign", state.data.percentSign);
      else addPart(parts, "literal", token);
    }
    return parts;
  }

  shared.numberFormat = { __proto__: null, initialize, format, formatToParts };
  define("NumberFormat", {
    callable: true,
    initialize,
    bound: {
      key: "format",
      call: (state) => (value) => format(state, value),
    },
    methods: {
      formatToParts(state, value) {
        return formatToParts(state, value);
      },
      resolvedOptions(state) {
        const result = { locale: state.locale.name, numberingSystem: "latn", style: state.style };
        if (state.currency !== undefined) {
          result.currency = state.currency;
          result.currencyDisplay = state.display;
          result.currencySign = state.accounting ? "accounting" : "standard";
        }
        resolvedDigits(result, state.digits);
        result.useGrouping = state.grouping;
        result.notation = state.compact === undefined ? "standard" : "compact";
        if (state.compact !== undefined) result.compactDisplay = state.compact;
        result.signDisplay = state.sign;
        resolvedRounding(result, state.digits);
        return result;
      },
    },
  });
})
