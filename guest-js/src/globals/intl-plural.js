// Intl.PluralRules, by CLDR's rules for the languages that are here.
(function (native) {
  "use strict";
  const { shared } = native;
  const { stringSlice, matches, push } = shared;
  const { define, resolve, optionsOf, oneOf } = shared.intl;
  const { digitOptions, resolvedDigits, resolvedRounding, decimal, rounded, spread } = shared.digits;
  const ZERO = /^0*$/;

  const last = (integer, count) => +stringSlice(integer, -count);
  const isOne = (integer) => matches(/^0*1$/, integer);
  // Whole millions, as in "un million de".
  const isMillions = (integer, fraction) => fraction === "" && !matches(ZERO, integer) && last(integer, 6) === 0;

  // Language → category of a number's written digits; `whole` is a number
  // without a fraction other than zeros.
  const CARDINAL = {
    __proto__: null,
    en: (integer, fraction) => (isOne(integer) && fraction === "" ? "one" : "other"),
    fr: (integer, fraction) =>
      isOne(integer) || matches(ZERO, integer) ? "one" : isMillions(integer, fraction) ? "many" : "other",
    es: (integer, fraction) =>
      isOne(integer) && matches(ZERO, fraction) ? "one" : isMillions(integer, fraction) ? "many" : "other",
    ja: () => "other",
  };
  CARDINAL.de = CARDINAL.sv = CARDINAL.en;
  const ORDINAL = {
    __proto__: null,
    en(integer, fraction) {
      if (!matches(ZERO, fraction)) return "other";
      const ten = last(integer, 1);
      const teen = last(integer, 2) - ten === 10;
      return teen ? "other" : ten === 1 ? "one" : ten === 2 ? "two" : ten === 3 ? "few" : "other";
    },
    sv(integer, fraction) {
      const ten = last(integer, 1);
      const teen = last(integer, 2) - ten === 10;
      return matches(ZERO, fraction) && !teen && (ten === 1 || ten === 2) ? "one" : "other";
    },
    fr: (integer, fraction) => (isOne(integer) && matches(ZERO, fraction) ? "one" : "other"),
    other: () => "other",
  };
  const CATEGORIES = {
    __proto__: null,
    cardinal: { __proto__: null, fr: "one many other", es: "one many other", ja: "other", usual: "one other" },
    ordinal: { __proto__: null, en: "few one two other", sv: "one other", fr: "one other", usual: "other" },
  };
  const language = (data) => stringSlice(data, 0, 2);

  function select(state, value) {
    const number = decimal(value);
    if (number.special !== undefined) return "other";
    const [digits, point] = rounded(number, state.digits);
    const [integer, fraction] = spread(digits, point, state.digits);
    return state.rule(integer, fraction);
  }

  // The category of digits as they are written, for the other parts of Intl.
  shared.pluralCategory = (data, integer, fraction) => CARDINAL[language(data)](integer, fraction);

  define("PluralRules", {
    callable: false,
    initialize(locales, rawOptions) {
      const locale = resolve(locales);
      const options = optionsOf(rawOptions);
      oneOf(options, "localeMatcher", " lookup best fit ", "best fit");
      const type = oneOf(options, "type", " cardinal ordinal ", "cardinal");
      const digits = digitOptions(options, 0, 3, false);
      const key = language(locale.data);
      const rule = type === "cardinal" ? CARDINAL[key] : (ORDINAL[key] ?? ORDINAL.other);
      return { __proto__: null, locale, type, digits, rule, key };
    },
    methods: {
      select(state, value) {
        // Not what is written: PluralRules takes numbers alone.
        return select(state, typeof value === "bigint" ? Number(value) : +value);
      },
      resolvedOptions(state) {
        const result = { locale: state.locale.name, type: state.type };
        resolvedDigits(result, state.digits);
        const all = CATEGORIES[state.type];
        const pluralCategories = [];
        const words = shared.split(all[state.key] ?? all.usual, " ");
        for (let index = 0; index < words.length; index++) push(pluralCategories, words[index]);
        result.pluralCategories = pluralCategories;
        resolvedRounding(result, state.digits);
        return result;
      },
    },
  });
})
