// Writes ../../tests/globals/intl.json: expressions with what Node's own Intl
// answers, for the test of the engine itself. Run it after make.mjs:
//
//     TZ=UTC node guest-js/locale-data/cases.mjs
import { writeFileSync } from "node:fs";

const LOCALES = ["en-US", "en-GB", "de-DE", "fr-FR", "es-ES", "ja-JP", "en-CA", "sv-SE"];
const numbers = [
  [1234567.891, {}],
  [-1234.5, { style: "currency", currency: "USD" }],
  [1234.5, { style: "currency", currency: "EUR", currencyDisplay: "code" }],
  [-1234.5, { style: "currency", currency: "JPY", currencySign: "accounting" }],
  [0.2567, { style: "percent", maximumFractionDigits: 1 }],
  [1234567, { notation: "compact" }],
  [1500000, { notation: "compact", compactDisplay: "long" }],
  [987654, { notation: "compact", style: "currency", currency: "GBP" }],
  [0.000123456, { maximumSignificantDigits: 3 }],
  [5, { signDisplay: "always", minimumFractionDigits: 2 }],
  [1234, { useGrouping: false }],
];
const dates = [
  {},
  { dateStyle: "full", timeStyle: "full" },
  { dateStyle: "long", timeStyle: "long" },
  { dateStyle: "medium", timeStyle: "medium" },
  { dateStyle: "short", timeStyle: "short" },
  { weekday: "short", year: "numeric", month: "short", day: "numeric" },
  { year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit", hourCycle: "h23" },
  { month: "long", year: "numeric" },
  { hour: "numeric", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 3, timeZoneName: "shortOffset" },
];
const zones = ["UTC", "America/New_York", "Europe/London", "Asia/Kolkata", "Australia/Sydney"];
const times = ["Date.UTC(2025, 0, 15, 10, 30, 5, 42)", "Date.UTC(2024, 6, 1, 21, 0, 59)"];

const expressions = [];
const text = JSON.stringify;
for (const locale of LOCALES) {
  for (const [value, options] of numbers) {
    expressions.push(`(${value}).toLocaleString('${locale}', ${text(options)})`);
    expressions.push(`new Intl.NumberFormat('${locale}', ${text(options)}).formatToParts(${value})`);
  }
  for (const options of dates)
    for (const timeZone of zones)
      for (const time of times)
        expressions.push(`new Date(${time}).toLocaleString('${locale}', ${text({ timeZone, ...options })})`);
  for (const method of ["toLocaleDateString", "toLocaleTimeString"])
    expressions.push(`new Date(${times[0]}).${method}('${locale}', { timeZone: 'Europe/Paris' })`);
  expressions.push(`new Intl.DateTimeFormat('${locale}', { dateStyle: 'full', timeZone: 'UTC' }).formatToParts(0)`);
  expressions.push(
    `[1, 2, 3, 11, 1000000].map((n) => new Intl.PluralRules('${locale}', { type: 'ordinal' }).select(n))`,
  );
  for (const numeric of ["always", "auto"])
    expressions.push(
      `[-1, 0, 1, 5].map((n) => new Intl.RelativeTimeFormat('${locale}', { numeric: '${numeric}' }).format(n, 'day'))`,
    );
  expressions.push(`new Intl.ListFormat('${locale}').format(['a', 'b', 'c'])`);
}
for (const locale of ["en", "de", "es", "fr"])
  expressions.push(
    `['z', 'ñu', 'nz', 'Zebra', 'ä', 'a10', 'a9', 'A'].sort(new Intl.Collator('${locale}', { numeric: true }).compare)`,
  );
const cases = expressions.map((expression) => `  ${text([expression, (0, eval)(`(${expression})`)])}`);
writeFileSync(new URL("../../tests/globals/intl.json", import.meta.url), `[\n${cases.join(",\n")}\n]\n`);
console.log(`${cases.length} cases`);
