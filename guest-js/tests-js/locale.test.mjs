// The locale methods against Node's Intl; other locales are in intl.test.mjs.
import assert from "node:assert/strict";
import { inEachEngine } from "./realm.mjs";

function same(realm, expressions) {
  const different = [];
  for (const expression of expressions) {
    let expected;
    try {
      expected = new Function(`return ${expression}`)();
    } catch (error) {
      expected = error.name;
    }
    const actual = realm.evaluate(`try { return ${expression} } catch (e) { return e.name }`);
    if (JSON.stringify(actual) !== JSON.stringify(expected))
      different.push(`${expression}: node ${JSON.stringify(expected)}, here ${JSON.stringify(actual)}`);
  }
  assert.equal(different.length, 0, different.join("\n"));
}

inEachEngine("numbers", (realm) => {
  const numbers = [
    "0",
    "-0",
    "1",
    "999",
    "1000",
    "1234.5",
    "1234567.891",
    "-1234.5678",
    "0.0005",
    "1e21",
    "1.5e-7",
    "NaN",
    "Infinity",
    "-Infinity",
    "1.005",
    "2.5",
    "0.1+0.2",
    "123456789012345680000",
    "5e-324",
    "9.995",
    "99.995",
    "0.045",
  ];
  const options = [
    "",
    "'en-US', { maximumFractionDigits: 2 }",
    "undefined, { minimumFractionDigits: 2 }",
    "'en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 }",
    "'en-US', { maximumFractionDigits: 0 }",
    "'en-US', { style: 'percent' }",
    "'en-US', { style: 'percent', minimumFractionDigits: 1 }",
    "'en-US', { style: 'currency', currency: 'USD' }",
    "'en-US', { style: 'currency', currency: 'eur' }",
    "'en-US', { style: 'currency', currency: 'JPY' }",
    "'en-US', { style: 'currency', currency: 'GBP', maximumFractionDigits: 0 }",
    "'en-US', { style: 'currency', currency: 'CHF' }",
    "'en-US', { style: 'currency', currency: 'KWD' }",
    "'en-US', { useGrouping: false }",
    "'en-US', { maximumSignificantDigits: 3 }",
    "'en-US', { minimumSignificantDigits: 5 }",
    "'en-US', { minimumIntegerDigits: 3 }",
    "'en-US', { signDisplay: 'always' }",
    "'en-US', { signDisplay: 'exceptZero' }",
    "'en-US', { signDisplay: 'never' }",
    "'en-US', { signDisplay: 'negative', maximumFractionDigits: 0 }",
    "'en-US', { style: 'currency', currency: 'USD', currencySign: 'accounting' }",
    "'en-US', { style: 'currency', currency: 'USD', currencyDisplay: 'code' }",
  ];
  same(
    realm,
    numbers.flatMap((number) => options.map((option) => `(${number}).toLocaleString(${option})`)),
  );
  same(
    realm,
    [
      "CAD",
      "AUD",
      "INR",
      "CNY",
      "KRW",
      "BRL",
      "MXN",
      "HKD",
      "NZD",
      "ILS",
      "VND",
      "TWD",
      "PHP",
      "SEK",
      "ZZZ",
      "XAF",
      "PLN",
    ].map((code) => `(1234.5).toLocaleString('en-US', { style: 'currency', currency: '${code}' })`),
  );
  same(realm, [
    "(12345678901234567890n).toLocaleString()",
    "(-5n).toLocaleString('en-US', { style: 'currency', currency: 'USD' })",
    "[1234.5, null, 'x', undefined, 5678].toLocaleString()",
    "[0.5, 2].toLocaleString('en-US', { style: 'percent' })",
    "new Float64Array([1234.5]).toLocaleString()",
    "(1).toLocaleString('en-US', { style: 'currency' })",
    "(1).toLocaleString('en-US', { style: 'nope' })",
    "(1).toLocaleString('en-US', { maximumFractionDigits: 101 })",
    "(1).toLocaleString('en-US', { minimumFractionDigits: 4, maximumFractionDigits: 2 })",
    "(1).toLocaleString('en-US', { style: 'currency', currency: 'DOLLARS' })",
    "(1.5).toLocaleString('en-US', { minimumFractionDigits: 5 })",
    "(0).toLocaleString('en-US', null)",
    "Number.prototype.toLocaleString.call('x')",
    "Number.prototype.toLocaleString.name",
  ]);
});

inEachEngine("dates", (realm) => {
  const dates = [
    "Date.UTC(2025, 0, 15, 10, 30, 0)",
    "Date.UTC(2024, 11, 31, 0, 5, 9, 7)",
    "Date.UTC(1999, 4, 1, 12, 0, 59)",
    "Date.UTC(2025, 8, 9, 23, 59)",
    "NaN",
  ];
  const options = [
    "",
    "'en-US'",
    "undefined, { timeZone: 'UTC' }",
    "'en-US', { year: 'numeric', month: 'long', day: 'numeric' }",
    "'en-US', { weekday: 'long', year: 'numeric', month: 'long', day: 'numeric' }",
    "'en-US', { month: 'short', day: 'numeric' }",
    "'en-US', { month: 'short', day: '2-digit', year: 'numeric' }",
    "'en-US', { month: '2-digit', day: '2-digit', year: 'numeric' }",
    "'en-US', { year: 'numeric' }",
    "'en-US', { month: 'long' }",
    "'en-US', { month: 'long', year: 'numeric' }",
    "'en-US', { weekday: 'short' }",
    "'en-US', { weekday: 'short', month: 'short', day: 'numeric' }",
    "'en-US', { weekday: 'long', month: 'numeric', day: 'numeric', year: 'numeric' }",
    "'en-US', { month: 'numeric', year: 'numeric' }",
    "'en-US', { day: 'numeric' }",
    "'en-US', { year: '2-digit', month: 'numeric', day: 'numeric' }",
    "'en-US', { hour: '2-digit', minute: '2-digit' }",
    "'en-US', { hour: 'numeric' }",
    "'en-US', { hour: 'numeric', minute: '2-digit', hour12: true }",
    "'en-US', { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' }",
    "'en-US', { minute: '2-digit', second: '2-digit' }",
    "'en-US', { dateStyle: 'full' }",
    "'en-US', { dateStyle: 'long' }",
    "'en-US', { dateStyle: 'medium' }",
    "'en-US', { dateStyle: 'short' }",
    "'en-US', { timeStyle: 'short' }",
    "'en-US', { timeStyle: 'medium' }",
    "'en-US', { timeStyle: 'long' }",
    "'en-US', { timeStyle: 'full' }",
    "'en-US', { dateStyle: 'medium', timeStyle: 'short' }",
    "'en-US', { dateStyle: 'full', timeStyle: 'long' }",
    "'en-US', { dateStyle: 'short', timeStyle: 'medium' }",
    "'en-US', { year: 'numeric', month: 'long', day: 'numeric', hour: 'numeric', minute: '2-digit' }",
    "'en-US', { year: 'numeric', month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', timeZoneName: 'short' }",
    "'en-US', { dateStyle: 'full', year: 'numeric' }",
    "'en-US', { month: 'nope' }",
    "'en-US', { hour: 'numeric', minute: '2-digit', second: '2-digit', fractionalSecondDigits: 3 }",
    "'en-CA'",
    "'sv-SE'",
    "'en-GB'",
  ];
  process.env.TZ = "UTC";
  same(
    realm,
    dates.flatMap((date) =>
      options.flatMap((option) =>
        ["toLocaleString", "toLocaleDateString", "toLocaleTimeString"].map(
          (method) => `new Date(${date}).${method}(${option})`,
        ),
      ),
    ),
  );
  same(realm, [
    "new Date(0).toLocaleString('en-US', { timeZone: 'Nope/Zone' })",
    "Date.prototype.toLocaleString.call({})",
  ]);
});

inEachEngine("strings sort as ICU sorts Latin text", (realm) => {
  const words = [
    "a",
    "A",
    "b",
    "B",
    "á",
    "Á",
    "ä",
    "z",
    "Z",
    "résumé",
    "resume",
    "Résumé",
    "résume",
    "resumes",
    "co-op",
    "coop",
    "co op",
    "10",
    "9",
    "1",
    "a10",
    "a9",
    "a1",
    "",
    " ",
    "_",
    "-",
    "$",
    "ñ",
    "n",
    "o",
    "ø",
    "p",
    "ß",
    "ss",
    "st",
    "æ",
    "ae",
    "af",
    "Zebra",
    "apple",
    "Äpfel",
    "é",
    "e",
    "f",
    "E",
    "É",
    "ab",
    "aB",
    "Ab",
    "AB",
    "#1",
    "1a",
    "a b",
    "a-b",
    "ł",
    "l",
    "m",
    "и",
    "а",
    "Б",
    "日本",
    "file10.txt",
    "file9.txt",
    "file09.txt",
    "x²",
  ];
  const pairs = words.flatMap((left) => words.map((right) => [left, right]));
  const expected = (options) => pairs.map(([left, right]) => Math.sign(left.localeCompare(right, "en-US", options)));
  for (const options of [
    undefined,
    { sensitivity: "base" },
    { sensitivity: "accent" },
    { sensitivity: "case" },
    { numeric: true },
    { numeric: true, sensitivity: "base" },
  ]) {
    const actual = realm.evaluate(
      `return ${JSON.stringify(pairs)}.map(([l, r]) => l.localeCompare(r, 'en-US', ${JSON.stringify(options)}))`,
    );
    const wanted = expected(options);
    const wrong = pairs
      .map((pair, index) => `${pair} node ${wanted[index]} here ${actual[index]}`)
      .filter((_, index) => wanted[index] !== actual[index]);
    assert.equal(wrong.length, 0, `${JSON.stringify(options)}\n${wrong.join("\n")}`);
  }
  same(realm, [
    "'ä'.localeCompare('z', 'de')",
    "'a'.localeCompare('b', undefined, { sensitivity: 'nope' })",
    "'İ'.toLocaleLowerCase('en-US').length",
    "'ß'.toLocaleUpperCase()",
    "String.prototype.localeCompare.call(null, 'a')",
    "'a'.localeCompare()",
  ]);
});
