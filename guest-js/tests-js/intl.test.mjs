// The rest of Intl against Node's own, and what is refused.
import assert from "node:assert/strict";
import { inEachEngine } from "./realm.mjs";
import { LOCALES, choices, same, text } from "./same.mjs";

inEachEngine("plurals, relative times and lists", (realm) => {
  const numbers = "0 1 -1 1.0 1.5 2 3 4 11 12 13 21 22 23 101 111 1000000 1500000 2000000 0.5 NaN";
  const plural = choices({ type: ["cardinal", "ordinal"], minimumFractionDigits: [undefined, 1] });
  const units = "second minutes hour day week month quarter years";
  const relative = choices({ numeric: ["always", "auto"], style: ["long", "short", "narrow"] });
  const lists = [
    [],
    ["a"],
    ["a", "b"],
    ["a", "b", "c"],
    ["a", "b", "c", "d"],
    ["agua", "hielo"],
    ["a", "b", "iglesia"],
  ];
  lists.push(["padre", "hijo"], ["7", "8"], ["10", "11"], ["plata", "oro"], ["uno", "hotel"]);
  const list = choices({ type: ["conjunction", "disjunction", "unit"], style: ["long", "short", "narrow"] });
  const methods = ["format", "formatToParts"];
  same(realm, [
    ...LOCALES.flatMap((locale) =>
      plural.flatMap((option) =>
        numbers.split(" ").map((number) => `new Intl.PluralRules('${locale}', ${text(option)}).select(${number})`),
      ),
    ),
    ...LOCALES.flatMap((locale) =>
      relative.flatMap((option) =>
        units
          .split(" ")
          .flatMap((unit) =>
            "-2 -1 -0 0 1 2 1.5 -3.25 10 1234 1000000"
              .split(" ")
              .flatMap((value) =>
                methods.map(
                  (method) =>
                    `new Intl.RelativeTimeFormat('${locale}', ${text(option)}).${method}(${value}, '${unit}')`,
                ),
              ),
          ),
      ),
    ),
    ...LOCALES.flatMap((locale) =>
      list.flatMap((option) =>
        lists.flatMap((items) =>
          methods.map((method) => `new Intl.ListFormat('${locale}', ${text(option)}).${method}(${text(items)})`),
        ),
      ),
    ),
  ]);
});

inEachEngine("order of letters", (realm) => {
  const words = "a A á ä Ä b n ñ Ñ nz o ö z Z résumé resume 10 9 a10 a9 straße strasse ae æ _x -x x".split(" ");
  const options = choices({ numeric: [undefined, true], sensitivity: [undefined, "base", "accent", "case"] });
  same(
    realm,
    "en-US en-GB de fr es"
      .split(" ")
      .flatMap((locale) =>
        options.map(
          (option) =>
            `${text(words)}.flatMap((l) => ${text(words)}.map((r) => new Intl.Collator('${locale}', ${text(option)}).compare(l, r)))`,
        ),
      ),
  );
  same(realm, ["'a'.localeCompare('b', 'en-u-kn-true')", "['b10','b9'].sort(new Intl.Collator('en-u-kn').compare)"]);
});

inEachEngine("objects are as the standard has them", (realm) => {
  const classes = "NumberFormat DateTimeFormat PluralRules RelativeTimeFormat ListFormat Collator".split(" ");
  same(realm, [
    ...classes.flatMap((name) => [
      `typeof Intl.${name}`,
      `Intl.${name}.name`,
      `Intl.${name}.length`,
      `Intl.${name}.supportedLocalesOf.length`,
      `Intl.${name}.supportedLocalesOf(['en-US', 'de'])`,
      `Object.prototype.toString.call(new Intl.${name}())`,
      `new Intl.${name}() instanceof Intl.${name}`,
      `Object.getPrototypeOf(new (class extends Intl.${name} {})()) === Intl.${name}.prototype`,
      `Intl.${name}()`,
      `new Intl.${name}('x')`,
      `new Intl.${name}(null)`,
      `new Intl.${name}([1])`,
      `new Intl.${name}('en', null)`,
      `new Intl.${name}().resolvedOptions().locale`,
      // ICU has no plurals or order of letters for a region.
      ...(/Plural|Collator/.test(name) ? [] : [`new Intl.${name}('de-de').resolvedOptions().locale`]),
      `Intl.${name}.prototype.resolvedOptions.call({})`,
      `Object.keys(Object.getOwnPropertyDescriptor(Intl, '${name}'))`,
    ]),
    "Object.prototype.toString.call(Intl)",
    "[3, 1.5].map(new Intl.NumberFormat('de', { minimumFractionDigits: 2 }).format)",
    "new Intl.NumberFormat('en').format('123456789012345678901234567890.5')",
    "new Intl.NumberFormat('en').format('x')",
    "new Intl.NumberFormat('en').format(undefined)",
    "new Intl.NumberFormat('en').format(null)",
    "new Intl.NumberFormat('en').format({ valueOf: () => 5 })",
    "new Intl.NumberFormat('en').format(new Date(5))",
    "new Intl.NumberFormat('en').format(Symbol())",
    "new Intl.NumberFormat('en').formatToParts()",
    "new Intl.DateTimeFormat('en').format('2020-01-01')",
    "new Intl.DateTimeFormat('en').format(NaN)",
    "new Intl.DateTimeFormat('en').format(8.64e15 + 1)",
    "new Intl.DateTimeFormat('en', { timeZone: 'Pacific/Auckland' }).format(8.64e15)",
    "new Intl.DateTimeFormat('en', { dateStyle: 'full' }).format(-8.64e15)",
    "new Intl.DateTimeFormat('en', { dateStyle: 'full' }).format(Date.UTC(-1, 0, 1))",
    "new Intl.DateTimeFormat('en', { timeZone: 'America/New_York', timeStyle: 'medium' }).format(Date.UTC(1850, 0, 1))",
    "new Intl.DateTimeFormat('en', { dateStyle: 'full', day: 'numeric' })",
    "new Intl.DateTimeFormat('en', { timeZone: 'Europe/Nowhere' })",
    "new Intl.DateTimeFormat('en', { timeZone: '' })",
    "new Intl.DateTimeFormat('en', { month: 'big' })",
    "new Intl.DateTimeFormat('en-u-hc-h23', { hour: 'numeric' }).format(0)",
    "new Intl.RelativeTimeFormat('en').format(1, 'century')",
    "new Intl.RelativeTimeFormat('en').format(NaN, 'day')",
    "new Intl.ListFormat('en').format([1])",
    "new Intl.ListFormat('en').format(new Set(['a', 'b']))",
    "new Intl.DateTimeFormat('en', { timeZone: 'europe/berlin' }).resolvedOptions().timeZone",
    "new Intl.DateTimeFormat('en', { hour: 'numeric', minute: 'numeric', month: 'long' }).resolvedOptions().minute",
    "[1234.5, new Date(0), null].toLocaleString('de', { timeZone: 'UTC' })",
    "new Float64Array([1234.5]).toLocaleString('de')",
    "(5n).toLocaleString('de', { style: 'percent' })",
  ]);
  const sorted = (value) => `Object.entries(${value}.resolvedOptions()).sort()`;
  same(realm, [
    sorted("new Intl.NumberFormat('de')"),
    sorted("new Intl.NumberFormat('ja', { style: 'currency', currency: 'jpy' })"),
    sorted("new Intl.NumberFormat('en', { notation: 'compact' })"),
    sorted("new Intl.NumberFormat('en', { maximumSignificantDigits: 3 })"),
    sorted("new Intl.DateTimeFormat('fr', { timeZone: 'Europe/Paris' })"),
    sorted("new Intl.DateTimeFormat('en', { dateStyle: 'full', timeStyle: 'short', timeZone: 'UTC' })"),
    sorted(
      "new Intl.DateTimeFormat('en-GB', { weekday: 'short', hour: 'numeric', minute: 'numeric', timeZone: 'UTC' })",
    ),
    sorted("new Intl.RelativeTimeFormat('es')"),
    sorted("new Intl.ListFormat('es')"),
  ]);
});

inEachEngine("what is not here is refused by name", (realm) => {
  const message = (code) => realm.evaluate(`try { ${code} } catch (e) { return \`\${e.name}: \${e.message}\` }`);
  for (const code of [
    "(1).toLocaleString('pl')",
    "new Date(0).toLocaleDateString('pt-BR')",
    "new Intl.NumberFormat('de-CH')",
    "'a'.localeCompare('b', 'pl')",
    "[1].toLocaleString('en-AU')",
  ])
    assert.match(message(code), /^RangeError: Locale \S+ is not available here, only de, de-DE, en, .*sv-SE/, code);
  assert.match(message("'a'.localeCompare('b', 'ja')"), /^RangeError: The order of letters of locale ja/);
  assert.match(
    message("new Intl.NumberFormat('en', { style: 'unit', unit: 'liter' })"),
    /^RangeError: Value unit of option style/,
  );
  assert.match(message("new Intl.DateTimeFormat('en', { era: 'short' })"), /^RangeError: Option era is not available/);
  assert.match(
    message("new Intl.DateTimeFormat('en', { calendar: 'hebrew' })"),
    /^RangeError: Value hebrew of option calendar/,
  );
  assert.match(message("new Intl.NumberFormat('en-u-nu-arab')"), /^RangeError: Locale en-u-nu-arab/);
  assert.equal(realm.evaluate("return new Intl.NumberFormat(['pl', 'de']).format(1.5)"), "1,5");
  assert.deepEqual(realm.evaluate("return Intl.NumberFormat.supportedLocalesOf(['pl', 'fr', 'de-CH'])"), ["fr"]);
  assert.equal(realm.evaluate("return typeof Intl.Segmenter + typeof Intl.DisplayNames"), "undefinedundefined");
});
