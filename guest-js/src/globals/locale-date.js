// Date toLocaleString, toLocaleDateString and toLocaleTimeString, as en-US
// writes them. The sandbox's zone is UTC; other zones are refused, since a
// time shown in the wrong zone would look right.
(function (native) {
  "use strict";
  const { shared } = native;
  const { hidden, uncurryThis, stringSlice, stringIndexOf, padStart, toLowerCase, dateGetTime } = shared;
  const MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
  ];
  const WEEKDAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
  const ZONES = " utc gmt z etc/utc etc/gmt etc/zulu +00:00 +0000 +00 ";
  const DATE_STYLES = {
    __proto__: null,
    full: { weekday: "long", year: "numeric", month: "long", day: "numeric" },
    long: { year: "numeric", month: "long", day: "numeric" },
    medium: { year: "numeric", month: "short", day: "numeric" },
    short: { year: "2-digit", month: "numeric", day: "numeric" },
  };
  const TIME_STYLES = {
    __proto__: null,
    full: { hour: "numeric", minute: "2-digit", second: "2-digit", timeZoneName: "long" },
    long: { hour: "numeric", minute: "2-digit", second: "2-digit", timeZoneName: "short" },
    medium: { hour: "numeric", minute: "2-digit", second: "2-digit" },
    short: { hour: "numeric", minute: "2-digit" },
  };
  // Which locales write numbers in dates otherwise; the rest is as en-US.
  // These are the two that scripts ask for to get a fixed form.
  const NUMERIC_ORDER = { __proto__: null, "en-gb": "d/m/y", "en-ca": "y-m-d", "sv-se": "y-m-d", sv: "y-m-d" };

  const PARTS = ["weekday", "year", "month", "day", "hour", "minute", "second"];
  const { assign } = Object;
  const { prototype } = Date;
  const getters = {
    __proto__: null,
    year: uncurryThis(prototype.getUTCFullYear),
    month: uncurryThis(prototype.getUTCMonth),
    day: uncurryThis(prototype.getUTCDate),
    weekday: uncurryThis(prototype.getUTCDay),
    hour: uncurryThis(prototype.getUTCHours),
    minute: uncurryThis(prototype.getUTCMinutes),
    second: uncurryThis(prototype.getUTCSeconds),
    millisecond: uncurryThis(prototype.getUTCMilliseconds),
  };

  const two = (number) => padStart(`${number}`, 2, "0");
  const sized = (number, size) => (size === "2-digit" ? stringSlice(two(number), -2) : `${number}`);
  const named = (name, size) => (size === "long" ? name : stringSlice(name, 0, size === "narrow" ? 1 : 3));

  const CHOICES = {
    __proto__: null,
    weekday: " long short narrow ",
    year: " numeric 2-digit ",
    month: " numeric 2-digit long short narrow ",
    day: " numeric 2-digit ",
    hour: " numeric 2-digit ",
    minute: " numeric 2-digit ",
    second: " numeric 2-digit ",
    timeZoneName: " short long ",
    dateStyle: " full long medium short ",
    timeStyle: " full long medium short ",
    hourCycle: " h11 h12 h23 h24 ",
  };
  function option(options, name) {
    const value = options[name];
    if (value !== undefined && stringIndexOf(CHOICES[name], ` ${value} `) === -1)
      throw new RangeError(`Value ${value} out of range for Intl.DateTimeFormat options property ${name}`);
    return value;
  }

  function refuseOtherZones(zone) {
    if (zone === undefined || stringIndexOf(ZONES, ` ${toLowerCase(`${zone}`)} `) !== -1) return;
    throw new RangeError(
      `Time zone ${zone} is not available: the sandbox has no time zone data, only UTC. Add the offset to the date by hand and format with timeZone: 'UTC'.`,
    );
  }

  // The parts to show. `wanted`: "date", "time" or "any"; what is shown when
  // no part was asked for.
  function fieldsOf(rawOptions, wanted) {
    if (rawOptions === null) throw new TypeError("Cannot convert null to object");
    const options = rawOptions ?? { __proto__: null };
    refuseOtherZones(options.timeZone);
    const fields = { __proto__: null, digits: 0 };
    let dated = false;
    let timed = false;
    for (let index = 0; index < PARTS.length; index++) {
      const name = PARTS[index];
      if ((fields[name] = option(options, name)) === undefined) continue;
      if (index < 4) dated = true;
      else timed = true;
    }
    fields.timeZoneName = option(options, "timeZoneName");
    if (options.fractionalSecondDigits !== undefined) {
      fields.digits = +options.fractionalSecondDigits;
      if (!(fields.digits >= 1 && fields.digits <= 3))
        throw new RangeError("fractionalSecondDigits value is out of range.");
      timed = true;
    }
    const dateStyle = option(options, "dateStyle");
    const timeStyle = option(options, "timeStyle");
    if (dateStyle !== undefined || timeStyle !== undefined) {
      if (dated || timed)
        throw new TypeError("dateStyle and timeStyle cannot be combined with single parts of the date");
      if ((dateStyle !== undefined && wanted === "time") || (timeStyle !== undefined && wanted === "date"))
        throw new TypeError(
          `Invalid option : ${dateStyle !== undefined && wanted === "time" ? "dateStyle" : "timeStyle"}`,
        );
      assign(fields, DATE_STYLES[dateStyle], TIME_STYLES[timeStyle]);
    } else {
      if (wanted === "date" ? !dated : wanted === "any" && !dated && !timed)
        fields.year = fields.month = fields.day = "numeric";
      if (wanted === "time" ? !timed : wanted === "any" && !dated && !timed) {
        fields.hour = "numeric";
        fields.minute = fields.second = "2-digit";
      }
    }
    fields.at = dateStyle === "full" || dateStyle === "long" || (dateStyle === undefined && fields.month === "long");
    const cycle = option(options, "hourCycle");
    fields.twelve =
      options.hour12 !== undefined
        ? !!options.hour12
        : cycle === undefined
          ? undefined
          : cycle === "h11" || cycle === "h12";
    return fields;
  }

  function dateText(date, fields, order) {
    const weekday = fields.weekday === undefined ? "" : named(WEEKDAYS[getters.weekday(date)], fields.weekday);
    const year = fields.year === undefined ? "" : sized(getters.year(date), fields.year);
    const day = fields.day === undefined ? "" : sized(getters.day(date), fields.day);
    let text;
    if (fields.month === undefined || fields.month === "numeric" || fields.month === "2-digit") {
      const month = fields.month === undefined ? "" : sized(getters.month(date) + 1, fields.month);
      if (order === "y-m-d" && year !== "" && day !== "") text = `${year}-${two(month)}-${two(day)}`;
      else if (order === "d/m/y" && month !== "") text = joined("/", day === "" ? "" : two(day), two(month), year);
      else text = joined("/", month, day, year);
    } else {
      const month = named(MONTHS[getters.month(date)], fields.month);
      if (order === "d/m/y") text = joined(" ", day, month, year);
      else text = joined(day === "" ? " " : ", ", joined(" ", month, day), year);
    }
    return fields.weekday !== undefined && text === day && day !== ""
      ? `${day} ${weekday}`
      : joined(", ", weekday, text);
  }

  function joined(separator, first, second, third = "") {
    let text = first;
    if (second !== "") text += (text === "" ? "" : separator) + second;
    if (third !== "") text += (text === "" ? "" : separator) + third;
    return text;
  }

  function timeText(date, fields, twelve) {
    const minute = getters.minute(date);
    const second = getters.second(date);
    let text = "";
    let suffix = "";
    if (fields.hour !== undefined) {
      let hour = getters.hour(date);
      if (twelve) {
        suffix = hour < 12 ? " AM" : " PM";
        hour = hour % 12 || 12;
      }
      text = twelve ? sized(hour, fields.hour) : two(hour);
    }
    // Next to another part of the time, minutes and seconds have two digits.
    if (fields.minute !== undefined)
      text = text !== "" ? `${text}:${two(minute)}` : fields.second !== undefined ? two(minute) : `${minute}`;
    if (fields.second !== undefined)
      text = text === "" ? `${fields.minute === undefined ? second : two(second)}` : `${text}:${two(second)}`;
    if (fields.digits > 0) {
      const fraction = stringSlice(padStart(`${getters.millisecond(date)}`, 3, "0"), 0, fields.digits);
      text += fields.second === undefined ? fraction : `.${fraction}`;
    }
    return text + suffix;
  }

  function format(date, locales, options, wanted) {
    const time = dateGetTime(date);
    if (time !== time) return "Invalid Date";
    const fields = fieldsOf(options, wanted);
    const locale = toLowerCase(`${(shared.isArray(locales) ? locales[0] : locales) ?? "en-US"}`);
    const order = NUMERIC_ORDER[locale];
    const twelve = fields.twelve ?? (order === undefined || locale === "en-ca");
    const day = dateText(date, fields, order);
    const weekdayOnly = fields.year === undefined && fields.month === undefined && fields.day === undefined;
    const separator = fields.at ? " at " : weekdayOnly || (order === "y-m-d" && locale !== "en-ca") ? " " : ", ";
    let text = joined(separator, day, timeText(date, fields, twelve));
    if (fields.timeZoneName !== undefined)
      text += `${fields.hour === undefined && fields.minute === undefined && fields.second === undefined ? ", " : " "}${fields.timeZoneName === "long" ? "Coordinated Universal Time" : "UTC"}`;
    return text;
  }

  const methods = {
    toLocaleString(locales = undefined, options = undefined) {
      return format(this, locales, options, "any");
    },
    toLocaleDateString(locales = undefined, options = undefined) {
      return format(this, locales, options, "date");
    },
    toLocaleTimeString(locales = undefined, options = undefined) {
      return format(this, locales, options, "time");
    },
  };
  for (const name of Object.keys(methods)) hidden(prototype, name, methods[name]);
})
