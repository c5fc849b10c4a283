// Names of time zones, read off what ICU writes.

// Zones whose long names are known; with each come all that have the same.
// Other zones are shown by their offset alone.
const KNOWN = [
  "UTC Europe/London Europe/Dublin Europe/Lisbon Europe/Berlin Africa/Algiers Europe/Athens Africa/Tripoli",
  "Europe/Moscow Europe/Istanbul Asia/Jerusalem Asia/Riyadh Asia/Dubai Asia/Tehran Asia/Karachi Asia/Kolkata",
  "Asia/Dhaka Asia/Bangkok Asia/Jakarta Asia/Singapore Asia/Kuala_Lumpur Asia/Hong_Kong Asia/Shanghai Asia/Taipei",
  "Asia/Manila Asia/Seoul Asia/Tokyo Australia/Perth Australia/Darwin Australia/Adelaide Australia/Brisbane",
  "Australia/Sydney Pacific/Auckland Pacific/Honolulu America/Adak America/Anchorage America/Los_Angeles America/Phoenix",
  "America/Denver America/Mexico_City America/Chicago America/Panama America/New_York America/Puerto_Rico",
  "America/Halifax America/St_Johns America/Bogota America/Lima America/Caracas America/Santiago America/Sao_Paulo",
  "America/Argentina/Buenos_Aires Africa/Abidjan Africa/Lagos Africa/Johannesburg Africa/Nairobi Africa/Harare",
]
  .join(" ")
  .split(" ");
const WINTER = Date.UTC(2025, 0, 1, 12);
const SUMMER = Date.UTC(2025, 6, 1, 12);
const FIRST_YEAR = 1970;
const LAST_YEAR = 2030;
const KINDS = ["short", "long"];

const part = (locale, timeZone, time, timeZoneName) =>
  new Intl.DateTimeFormat(locale, { timeZone, timeZoneName })
    .formatToParts(time)
    .find(({ type }) => type === "timeZoneName").value;

function offset(zone, time) {
  const text = part("en-US", zone, time, "longOffset");
  const [, sign, hours, minutes, seconds] = /^GMT(?:([+-])(\d+):(\d+)(?::(\d+))?)?$/.exec(text);
  return sign === undefined ? 0 : (sign === "-" ? -1 : 1) * (hours * 3600 + minutes * 60 + (seconds ?? 0) * 1);
}

// How a locale writes offsets: what stands before them, and the signs.
export function offsets(locale) {
  const [west, east] = ["America/New_York", "Asia/Tokyo"].map((zone) => part(locale, zone, WINTER, "longOffset"));
  const [, prefix, minus] = /^(.*)(.)05:00$/.exec(west);
  const [, , plus] = /^(.*)(.)09:00$/.exec(east);
  return [prefix, minus, plus];
}

// The names of a zone in a locale: [short standard, short summer, long …]; ""
// where it is shown by its offset.
function names(locale, zone) {
  const [prefix] = offsets(locale);
  const shown = (time, kind) => {
    const name = part(locale, zone, time, kind);
    return name.startsWith(prefix) && /^[+\u2212-]\d{1,2}(:\d\d)?$/.test(name.slice(prefix.length)) ? "" : name;
  };
  const times = offset(zone, WINTER) <= offset(zone, SUMMER) ? [WINTER, SUMMER] : [SUMMER, WINTER];
  const all = KINDS.flatMap((kind) => times.map((time) => shown(time, kind)));
  if (offset(zone, WINTER) === offset(zone, SUMMER)) all[1] = all[3] = "";
  return zone === "UTC" ? ["UTC", "", all[2], ""] : all;
}

// From which year on the zone's names depend on its offset alone; 0 for always.
function since(zone) {
  const format = new Intl.DateTimeFormat("en-US", { timeZone: zone, timeZoneName: "long" });
  const german = new Intl.DateTimeFormat("de", { timeZone: zone, timeZoneName: "short" });
  const nameAt = (time) =>
    [format, german].map((one) => one.formatToParts(time).find(({ type }) => type === "timeZoneName").value).join();
  const [low, high] = [WINTER, SUMMER].map((time) => [offset(zone, time), nameAt(time)]).sort((a, b) => a[0] - b[0]);
  let year = 0;
  for (let month = 0; month < (LAST_YEAR - FIRST_YEAR) * 12; month++)
    for (const day of [1, 15]) {
      const time = Date.UTC(FIRST_YEAR, month, day, 12);
      const now = offset(zone, time);
      const expected = now === low[0] ? low[1] : now === high[0] ? high[1] : undefined;
      if (nameAt(time) !== expected) year = new Date(time).getUTCFullYear() + 1;
    }
  return year;
}

// Which names a zone has: `names` of each locale by group, and the zones of
// each group with the year since which they have them.
export function zones(locales, all) {
  const vectors = new Map(KNOWN.map((zone, group) => [JSON.stringify(locales.map((it) => names(it, zone))), group]));
  if (vectors.size !== KNOWN.length) throw new Error("two known zones have the same names");
  const members = KNOWN.map(() => []);
  const others = [];
  for (const zone of all) {
    let found;
    try {
      found = locales.map((locale) => names(locale, zone));
    } catch {
      continue; // a zone that this ICU does not know
    }
    const group = vectors.get(JSON.stringify(found));
    if (group === undefined) {
      if (found.some(([short]) => short !== "")) others.push(zone);
      continue;
    }
    const year = since(zone);
    if (year < LAST_YEAR) members[group].push(year === 0 ? zone : `${zone}:${year}`);
    else others.push(zone);
  }
  const table = locales.map((locale) => KNOWN.map((zone) => names(locale, zone)));
  return { members: members.map((list) => list.join(" ")).join("|"), nameless: others, table };
}
