// Time zones: which one is meant, how far it is from UTC at an instant, and
// how a locale calls it. The engine has the zone data (native.zoneOffset).
(function (native) {
  "use strict";
  const { shared } = native;
  const { stringSlice, stringIndexOf, split, padStart, toLowerCase, matches, charCodeAt } = shared;
  const { section } = shared.intl;
  const { parse } = JSON;
  const { floor } = Math;
  const { Date } = globalThis;
  // Names of IANA have at most 32 characters.
  const MAX_NAME = 40;
  const UTC_NAMES =
    " utc gmt etc/utc etc/gmt etc/uct etc/universal etc/zulu uct universal zulu gmt0 gmt+0 gmt-0 etc/gmt0 etc/gmt+0 etc/gmt-0 etc/greenwich greenwich ";
  const OFFSET = /^[+-]([01][0-9]|2[0-3])(:?[0-5][0-9])?$/;
  // Two instants at which a zone has its winter and its summer time.
  const WINTER = Date.UTC(2025, 0, 1);
  const SUMMER = Date.UTC(2025, 6, 1);

  // { name, fixed } of what a script asks for; `fixed` in seconds, where the
  // zone has one offset for all times.
  function zoneOf(value) {
    if (value === undefined) return { __proto__: null, name: "UTC", fixed: 0 };
    const text = `${value}`;
    if (text.length <= MAX_NAME) {
      if (stringIndexOf(UTC_NAMES, ` ${toLowerCase(text)} `) !== -1) return { __proto__: null, name: "UTC", fixed: 0 };
      if (matches(OFFSET, text)) {
        const minutes = text.length === 3 ? 0 : +stringSlice(text, -2);
        const fixed = (charCodeAt(text, 0) === 45 ? -60 : 60) * (+stringSlice(text, 1, 3) * 60 + minutes);
        const sign = fixed < 0 ? "-" : "+";
        return { __proto__: null, name: `${sign}${stringSlice(text, 1, 3)}:${padStart(`${minutes}`, 2, "0")}`, fixed };
      }
      const name = native.zoneName(text);
      if (name !== undefined && name !== null) return { __proto__: null, name, fixed: undefined };
    }
    throw new RangeError(
      `Invalid time zone specified: ${stringSlice(text, 0, MAX_NAME)}. Use a name of IANA, such as Europe/Berlin, or an offset, such as +05:30.`,
    );
  }

  // Seconds east of UTC.
  const offsetAt = (zone, time) => zone.fixed ?? native.zoneOffset(zone.name, floor(time / 1000));

  // GMT+5:30, or GMT+05:30 for the long form.
  function offsetName(data, seconds, isLong) {
    const [prefix, minus, plus] = data.offsets;
    const size = seconds < 0 ? -seconds : seconds;
    const hours = `${floor(size / 3600)}`;
    const minutes = floor(size / 60) % 60;
    let text = `${prefix}${seconds < 0 ? minus : plus}${isLong ? padStart(hours, 2, "0") : hours}`;
    if (isLong || minutes !== 0 || size % 60 !== 0) text += `:${padStart(`${minutes}`, 2, "0")}`;
    return size % 60 === 0 ? text : `${text}:${padStart(`${size % 60}`, 2, "0")}`;
  }

  // Name of a zone → [which group of names it has, since which year].
  let groups;
  function groupOf(name) {
    if (groups === undefined) {
      groups = { __proto__: null };
      const lists = split(parse(shared.zoneGroups), "|");
      for (let index = 0; index < lists.length; index++) {
        const members = split(lists[index], " ");
        for (let member = 0; member < members.length; member++) {
          const [zone, year = "0"] = split(members[member], ":");
          groups[zone] = [index, +year];
        }
      }
      const nameless = split(parse(shared.namelessZones), " ");
      for (let index = 0; index < nameless.length; index++) groups[nameless[index]] ??= [-1, 0];
    }
    return groups[name];
  }

  function unnamed(zone, kind) {
    return new RangeError(
      `The ${kind} name of time zone ${zone.name} is not known here for this date. Use timeZoneName: '${kind}Offset'.`,
    );
  }

  // The zone's name at an instant, in one of the forms of timeZoneName.
  function zoneNameAt(locale, data, zone, time, year, kind) {
    const seconds = offsetAt(zone, time);
    if (kind === "shortOffset" || kind === "longOffset") return offsetName(data, seconds, kind === "longOffset");
    const isLong = kind === "long";
    if (zone.fixed !== undefined && zone.name !== "UTC") return offsetName(data, seconds, isLong);
    const group = groupOf(zone.name);
    if (group === undefined) {
      // Its short name is its offset, in every locale.
      if (isLong) throw unnamed(zone, kind);
      return offsetName(data, seconds, false);
    }
    if (group[0] === -1 || year < group[1]) throw unnamed(zone, kind);
    const names = section(locale, "zone")[group[0]];
    const winter = offsetAt(zone, WINTER);
    const summer = offsetAt(zone, SUMMER);
    const standard = winter < summer ? winter : summer;
    if (seconds !== standard && seconds !== (winter < summer ? summer : winter)) throw unnamed(zone, kind);
    const name = names[(isLong ? 2 : 0) + (seconds === standard ? 0 : 1)];
    return name === "" ? offsetName(data, seconds, isLong) : name;
  }

  shared.zones = { __proto__: null, zoneOf, offsetAt, zoneNameAt };
})
