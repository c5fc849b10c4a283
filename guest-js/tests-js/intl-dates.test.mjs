// Intl.DateTimeFormat against Node's own.
import assert from "node:assert/strict";
import { inEachEngine } from "./realm.mjs";
import { LOCALES, choices, same, text } from "./same.mjs";

const SIZES = [undefined, "numeric", "2-digit"];
const WORDS = [undefined, "narrow", "short", "long"];
const TIMES = ["Date.UTC(2025, 0, 5, 9, 7, 3, 45)", "Date.UTC(1999, 10, 30, 22, 45, 59, 999)"];
const dateTexts = (locale, options, times = TIMES) =>
  times.flatMap((time) =>
    ["format", "formatToParts"].map(
      (method) => `new Intl.DateTimeFormat('${locale}', ${text(options)}).${method}(${time})`,
    ),
  );

inEachEngine("dates by their fields", (realm) => {
  const fields = choices({ weekday: WORDS, year: SIZES, month: [...SIZES, "narrow", "short", "long"], day: SIZES });
  same(
    realm,
    LOCALES.flatMap((locale) => fields.flatMap((options) => dateTexts(locale, options))),
  );
});

inEachEngine("times by their fields, with and without a date", (realm) => {
  const clocks = choices({ hour: SIZES, minute: SIZES, second: SIZES, hourCycle: ["h12", "h23"] });
  const dates = [
    {},
    { weekday: "short" },
    { weekday: "long" },
    { month: "long" },
    { year: "numeric", month: "2-digit", day: "2-digit" },
    { weekday: "short", year: "numeric", month: "short", day: "numeric" },
    { weekday: "long", month: "long", day: "numeric" },
  ];
  same(
    realm,
    LOCALES.flatMap((locale) =>
      clocks.flatMap((clock) => dates.flatMap((date) => dateTexts(locale, { ...date, ...clock }, [TIMES[0]]))),
    ),
  );
  same(
    realm,
    LOCALES.flatMap((locale) =>
      choices({ hour: [undefined, "numeric"], hour12: [undefined, true, false], fractionalSecondDigits: [1, 2, 3] })
        .map((options) => ({ minute: "2-digit", second: "2-digit", ...options }))
        .flatMap((options) => dateTexts(locale, options)),
    ),
  );
});

inEachEngine("times with a zone", (realm) => {
  // Hours alone are written otherwise by the versions of ICU.
  const clocks = choices({ hour: SIZES, minute: SIZES, second: SIZES, hourCycle: ["h12", "h23"] }).filter(
    ({ hour, minute }) => !hour || minute,
  );
  const dates = [{}, { weekday: "short" }, { month: "long" }, { year: "numeric", month: "short", day: "numeric" }];
  const zones = ["short", "long", "shortOffset", "longOffset"].map((timeZoneName) => ({
    timeZoneName,
    timeZone: "Asia/Tokyo",
  }));
  same(
    realm,
    LOCALES.flatMap((locale) =>
      clocks.flatMap((clock) =>
        dates.flatMap((date) => zones.flatMap((zone) => dateTexts(locale, { ...date, ...clock, ...zone }, [TIMES[0]]))),
      ),
    ),
  );
});

inEachEngine("styles", (realm) => {
  const styles = [undefined, "full", "long", "medium", "short"];
  const options = choices({ dateStyle: styles, timeStyle: styles, hour12: [undefined, true, false] });
  same(
    realm,
    LOCALES.flatMap((locale) => options.flatMap((one) => dateTexts(locale, one))),
  );
});

inEachEngine("midnight and noon, as the newer standard has them", (realm) => {
  const shown = (locale, hour, hour12) =>
    realm.evaluate(
      `return new Date(Date.UTC(2025, 0, 1, ${hour})).toLocaleTimeString('${locale}', { hour: 'numeric', minute: 'numeric', hour12: ${hour12} })`,
    );
  assert.deepEqual(
    [shown("en-US", 0, true), shown("en-US", 12, true), shown("en-US", 0, false), shown("en-US", 12, false)],
    ["12:00 AM", "12:00 PM", "00:00", "12:00"],
  );
  assert.deepEqual(
    [shown("de", 0, true), shown("ja", 0, true), shown("ja", 12, true)],
    ["12:00 AM", "午前0:00", "午後0:00"],
  );
});

inEachEngine("time zones, their offsets and their names", (realm) => {
  const zones =
    "UTC America/New_York America/Los_Angeles America/Phoenix America/Sao_Paulo Europe/London Europe/Dublin Europe/Berlin " +
    "Europe/Moscow Africa/Cairo Asia/Kolkata Asia/Tokyo Asia/Kathmandu Australia/Sydney Australia/Adelaide Pacific/Auckland " +
    "Pacific/Honolulu america/chicago US/Eastern Etc/GMT+5 GMT";
  const times =
    "Date.UTC(2025,0,15,10,30) Date.UTC(2025,6,1,23,59,59) Date.UTC(2024,2,10,6,59,59) Date.UTC(2024,2,10,7) Date.UTC(2024,10,3,6)";
  const options = [
    { dateStyle: "short", timeStyle: "short" },
    { timeZoneName: "short" },
    { timeZoneName: "shortOffset", hour: "numeric", minute: "numeric" },
    { timeZoneName: "longOffset", hour: "2-digit", minute: "2-digit" },
    { weekday: "short", hour: "numeric", minute: "2-digit", timeZoneName: "short" },
    { dateStyle: "full", timeStyle: "long" },
    { year: "numeric", month: "short", day: "numeric", hour: "numeric", minute: "numeric", timeZoneName: "short" },
  ];
  same(
    realm,
    LOCALES.flatMap((locale) =>
      zones
        .split(" ")
        .flatMap((timeZone) => options.flatMap((one) => dateTexts(locale, { ...one, timeZone }, times.split(" ")))),
    ),
  );
  // Long names are there for the zones that people write of.
  const named = zones.split(" ").filter((zone) => !/Etc|Kathmandu/.test(zone));
  same(
    realm,
    LOCALES.flatMap((locale) =>
      named.flatMap((timeZone) => dateTexts(locale, { timeZone, timeZoneName: "long" }, times.split(" "))),
    ),
  );
  assert.match(
    realm.evaluate(
      "try { new Date(0).toLocaleString('en', { timeZone: 'Asia/Kathmandu', timeZoneName: 'long' }) } catch (e) { return `${e}` }",
    ),
    /^RangeError: The long name of time zone Asia\/Kathmandu is not known here.*longOffset/,
  );
  assert.equal(
    realm.evaluate("return new Date(0).toLocaleString('en', { timeZone: '+0530', timeZoneName: 'short' })"),
    "1/1/1970, 5:30:00 AM GMT+5:30",
  );
});
