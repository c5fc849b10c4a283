// Symbols and patterns of numbers, read off what ICU writes. In a pattern {n}
// is the number, {c} the currency, {k} the word of a compact number, {p} the
// percent sign and {-} the sign.

const LONGEST_COMPACT = 20;
const parts = (locale, options, value) => new Intl.NumberFormat(locale, options).formatToParts(value);
const MARKS = { currency: "{c}", compact: "{k}", percentSign: "{p}", minusSign: "{-}" };
const DIGITS = ["integer", "group", "decimal", "fraction"];

function pattern(all) {
  let text = "";
  for (const { type, value } of all) {
    if (!DIGITS.includes(type)) text += type === "literal" ? value : MARKS[type];
    else if (!text.includes("{n}")) text += "{n}";
  }
  return text;
}

// Of each power of ten from 1000: by which one it is divided, then pattern and
// word of exactly one, of another number in the singular, and of all others.
function compact(locale, options) {
  const rows = [];
  for (let power = 3; power <= LONGEST_COMPACT; power++) {
    const forms = [1, 1.5, 2].map((times) =>
      parts(locale, { notation: "compact", useGrouping: false, ...options }, times * 10 ** power),
    );
    const digits = forms[2].find(({ type }) => type === "integer").value.length;
    const texts = forms.map((all) => [pattern(all), all.find(({ type }) => type === "compact")?.value ?? ""]);
    const row = [power - digits + 1, ...texts[2]];
    if (`${texts[0]}` !== `${texts[2]}` || `${texts[1]}` !== `${texts[2]}`) row.push(...texts[1], ...texts[0]);
    rows.push(row);
  }
  // The last row is for all that is larger.
  while (rows.length > 1 && JSON.stringify(rows.at(-1)) === JSON.stringify(rows.at(-2))) rows.pop();
  return rows;
}

export function numbers(locale) {
  const symbol = (type, value, options) =>
    parts(locale, { useGrouping: true, ...options }, value).find((part) => part.type === type).value;
  const currency = (options, value = 1) =>
    pattern(parts(locale, { style: "currency", currency: "EUR", ...options }, value));
  const forms = (options) => [currency(options), currency(options, -1)];
  const symbols = {};
  const narrow = {};
  for (const code of Intl.supportedValuesOf("currency")) {
    const shown = (currencyDisplay) => symbol("currency", 1, { style: "currency", currency: code, currencyDisplay });
    if (shown("symbol") !== code) symbols[code] = shown("symbol");
    narrow[code] = shown("narrowSymbol");
  }
  return {
    decimal: symbol("decimal", 1.5),
    group: symbol("group", 1e6),
    minus: symbol("minusSign", -1),
    plus: symbol("plusSign", 1, { signDisplay: "always" }),
    percentSign: symbol("percentSign", 1, { style: "percent" }),
    nan: symbol("nan", NaN),
    infinity: symbol("infinity", Infinity),
    leastGroup: parts(locale, {}, 1000).some(({ type }) => type === "group") ? 1 : 2,
    percent: pattern(parts(locale, { style: "percent" }, 1)),
    currency: {
      sign: forms({}),
      letters: forms({ currencyDisplay: "code" }),
      accounting: forms({ currencySign: "accounting" }),
      accountingLetters: forms({ currencySign: "accounting", currencyDisplay: "code" }),
    },
    compact: compact(locale, {}),
    compactLong: compact(locale, { compactDisplay: "long" }),
    compactCurrency: compact(locale, { style: "currency", currency: "EUR" }),
    symbols,
    narrow,
  };
}

// Decimals of currencies that have not two.
export function currencyDigits() {
  const digits = {};
  for (const currency of Intl.supportedValuesOf("currency")) {
    const { maximumFractionDigits } = new Intl.NumberFormat("en", { style: "currency", currency }).resolvedOptions();
    if (maximumFractionDigits !== 2) digits[currency] = maximumFractionDigits;
  }
  return digits;
}
