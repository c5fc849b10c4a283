// Patterns of dates and times, read off what ICU writes.
//
// A pattern is text with fields in braces: {y} year, {Y} its last two digits,
// {m} {M} month as a number (two digits), {d} {D} day, {h} {H} hour, {i} {I}
// minute, {s} {S} second, {a} AM or PM, {z} zone. Names have a number: {m2} is
// the month in the second list of month names, {w0} the weekday in the first.

export const WEEKDAY = [undefined, "narrow", "short", "long"];
export const YEAR = [undefined, "numeric", "2-digit"];
export const MONTH = [undefined, "numeric", "2-digit", "narrow", "short", "long"];
export const DAY = [undefined, "numeric", "2-digit"];
const SIZES = [undefined, "numeric", "2-digit"];
const STYLES = ["full", "long", "medium", "short"];

const UTC = { timeZone: "UTC" };
// A day, an hour and a minute that show whether a zero is put before them.
const SAMPLE = Date.UTC(2031, 2, 5, 3, 4, 7);
const format = (locale, options) => new Intl.DateTimeFormat(locale, { ...UTC, ...options });
const texts = (count, each) => Array.from({ length: count }, (_, index) => each(index));

const joined = (parts) => parts.map(({ value }) => value).join("");

function index(lists, list) {
  const text = JSON.stringify(list);
  const at = lists.findIndex((known) => JSON.stringify(known) === text);
  return at === -1 ? lists.push(list) - 1 : at;
}

// The pattern of one formatter; names that are not known yet go to `names`.
function pattern(formatter, names) {
  let part = 0;
  const valueAt = (time, place) => formatter.formatToParts(time)[place].value;
  return formatter
    .formatToParts(SAMPLE)
    .map(({ type, value }) => {
      const place = part++;
      const size = { 1: 0, 2: 1 }[value.length];
      switch (type) {
        case "literal":
          return value;
        case "year":
          return value === "31" ? "{Y}" : "{y}";
        case "day":
          return size === 0 ? "{d}" : "{D}";
        case "hour":
          return size === 0 ? "{h}" : "{H}";
        case "minute":
          return size === 0 ? "{i}" : "{I}";
        case "second":
          return size === 0 ? "{s}" : "{S}";
        case "dayPeriod":
          return "{a}";
        case "timeZoneName":
          return "{z}";
        case "month":
          if (/^\d+$/.test(value)) return size === 0 ? "{m}" : "{M}";
          return `{m${index(
            names.months,
            texts(12, (month) => valueAt(Date.UTC(2031, month, 5, 3, 4, 7), place)),
          )}}`;
        case "weekday":
          return `{w${index(
            names.weekdays,
            texts(7, (day) => valueAt(Date.UTC(2031, 2, 2 + day, 3, 4, 7), place)),
          )}}`;
        default:
          throw new Error(`a part of type ${type}`);
      }
    })
    .join("");
}

export function dates(locale) {
  const names = { months: [], weekdays: [] };
  const patterns = [];
  const add = (options) => index(patterns, pattern(format(locale, options), names));

  const days = [];
  const dayOptions = [];
  for (const weekday of WEEKDAY)
    for (const year of YEAR)
      for (const month of MONTH)
        for (const day of DAY) {
          const options = { weekday, year, month, day };
          dayOptions.push(options);
          days.push(weekday || year || month || day ? add(options) : 0);
        }

  const times = { h12: [], h23: [] };
  const timeOptions = [];
  for (const hour of SIZES)
    for (const minute of SIZES) for (const second of SIZES) timeOptions.push({ hour, minute, second });
  for (const cycle of ["h12", "h23"])
    for (const options of timeOptions)
      times[cycle].push(options.hour || options.minute || options.second ? add({ ...options, hourCycle: cycle }) : 0);

  // The same with a zone after them; some have another pattern for its other forms.
  const zonedTimes = { h12: [], h23: [] };
  const otherZoned = {};
  for (const cycle of ["h12", "h23"])
    timeOptions.forEach((options, clock) => {
      const isTimed = options.hour || options.minute || options.second;
      const zoned = (timeZoneName) => (isTimed ? add({ ...options, hourCycle: cycle, timeZoneName }) : 0);
      zonedTimes[cycle].push(zoned("short"));
      for (const form of ["long", "shortOffset", "longOffset"])
        if (zoned(form) !== zoned("short")) otherZoned[`${form} ${cycle} ${clock}`] = zoned(form);
    });

  // What stands between date and time: by the date's fields, as it is where a
  // zone follows. Without one there can be a pattern of its own for both.
  const between = [];
  const glues = [];
  const together = {};
  // Not `format`: V8 writes plain spaces there where ICU has narrow ones.
  const text = (options) => joined(format(locale, options).formatToParts(SAMPLE));
  const glueOf = (date, time, whole) =>
    whole.startsWith(date) && whole.endsWith(time) && whole.length > date.length + time.length
      ? whole.slice(date.length, -time.length)
      : undefined;
  for (let at = 0; at < dayOptions.length; at++) {
    if (at === 0) {
      glues.push(0);
      continue;
    }
    const zoned = { hour: "numeric", minute: "numeric", timeZoneName: "short" };
    const usual = glueOf(text(dayOptions[at]), text(zoned), text({ ...dayOptions[at], ...zoned }));
    if (usual === undefined) throw new Error(`${locale}: ${text({ ...dayOptions[at], ...zoned })}`);
    glues.push(index(between, usual));
    for (const cycle of ["h12", "h23"])
      for (let clock = 1; clock < timeOptions.length; clock++) {
        const time = { ...timeOptions[clock], hourCycle: cycle };
        const glue = glueOf(text(dayOptions[at]), text(time), text({ ...dayOptions[at], ...time }));
        if (glue !== usual) together[`${at} ${cycle} ${clock}`] = add({ ...dayOptions[at], ...time });
      }
  }

  const dateStyles = STYLES.map((dateStyle) => add({ dateStyle }));
  const timeStyles = {};
  for (const cycle of ["h12", "h23"])
    timeStyles[cycle] = STYLES.map((timeStyle) => add({ timeStyle, hourCycle: cycle }));
  const styleGlues = STYLES.map((dateStyle) => {
    const all = STYLES.map((timeStyle) =>
      glueOf(text({ dateStyle }), text({ timeStyle }), text({ dateStyle, timeStyle })),
    );
    if (all.some((glue) => glue === undefined || glue !== all[0])) throw new Error(`${locale} ${dateStyle}: ${all}`);
    return index(between, all[0]);
  });

  // Another cycle of hours than the locale's own can change the date too.
  const styleTogether = {};
  STYLES.forEach((dateStyle, day) => {
    for (const cycle of ["h12", "h23"])
      STYLES.forEach((timeStyle, clock) => {
        const usual = patterns[dateStyles[day]] + between[styleGlues[day]] + patterns[timeStyles[cycle][clock]];
        const options = { dateStyle, timeStyle, hourCycle: cycle };
        if (pattern(format(locale, options), names) !== usual) styleTogether[`${day} ${cycle} ${clock}`] = add(options);
      });
  });

  const parts = (hour) =>
    format(locale, { hour: "numeric", hourCycle: "h12" }).formatToParts(Date.UTC(2031, 2, 5, hour));
  const period = (hour) => parts(hour).find(({ type }) => type === "dayPeriod").value;
  return {
    ...names,
    periods: [period(3), period(15)],
    patterns,
    days,
    times,
    glues,
    between,
    together,
    dateStyles,
    timeStyles,
    styleGlues,
    styleTogether,
    zonedTimes,
    otherZoned,
    fraction: format(locale, { second: "numeric", fractionalSecondDigits: 1 }).format(SAMPLE).slice(1, -1),
    cycle: format(locale, { hour: "numeric" }).resolvedOptions().hourCycle,
  };
}
