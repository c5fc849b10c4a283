// Intl.RelativeTimeFormat and Intl.ListFormat.
(function (native) {
  "use strict";
  const { shared } = native;
  const { stringSlice, push, indexOf, matches } = shared;
  const { define, resolve, section, optionsOf, oneOf, tokens, addPart } = shared.intl;
  const { numberFormat } = shared;
  const { decimal, rounded, spread } = shared.digits;
  const STYLES = " long short narrow ";
  const UNITS = ["second", "minute", "hour", "day", "week", "month", "quarter", "year"];
  const TYPES = ["conjunction", "disjunction", "unit"];
  const STYLE_NAMES = ["long", "short", "narrow"];

  // { text } of a word such as tomorrow, or { pattern, number, unit }.
  function relative(state, value, unit) {
    value = +value;
    unit = `${unit}`;
    const name = unit[unit.length - 1] === "s" ? stringSlice(unit, 0, -1) : unit;
    const index = indexOf(UNITS, name);
    if (index === -1)
      throw new RangeError(`Invalid unit argument for Intl.RelativeTimeFormat: ${stringSlice(unit, 0, 40)}`);
    if (!(value - value === 0)) throw new RangeError("Intl.RelativeTimeFormat takes a finite number");
    const [past, future, near] = section(state.locale.data, "relative")[state.style][index];
    const isPast = value < 0 || (value === 0 && 1 / value < 0);
    if (state.isAuto) {
      const text = near[value === 0 && isPast ? "-0" : `${value}`] ?? near[`${value}`];
      if (text !== undefined) return { __proto__: null, text };
    }
    const number = isPast ? -value : value;
    const [digits, point] = rounded(decimal(number), state.number.digits);
    const [integer, fraction] = spread(digits, point, state.number.digits);
    const forms = isPast ? past : future;
    const pattern = forms[shared.pluralCategory(state.locale.data, integer, fraction)] ?? forms.other;
    return { __proto__: null, text: undefined, pattern, number, unit: name };
  }

  define("RelativeTimeFormat", {
    callable: false,
    initialize(locales, rawOptions) {
      const locale = resolve(locales);
      const options = optionsOf(rawOptions);
      oneOf(options, "localeMatcher", " lookup best fit ", "best fit");
      oneOf(options, "numberingSystem", " latn ", "latn");
      const style = oneOf(options, "style", STYLES, "long");
      const isAuto = oneOf(options, "numeric", " always auto ", "always") === "auto";
      return { __proto__: null, locale, style, isAuto, number: numberFormat.initialize(locale.name, undefined) };
    },
    methods: {
      format(state, value, unit) {
        const found = relative(state, value, unit);
        if (found.text !== undefined) return found.text;
        const list = tokens(found.pattern);
        let text = "";
        for (let index = 0; index < list.length; index++)
          text += list[index] === "{0}" ? numberFormat.format(state.number, found.number) : list[index];
        return text;
      },
      formatToParts(state, value, unit) {
        const found = relative(state, value, unit);
        const parts = [];
        if (found.text !== undefined) addPart(parts, "literal", found.text);
        else {
          const list = tokens(found.pattern);
          for (let index = 0; index < list.length; index++) {
            if (list[index] !== "{0}") {
              addPart(parts, "literal", list[index]);
              continue;
            }
            const digits = numberFormat.formatToParts(state.number, found.number);
            for (let part = 0; part < digits.length; part++) {
              digits[part].unit = found.unit;
              push(parts, digits[part]);
            }
          }
        }
        return parts;
      },
      resolvedOptions(state) {
        const numeric = state.isAuto ? "auto" : "always";
        return { locale: state.locale.name, style: state.style, numeric, numberingSystem: "latn" };
      },
    },
  });

  // Spanish: "e" before the sound i, "u" before the sound o.
  const SOUNDS_LIKE_I = /^(i|hi(?![ae]))/i;
  const SOUNDS_LIKE_O = /^(ho|o|8|11($| ))/i;
  function between(state, text, next) {
    if (state.locale.data !== "es") return text;
    if (text === " y " && matches(SOUNDS_LIKE_I, next)) return " e ";
    return text === " o " && matches(SOUNDS_LIKE_O, next) ? " u " : text;
  }

  // [type, text, …] of a list.
  function listed(state, list) {
    const items = [];
    if (list !== undefined)
      for (const item of list) {
        if (typeof item !== "string") throw new TypeError("Iterable yielded a non-String value");
        push(items, item);
      }
    const [pair, start, middle, end] = section(state.locale.data, "list")[state.type][state.style];
    const parts = [];
    for (let index = 0; index < items.length; index++) {
      if (index > 0) {
        const isLast = index === items.length - 1;
        const text = items.length === 2 ? pair : isLast ? end : index === 1 ? start : middle;
        push(parts, "literal", isLast ? between(state, text, items[index]) : text);
      }
      push(parts, "element", items[index]);
    }
    return parts;
  }

  define("ListFormat", {
    callable: false,
    initialize(locales, rawOptions) {
      const locale = resolve(locales);
      const options = optionsOf(rawOptions);
      if (typeof options !== "object" && typeof options !== "function")
        throw new TypeError("Intl.ListFormat takes an object of options");
      oneOf(options, "localeMatcher", " lookup best fit ", "best fit");
      const type = indexOf(TYPES, oneOf(options, "type", " conjunction disjunction unit ", "conjunction"));
      const style = indexOf(STYLE_NAMES, oneOf(options, "style", STYLES, "long"));
      return { __proto__: null, locale, type, style };
    },
    methods: {
      format(state, list) {
        const parts = listed(state, list);
        let text = "";
        for (let index = 1; index < parts.length; index += 2) text += parts[index];
        return text;
      },
      formatToParts(state, list) {
        const found = listed(state, list);
        const parts = [];
        for (let index = 0; index < found.length; index += 2)
          if (found[index] === "element" || found[index + 1] !== "")
            push(parts, { type: found[index], value: found[index + 1] });
        return parts;
      },
      resolvedOptions(state) {
        return { locale: state.locale.name, type: TYPES[state.type], style: STYLE_NAMES[state.style] };
      },
    },
  });
})
