// Expressions in a realm against Node, whose ICU is whole: every text must be
// the same.
import assert from "node:assert/strict";

process.env.TZ = "UTC";
export const LOCALES = [
  "en-US",
  "en-GB",
  "de-DE",
  "fr-FR",
  "es-ES",
  "ja-JP",
  "en-CA",
  "sv-SE",
  "en",
  "de",
  "fr",
  "es",
  "ja",
];
const MAX_SHOWN = 12;

// Of each expression: its value, or the name of what it throws.
const ANSWERS = `(expressions) => expressions.map((expression) => {
  try { return JSON.stringify((0, eval)('(' + expression + ')')) ?? 'undefined' } catch (error) { return error.name }
})`;

export function same(realm, expressions) {
  const expected = eval(ANSWERS)(expressions);
  const actual = realm.evaluate(`return (${ANSWERS})(${JSON.stringify(expressions)})`);
  const different = expressions
    .map((expression, index) => `${expression}\n  node ${expected[index]}\n  here ${actual[index]}`)
    .filter((_, index) => expected[index] !== actual[index]);
  assert.equal(
    different.length,
    0,
    `${different.length} of ${expressions.length}\n${different.slice(0, MAX_SHOWN).join("\n")}`,
  );
  return expressions.length;
}

// Every choice of one value from each list; undefined leaves the key out.
export function choices(lists) {
  return Object.entries(lists).reduce(
    (all, [key, values]) =>
      all.flatMap((one) => values.map((value) => (value === undefined ? one : { ...one, [key]: value }))),
    [{}],
  );
}
export const text = (value) => JSON.stringify(value);
