// What the parts of Intl share: which locale is meant, how options are read,
// and how a class of Intl is made. The locales are those of intl-data.js; any
// other is refused, since another locale's figures would look right.
(function (native) {
  "use strict";
  const { shared } = native;
  const { hidden, uncurryThis, toLowerCase, stringSlice, stringIndexOf, split, push, matches, hasOwn, join } = shared;
  const { construct, apply } = Reflect;
  const { defineProperty, keys } = Object;
  const { parse } = JSON;
  const { WeakMap } = globalThis;
  const weakGet = uncurryThis(WeakMap.prototype.get);
  const weakSet = uncurryThis(WeakMap.prototype.set);

  // What scripts may ask for → whose data it is.
  const LOCALES = {
    __proto__: null,
    de: "de",
    "de-DE": "de",
    en: "en-US",
    "en-CA": "en-CA",
    "en-GB": "en-GB",
    "en-US": "en-US",
    es: "es",
    "es-ES": "es",
    fr: "fr",
    "fr-FR": "fr",
    ja: "ja",
    "ja-JP": "ja",
    sv: "sv",
    "sv-SE": "sv",
  };
  const DEFAULT_LOCALE = "en-US";
  const NAMES = keys(LOCALES);
  const byLowerCase = { __proto__: null };
  for (const name of NAMES) byLowerCase[name.toLowerCase()] = name;

  const TAG =
    /^[a-z]{2,3}(-[a-z]{4})?(-([a-z]{2}|[0-9]{3}))?(-([a-z0-9]{5,8}|[0-9][a-z0-9]{3}))*(-[a-wyz0-9](-[a-z0-9]{2,8})+)*(-x(-[a-z0-9]{1,8})+)?$/;
  // A name that is longer is none; matching it would be a script's own time.
  const MAX_TAG = 100;
  // Extensions (-u-hc-h23) that can be met, with their values; none is "".
  const EXTENSIONS = { __proto__: null, ca: " gregory ", nu: " latn ", hc: " h12 h23 ", kn: " true false  " };

  function refused(tag) {
    return new RangeError(
      `Locale ${tag} is not available here, only ${join(NAMES, ", ")}. Use one of them, or format by hand.`,
    );
  }

  // The tags that were asked for, as ECMA-402 reads them.
  function requested(locales) {
    if (locales === undefined) return [];
    const list = [];
    if (typeof locales === "string") list[0] = locales;
    else {
      if (locales === null) throw new TypeError("Cannot convert null to object");
      for (let index = 0; index < locales.length; index++) push(list, locales[index]);
    }
    for (let index = 0; index < list.length; index++) {
      const tag = list[index];
      if (typeof tag !== "string" && (tag === null || typeof tag !== "object"))
        throw new TypeError("Incorrect locale information provided");
      list[index] = `${tag}`;
      if (list[index].length > MAX_TAG || !matches(TAG, toLowerCase(list[index])))
        throw new RangeError(`Incorrect locale information provided: ${stringSlice(list[index], 0, MAX_TAG)}`);
    }
    return list;
  }

  // { name, data, extensions } of a tag; undefined if it is not available.
  function known(tag) {
    const lower = toLowerCase(tag);
    const at = stringIndexOf(lower, "-u-");
    const name = byLowerCase[at === -1 ? lower : stringSlice(lower, 0, at)];
    if (name === undefined) return undefined;
    const found = { __proto__: null, name, data: LOCALES[name], extensions: { __proto__: null } };
    if (at === -1) return found;
    const words = split(stringSlice(lower, at + 3), "-");
    for (let index = 0; index < words.length; index++) {
      const key = words[index];
      if (key.length !== 2) return undefined;
      let value = "";
      while (index + 1 < words.length && words[index + 1].length > 2) value += `${words[++index]} `;
      value = stringSlice(value, 0, -1);
      if (EXTENSIONS[key] === undefined || stringIndexOf(EXTENSIONS[key], ` ${value} `) === -1) return undefined;
      found.extensions[key] = value;
    }
    return found;
  }

  function resolve(locales) {
    const tags = requested(locales);
    if (tags.length === 0) return known(DEFAULT_LOCALE);
    for (let index = 0; index < tags.length; index++) {
      const found = known(tags[index]);
      if (found !== undefined) return found;
    }
    throw refused(tags[0]);
  }

  // One section of a locale's data, read when it is first needed.
  const sections = { __proto__: null };
  function section(locale, name) {
    const key = `${locale} ${name}`;
    return (sections[key] ??= parse(shared.localeData[locale][name]));
  }

  function optionsOf(options) {
    if (options === undefined) return { __proto__: null };
    if (options === null) throw new TypeError("Cannot convert null to object");
    return options;
  }

  // A value out of a list of words with a space around each.
  function oneOf(options, name, allowed, fallback) {
    const value = options[name];
    if (value === undefined) return fallback;
    const text = `${value}`;
    if (text === "" || stringIndexOf(allowed, ` ${text} `) === -1)
      throw new RangeError(
        `Value ${stringSlice(text, 0, MAX_TAG)} of option ${name} is not available here (only:${stringSlice(allowed, 0, -1)})`,
      );
    return text;
  }

  function refuse(options, names, why) {
    for (let index = 0; index < names.length; index++)
      if (options[names[index]] !== undefined)
        throw new RangeError(`Option ${names[index]} is not available here${why}`);
  }

  const Intl = { __proto__: Object.prototype };
  defineProperty(Intl, Symbol.toStringTag, { __proto__: null, value: "Intl", configurable: true });

  // A class of Intl. `initialize(locales, options)` makes an object's state,
  // which its methods get as their first argument; a `get` is bound to it.
  function define(name, { callable, initialize, methods, bound }) {
    const states = new WeakMap();
    const make = (locales, options, target) => {
      const object = construct(Object, [], target);
      weakSet(states, object, initialize(locales, options));
      return object;
    };
    const Class = {
      [name]: function (locales = undefined, options = undefined) {
        if (new.target === undefined && !callable) throw new TypeError(`Constructor Intl.${name} requires 'new'`);
        return make(locales, options, new.target ?? Class);
      },
    }[name];
    const stateOf = (object, method) => {
      const state = object !== null && typeof object === "object" ? weakGet(states, object) : undefined;
      if (state === undefined)
        throw new TypeError(`Method Intl.${name}.prototype.${method} called on incompatible receiver`);
      return state;
    };
    const { prototype } = Class;
    for (const key of keys(methods)) {
      const method = methods[key];
      const { length } = method;
      const wrapper = {
        [key](...values) {
          return apply(method, undefined, [stateOf(this, key), ...values]);
        },
      }[key];
      defineProperty(wrapper, "length", { __proto__: null, value: length - 1, configurable: true });
      hidden(prototype, key, wrapper);
    }
    if (bound !== undefined) {
      const { key, call } = bound;
      const { get } = Object.getOwnPropertyDescriptor(
        {
          get [key]() {
            const state = stateOf(this, key);
            return (state.bound ??= call(state));
          },
        },
        key,
      );
      defineProperty(prototype, key, { __proto__: null, get, configurable: true });
    }
    defineProperty(prototype, Symbol.toStringTag, { __proto__: null, value: `Intl.${name}`, configurable: true });
    defineProperty(Class, "prototype", { __proto__: null, writable: false });
    hidden(
      Class,
      "supportedLocalesOf",
      {
        supportedLocalesOf(locales, options = undefined) {
          if (options !== undefined) oneOf(optionsOf(options), "localeMatcher", " lookup best fit ", "best fit");
          const tags = requested(locales);
          const available = [];
          for (let index = 0; index < tags.length; index++) {
            const found = known(tags[index]);
            if (found === undefined) continue;
            const tag = found.name + stringSlice(tags[index], found.name.length);
            if (shared.indexOf(available, tag) === -1) push(available, tag);
          }
          return available;
        },
      }.supportedLocalesOf,
    );
    defineProperty(Class.supportedLocalesOf, "length", { __proto__: null, value: 1, configurable: true });
    hidden(Intl, name, Class);
    return Class;
  }

  hidden(
    Intl,
    "getCanonicalLocales",
    {
      getCanonicalLocales(locales) {
        const tags = requested(locales);
        const list = [];
        for (let index = 0; index < tags.length; index++) {
          const found = known(tags[index]);
          if (found === undefined) throw refused(tags[index]);
          const tag = found.name + toLowerCase(stringSlice(tags[index], found.name.length));
          if (shared.indexOf(list, tag) === -1) push(list, tag);
        }
        return list;
      },
    }.getCanonicalLocales,
  );

  shared.intl = {
    __proto__: null,
    define,
    resolve,
    section,
    optionsOf,
    oneOf,
    refuse,
    hasOwn,
    // Where "{" begins a field of a pattern: ["{n}", " ", "{c}"].
    tokens: (
      (cache) => (pattern) =>
        (cache[pattern] ??= tokensOf(pattern))
    )({ __proto__: null }),
    // What formatToParts gives; literals that touch become one.
    addPart(parts, type, value) {
      if (value === "") return;
      const last = parts[parts.length - 1];
      if (type === "literal" && last !== undefined && last.type === "literal") last.value += value;
      else push(parts, { type, value });
    },
  };
  function tokensOf(pattern) {
    const list = [];
    for (let at = 0; at < pattern.length;) {
      const isField = pattern[at] === "{";
      let end = stringIndexOf(pattern, isField ? "}" : "{", at);
      end = end === -1 ? pattern.length : isField ? end + 1 : end;
      push(list, stringSlice(pattern, at, end));
      at = end;
    }
    return list;
  }
  shared.expose("Intl", Intl);
})
