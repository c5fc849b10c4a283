// Intl.DateTimeFormat: dates and times by their fields or by style, in any
// time zone. The patterns are those of ICU (see intl-data.js).
(function (native) {
  "use strict";
  const { shared } = native;
  const { stringSlice, stringIndexOf, padStart, dateGetTime, className, split, join } = shared;
  const { define, resolve, section, optionsOf, oneOf, refuse, tokens, addPart } = shared.intl;
  const { zoneOf, offsetAt, zoneNameAt } = shared.zones;
  const { floor } = Math;
  const { now } = Date;
  const MAX_TIME = 8.64e15;
  const DAY_MILLISECONDS = 86400000;
  const SIZES = " numeric 2-digit ";
  const NAMES = " narrow short long ";
  const STYLES = " full long medium short ";
  const DATE_FIELDS = ["weekday", "year", "month", "day"];
  const TIME_FIELDS = ["hour", "minute", "second"];
  const CHOICES = {
    __proto__: null,
    weekday: NAMES,
    year: SIZES,
    month: ` numeric 2-digit${NAMES}`,
    day: SIZES,
    hour: SIZES,
    minute: SIZES,
    second: SIZES,
  };
  const styleIndex = (style) => (style === "full" ? 0 : style === "long" ? 1 : style === "medium" ? 2 : 3);
  // Places in the tables of patterns: 0 for a field that is not shown.
  const sizeIndex = (size) => (size === undefined ? 0 : size === "numeric" ? 1 : 2);
  const nameIndex = (name) => (name === undefined ? 0 : name === "narrow" ? 1 : name === "short" ? 2 : 3);
  const monthIndex = (month) => (stringIndexOf(NAMES, ` ${month} `) === -1 ? sizeIndex(month) : 2 + nameIndex(month));

  // `required` and `defaults` as ECMA-402 has them: "date", "time" or "any",
  // and what is shown where none of those was asked for.
  function initialize(locales, rawOptions, required = "any", defaults = "date") {
    const locale = resolve(locales);
    const options = optionsOf(rawOptions);
    oneOf(options, "localeMatcher", " lookup best fit ", "best fit");
    oneOf(options, "calendar", " gregory ", "gregory");
    oneOf(options, "numberingSystem", " latn ", "latn");
    const { hour12 } = options;
    const hourCycle = oneOf(options, "hourCycle", " h12 h23 ", undefined);
    const zone = zoneOf(options.timeZone);
    const fields = { __proto__: null };
    let isDated = false;
    let isTimed = false;
    for (let index = 0; index < 4; index++) {
      const name = DATE_FIELDS[index];
      if ((fields[name] = oneOf(options, name, CHOICES[name], undefined)) !== undefined) isDated = true;
    }
    refuse(options, ["era", "dayPeriod"], "");
    for (let index = 0; index < 3; index++) {
      const name = TIME_FIELDS[index];
      if ((fields[name] = oneOf(options, name, CHOICES[name], undefined)) !== undefined) isTimed = true;
    }
    if (options.fractionalSecondDigits !== undefined) {
      const digits = +options.fractionalSecondDigits;
      if (!(digits >= 1 && digits <= 3)) throw new RangeError("fractionalSecondDigits value is out of range.");
      fields.digits = floor(digits);
      isTimed = true;
    }
    fields.zone = oneOf(options, "timeZoneName", " short long shortOffset longOffset ", undefined);
    oneOf(options, "formatMatcher", " basic best fit ", "best fit");
    const dateStyle = oneOf(options, "dateStyle", STYLES, undefined);
    const timeStyle = oneOf(options, "timeStyle", STYLES, undefined);
    if (dateStyle !== undefined || timeStyle !== undefined) {
      if (isDated || isTimed || fields.zone !== undefined)
        throw new TypeError("dateStyle and timeStyle cannot be combined with single parts of the date");
      if (required === "date" && timeStyle !== undefined) throw new TypeError("Invalid option : timeStyle");
      if (required === "time" && dateStyle !== undefined) throw new TypeError("Invalid option : dateStyle");
    } else {
      const needsDefaults = (required === "time" || !isDated) && (required === "date" || !isTimed);
      if (needsDefaults && defaults !== "time") fields.year = fields.month = fields.day = "numeric";
      if (needsDefaults && defaults !== "date") fields.hour = fields.minute = fields.second = "numeric";
    }
    const data = section(locale.data, "date");
    const state = { __proto__: null, locale, data, zone, fields, dateStyle, timeStyle };
    // In Japan the hours of half a day begin with zero.
    const twelve = locale.data === "ja" ? "h11" : "h12";
    state.cycle = hour12 !== undefined ? (hour12 ? twelve : "h23") : (hourCycle ?? locale.extensions.hc ?? data.cycle);
    state.pattern = patternOf(state);
    return state;
  }

  function patternOf({ data, fields, dateStyle, timeStyle, cycle }) {
    const { patterns } = data;
    const clock = cycle === "h11" || cycle === "h12" ? "h12" : "h23";
    if (dateStyle !== undefined || timeStyle !== undefined) {
      const date = dateStyle === undefined ? "" : patterns[data.dateStyles[styleIndex(dateStyle)]];
      const time = timeStyle === undefined ? "" : patterns[data.timeStyles[clock][styleIndex(timeStyle)]];
      if (timeStyle === "full" || timeStyle === "long") fields.zone = timeStyle === "full" ? "long" : "short";
      if (date === "" || time === "") return date + time;
      const together = data.styleTogether[`${styleIndex(dateStyle)} ${clock} ${styleIndex(timeStyle)}`];
      if (together !== undefined) return patterns[together];
      return date + data.between[data.styleGlues[styleIndex(dateStyle)]] + time;
    }
    const day =
      ((nameIndex(fields.weekday) * 3 + sizeIndex(fields.year)) * 6 + monthIndex(fields.month)) * 3 +
      sizeIndex(fields.day);
    const time = (sizeIndex(fields.hour) * 3 + sizeIndex(fields.minute)) * 3 + sizeIndex(fields.second);
    const isZoned = fields.zone !== undefined;
    let pattern;
    if (time === 0 && !isZoned) pattern = day === 0 ? "" : patterns[data.days[day]];
    else {
      const together = isZoned ? undefined : data.together[`${day} ${clock} ${time}`];
      if (together !== undefined) pattern = patterns[together];
      else {
        pattern =
          time === 0 ? "{z}" : patterns[isZoned ? zonedTime(data, fields, clock, time) : data.times[clock][time]];
        if (day !== 0) pattern = patterns[data.days[day]] + data.between[data.glues[day]] + pattern;
      }
    }
    return fields.digits === undefined ? pattern : withFraction(pattern, data.fraction, fields);
  }

  function zonedTime(data, fields, clock, time) {
    return data.otherZoned[`${fields.zone} ${clock} ${time}`] ?? data.zonedTimes[clock][time];
  }

  function withFraction(pattern, point, fields) {
    if (fields.second === undefined) {
      if (pattern === "") return "{f}";
      throw new RangeError("fractionalSecondDigits is not available here without second");
    }
    let at = stringIndexOf(pattern, "{s}");
    if (at === -1) at = stringIndexOf(pattern, "{S}");
    return `${stringSlice(pattern, 0, at + 3)}${point}{f}${stringSlice(pattern, at + 3)}`;
  }

  // Year, month, day and so on of an instant in the zone. By arithmetic: a
  // Date ends before the last instants of the zones do.
  function fieldsAt(state, time) {
    const local = time + offsetAt(state.zone, time) * 1000;
    const days = floor(local / DAY_MILLISECONDS);
    const rest = local - days * DAY_MILLISECONDS;
    // Days since 1 March of the year 0, in cycles of 400 years.
    const shifted = days + 719468;
    const cycle = floor(shifted / 146097);
    const dayOfCycle = shifted - cycle * 146097;
    const yearOfCycle = floor(
      (dayOfCycle - floor(dayOfCycle / 1460) + floor(dayOfCycle / 36524) - floor(dayOfCycle / 146096)) / 365,
    );
    const dayOfYear = dayOfCycle - (365 * yearOfCycle + floor(yearOfCycle / 4) - floor(yearOfCycle / 100));
    const monthFromMarch = floor((5 * dayOfYear + 2) / 153);
    const month = monthFromMarch < 10 ? monthFromMarch + 2 : monthFromMarch - 10;
    const year = yearOfCycle + cycle * 400 + (month <= 1 ? 1 : 0);
    return {
      __proto__: null,
      time,
      full: year,
      // Without an era, years before the first count up again.
      year: year > 0 ? year : 1 - year,
      month,
      day: dayOfYear - floor((153 * monthFromMarch + 2) / 5) + 1,
      weekday: (((days + 4) % 7) + 7) % 7,
      hour: floor(rest / 3600000),
      minute: floor(rest / 60000) % 60,
      second: floor(rest / 1000) % 60,
      millisecond: rest % 1000,
    };
  }

  const two = (number) => padStart(`${number}`, 2, "0");
  function hourOf(hour, cycle) {
    if (cycle === "h11") return hour % 12;
    return cycle === "h12" ? hour % 12 || 12 : hour;
  }

  const TYPES = {
    __proto__: null,
    y: "year",
    m: "month",
    d: "day",
    w: "weekday",
    h: "hour",
    i: "minute",
    s: "second",
    a: "dayPeriod",
    z: "timeZoneName",
    f: "fractionalSecond",
  };
  const typeOf = (token) => TYPES[shared.toLowerCase(token[1])];

  // The text of one field of a pattern.
  function fieldText(state, at, token) {
    const { data } = state;
    switch (token[1]) {
      case "y":
        return `${at.year}`;
      case "Y":
        return stringSlice(two(at.year), -2);
      case "m":
        return token.length === 3 ? `${at.month + 1}` : data.months[+stringSlice(token, 2, -1)][at.month];
      case "M":
        return two(at.month + 1);
      case "d":
        return `${at.day}`;
      case "D":
        return two(at.day);
      case "w":
        return data.weekdays[+stringSlice(token, 2, -1)][at.weekday];
      case "h":
        return `${hourOf(at.hour, state.cycle)}`;
      case "H":
        return two(hourOf(at.hour, state.cycle));
      case "i":
        return `${at.minute}`;
      case "I":
        return two(at.minute);
      case "s":
        return `${at.second}`;
      case "S":
        return two(at.second);
      case "a":
        return data.periods[at.hour < 12 ? 0 : 1];
      case "f":
        return stringSlice(padStart(`${at.millisecond}`, 3, "0"), 0, state.fields.digits);
      default:
        return zoneNameAt(state.locale.data, data, state.zone, at.time, at.full, state.fields.zone);
    }
  }

  function timeOf(value) {
    const time =
      value === undefined
        ? now()
        : value !== null && typeof value === "object" && className(value) === "Date"
          ? dateGetTime(value)
          : +value;
    if (!(time >= -MAX_TIME && time <= MAX_TIME)) throw new RangeError("Invalid time value");
    return time < 0 ? -floor(-time) : floor(time);
  }

  // V8 writes plain spaces in whole texts, where ICU has narrow ones; so that
  // programs which compare texts go on working.
  const plainSpaces = (text) => (stringIndexOf(text, "\u202f") === -1 ? text : join(split(text, "\u202f"), " "));

  function format(state, value) {
    const at = fieldsAt(state, timeOf(value));
    const list = tokens(state.pattern);
    let text = "";
    for (let index = 0; index < list.length; index++)
      text += list[index][0] === "{" ? fieldText(state, at, list[index]) : list[index];
    return plainSpaces(text);
  }

  function formatToParts(state, value) {
    const at = fieldsAt(state, timeOf(value));
    const list = tokens(state.pattern);
    const parts = [];
    for (let index = 0; index < list.length; index++) {
      const token = list[index];
      if (token[0] === "{") addPart(parts, typeOf(token), fieldText(state, at, token));
      else addPart(parts, "literal", token);
    }
    return parts;
  }

  function resolvedOptions(state) {
    const { fields } = state;
    const result = {
      locale: state.locale.name,
      calendar: "gregory",
      numberingSystem: "latn",
      timeZone: state.zone.name,
    };
    const list = tokens(state.pattern);
    const shown = { __proto__: null };
    for (let index = 0; index < list.length; index++)
      if (list[index][0] === "{") shown[typeOf(list[index])] = list[index];
    if (shown.hour !== undefined) {
      result.hourCycle = state.cycle;
      result.hour12 = state.cycle === "h11" || state.cycle === "h12";
    }
    if (state.dateStyle === undefined && state.timeStyle === undefined) {
      for (const names of [DATE_FIELDS, TIME_FIELDS])
        for (let index = 0; index < names.length; index++) {
          const token = shown[names[index]];
          if (token === undefined) continue;
          // Names are as they were asked for; numbers as they are written.
          const isName = stringIndexOf(NAMES, ` ${fields[names[index]]} `) !== -1;
          result[names[index]] = isName
            ? fields[names[index]]
            : token[1] === shared.toLowerCase(token[1])
              ? "numeric"
              : "2-digit";
        }
      if (fields.digits !== undefined) result.fractionalSecondDigits = fields.digits;
      if (fields.zone !== undefined) result.timeZoneName = fields.zone;
    }
    if (state.dateStyle !== undefined) result.dateStyle = state.dateStyle;
    if (state.timeStyle !== undefined) result.timeStyle = state.timeStyle;
    return result;
  }

  shared.dateTimeFormat = { __proto__: null, initialize, format };
  define("DateTimeFormat", {
    callable: true,
    initialize: (locales, options) => initialize(locales, options),
    bound: { key: "format", call: (state) => (date) => format(state, date) },
    methods: {
      formatToParts(state, date) {
        return formatToParts(state, date);
      },
      resolvedOptions,
    },
  });
})
