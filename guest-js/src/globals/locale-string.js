// String.prototype.localeCompare and Intl.Collator: ICU's root order for Latin
// text, with the Spanish ñ. First base letters (punctuation, then digits, then
// letters), then accents, then case with lower case first.
(function (native) {
  "use strict";
  const { shared } = native;
  const { hidden, uncurryThis, charCodeAt, stringSlice, stringIndexOf, matches, toLowerCase } = shared;
  const { define, resolve, optionsOf, oneOf, refuse } = shared.intl;
  const normalize = uncurryThis(String.prototype.normalize);
  const replace = uncurryThis(RegExp.prototype[Symbol.replace]);
  const ORDER =
    "\t\n\v\f\r _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789aAbBcCdDeEfFgGhHiIjJkKlLmMnNoOpPqQrRsStTuUvVwWxXyYzZ";
  // Code of an ASCII character → its rank; a letter's two cases share one.
  const ranks = new Uint8Array(128);
  for (let index = 0; index < ORDER.length; index++) {
    const letter = index - ORDER.indexOf("a");
    ranks[ORDER.charCodeAt(index)] = letter < 0 ? index + 1 : ORDER.indexOf("a") + 1 + (letter >> 1);
  }
  const ASCII = /^[\0-\x7f]*$/;
  // Characters whose ranks are in the order of their codes, once in lower
  // case: comparing such text takes no loop here.
  const SIMPLE = /^[ \-./0-9A-Za-z]*$/;
  const DIGITS = /[0-9]+/g;
  // Letters that have a base letter but no canonical decomposition.
  const FOLDS = {
    __proto__: null,
    ß: "ss",
    æ: "ae",
    Æ: "AE",
    œ: "oe",
    Œ: "OE",
    ø: "o\u0338",
    Ø: "O\u0338",
    ł: "l\u0335",
    Ł: "L\u0335",
    đ: "d\u0335",
    Đ: "D\u0335",
    ð: "d\u0335",
    ı: "i",
  };

  const rank = (code) => (code < 128 ? ranks[code] : code);
  const isDigit = (code) => code >= 48 && code <= 57;

  // The end of the run of digits at `start`, and where its leading zeros end.
  function digitsAt(text, start) {
    let zeros = start;
    while (charCodeAt(text, zeros) === 48) zeros++;
    let end = zeros;
    while (isDigit(charCodeAt(text, end))) end++;
    return { zeros, end };
  }

  // Compares by base characters; with `numeric`, runs of digits as numbers.
  function compareBases(left, right, numeric) {
    let at = 0;
    let other = 0;
    while (at < left.length && other < right.length) {
      const a = charCodeAt(left, at);
      const b = charCodeAt(right, other);
      if (numeric && isDigit(a) && isDigit(b)) {
        const one = digitsAt(left, at);
        const two = digitsAt(right, other);
        const longer = one.end - one.zeros - (two.end - two.zeros);
        if (longer !== 0) return longer;
        const x = stringSlice(left, one.zeros, one.end);
        const y = stringSlice(right, two.zeros, two.end);
        if (x !== y) return x < y ? -1 : 1;
        at = one.end;
        other = two.end;
        continue;
      }
      if (a !== b) {
        const difference = rank(a) - rank(b);
        if (difference !== 0) return difference;
      }
      at++;
      other++;
    }
    return left.length - at - (right.length - other);
  }

  // Lower case before upper case, at the first place that differs.
  function compareCases(left, right, numeric) {
    if (numeric) {
      // Runs of digits may differ in leading zeros; only letters have a case.
      left = replace(DIGITS, left, "");
      right = replace(DIGITS, right, "");
    }
    const length = left.length < right.length ? left.length : right.length;
    for (let index = 0; index < length; index++) {
      if (left[index] === right[index]) continue;
      const lower = toLowerCase(left[index]);
      if (lower === left[index]) return -1;
      if (lower === right[index]) return 1;
    }
    return 0;
  }

  const FOLDED = /[ßæÆœŒøØłŁđĐðı]/g;
  const MARKS = /[\u0300-\u036f]/g;
  const decompose = (text) =>
    normalize(
      replace(FOLDED, text, (letter) => FOLDS[letter]),
      "NFD",
    );
  const withoutMarks = (text) => replace(MARKS, text, "");

  // In Spanish ñ is a letter after n: what follows the n sorts after all letters.
  const ENYE = /([nN])\u0303/g;
  const spanish = (text) => replace(ENYE, normalize(text, "NFD"), "$1\ue000");

  function compare(left, right, { sensitivity, numeric, isSpanish }) {
    if (left === right) return 0;
    if (!numeric && matches(SIMPLE, left) && matches(SIMPLE, right)) {
      const x = toLowerCase(left);
      const y = toLowerCase(right);
      if (x !== y) return x < y ? -1 : 1;
      return sensitivity === "base" || sensitivity === "accent" ? 0 : compareCases(left, right, false);
    }
    if (matches(ASCII, left) && matches(ASCII, right)) {
      const bases = compareBases(left, right, numeric);
      return bases !== 0 || sensitivity === "base" || sensitivity === "accent"
        ? bases
        : compareCases(left, right, numeric);
    }
    if (isSpanish) {
      left = spanish(left);
      right = spanish(right);
    }
    const first = toLowerCase(normalize(left, "NFD"));
    const second = toLowerCase(normalize(right, "NFD"));
    left = decompose(left);
    right = decompose(right);
    const leftBase = withoutMarks(left);
    const rightBase = withoutMarks(right);
    const bases = compareBases(fold(leftBase), fold(rightBase), numeric);
    if (bases !== 0 || sensitivity === "base") return bases;
    if (sensitivity !== "case") {
      const x = toLowerCase(left);
      const y = toLowerCase(right);
      if (x !== y) return x < y ? -1 : 1;
      // The same but for a letter that stands for two, as in "ß" and "ss".
      if (first !== second) return first < second ? -1 : 1;
      if (sensitivity === "accent") return 0;
    }
    return compareCases(leftBase, rightBase, numeric);
  }

  // Letters outside ASCII have no rank of their own: one case for both.
  const fold = (text) => (matches(ASCII, text) ? text : toLowerCase(text));

  // Languages whose order this is; others have letters in another order.
  const ORDERED = " de en-CA en-GB en-US es fr ";

  function initialize(locales, rawOptions) {
    const locale = resolve(locales);
    if (stringIndexOf(ORDERED, ` ${locale.data} `) === -1)
      throw new RangeError(
        `The order of letters of locale ${locale.name} is not available here, only those of de, en, es and fr. Compare with < and >, or by a key of your own.`,
      );
    const options = optionsOf(rawOptions);
    oneOf(options, "localeMatcher", " lookup best fit ", "best fit");
    oneOf(options, "usage", " sort ", "sort");
    oneOf(options, "caseFirst", " false ", "false");
    oneOf(options, "collation", " default ", "default");
    if (options.ignorePunctuation) refuse(options, ["ignorePunctuation"], "");
    const { numeric = locale.extensions.kn !== undefined && locale.extensions.kn !== "false" } = options;
    const sensitivity = oneOf(options, "sensitivity", " base accent case variant ", "variant");
    return { __proto__: null, locale, sensitivity, numeric: !!numeric, isSpanish: locale.data === "es" };
  }

  const sign = (order) => (order < 0 ? -1 : order > 0 ? 1 : 0);
  const USUAL = { __proto__: null, sensitivity: "variant", numeric: false, isSpanish: false };

  hidden(
    String.prototype,
    "localeCompare",
    {
      localeCompare(that, locales = undefined, options = undefined) {
        if (this === undefined || this === null)
          throw new TypeError("String.prototype.localeCompare called on null or undefined");
        const left = `${this}`;
        const right = `${that}`;
        const state = locales === undefined && options === undefined ? USUAL : initialize(locales, options);
        return sign(compare(left, right, state));
      },
    }.localeCompare,
  );

  define("Collator", {
    callable: true,
    initialize,
    bound: {
      key: "compare",
      call: (state) => (left, right) => sign(compare(`${left}`, `${right}`, state)),
    },
    methods: {
      resolvedOptions(state) {
        return {
          locale: state.locale.name,
          usage: "sort",
          sensitivity: state.sensitivity,
          ignorePunctuation: false,
          collation: "default",
          numeric: state.numeric,
          caseFirst: "false",
        };
      },
    },
  });
})
