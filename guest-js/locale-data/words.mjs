// Words of relative times and lists, read off what ICU writes.

export const UNITS = ["second", "minute", "hour", "day", "week", "month", "quarter", "year"];
export const STYLES = ["long", "short", "narrow"];
export const TYPES = ["conjunction", "disjunction", "unit"];
// Most values that have a word of their own, as tomorrow has.
const NEAR = 3;

// [past, future] of each unit: the text of each plural category that differs
// from "other", {0} for the number; and words for near values, by value.
export function relative(locale) {
  const categories = new Intl.PluralRules(locale).resolvedOptions().pluralCategories;
  const samples = { one: 1, other: 5, many: 1e6 };
  const data = {};
  for (const style of STYLES) {
    const always = new Intl.RelativeTimeFormat(locale, { style });
    const auto = new Intl.RelativeTimeFormat(locale, { style, numeric: "auto" });
    data[style] = UNITS.map((unit) => {
      const tense = (sign) => {
        const forms = {};
        for (const category of categories) {
          const parts = always.formatToParts(sign * samples[category], unit);
          let seen = false;
          const text = parts
            .map(({ type, value }) => (type === "literal" ? value : seen ? "" : ((seen = true), "{0}")))
            .join("");
          forms[category] = text;
        }
        for (const category of Object.keys(forms))
          if (category !== "other" && forms[category] === forms.other) delete forms[category];
        return forms;
      };
      const near = {};
      for (let value = -NEAR; value <= NEAR; value++) {
        const text = auto.format(value, unit);
        if (text !== always.format(value, unit)) near[value] = text;
      }
      if (auto.format(-0, unit) !== auto.format(0, unit)) near["-0"] = auto.format(-0, unit);
      return [tense(-1), tense(1), near];
    });
  }
  return data;
}

// Of each type and style: what stands between two items, and of more after the
// first, between, and before the last; and what stands around them.
export function lists(locale) {
  return TYPES.map((type) =>
    STYLES.map((style) => {
      const between = (items) => {
        const text = new Intl.ListFormat(locale, { type, style }).format(items);
        const found = [];
        let at = 0;
        for (const item of items) {
          const place = text.indexOf(item, at);
          found.push(text.slice(at, place));
          at = place + item.length;
        }
        if (found[0] !== "" || at !== text.length) throw new Error(`${locale} ${type} ${style}: ${text}`);
        return found.slice(1);
      };
      const [start, middle, end] = between(["<1>", "<2>", "<3>", "<4>"]);
      return [between(["<1>", "<2>"])[0], start, middle, end];
    }),
  );
}
