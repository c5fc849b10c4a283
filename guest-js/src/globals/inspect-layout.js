// How the console lays text out: quoting, display width, and when an object
// stays on one line. A port of the rules of Node's util.inspect (breakLength
// 80, compact 3), so that what an agent sees is what it has learnt to read.
(function (native) {
  "use strict";
  const { shared } = native;
  const { push, join, charCodeAt, stringIndexOf, stringSlice, repeat, padStart, padEnd, numberToString } = shared;
  const { min, max, sqrt, round, floor } = Math;
  const contains = (text, part) => stringIndexOf(text, part) !== -1;

  const BREAK_LENGTH = 80;
  const COMPACT = 3;
  // Strings inside a structure show this much, as in Node.
  const MAX_STRING = 10000;
  const LETTER_ESCAPES = {
    __proto__: null,
    8: "\\b",
    9: "\\t",
    10: "\\n",
    12: "\\f",
    13: "\\r",
    39: "\\'",
    92: "\\\\",
  };

  function escapeCode(code) {
    const hex = numberToString(code, 16);
    return LETTER_ESCAPES[code] ?? (code < 256 ? `\\x${shared.toUpperCase(padStart(hex, 2, "0"))}` : `\\u${hex}`);
  }

  // Escapes control characters, the backslash, lone surrogates and `quote`.
  function escapeText(text, quote) {
    let result = "";
    let last = 0;
    for (let index = 0; index < text.length; index++) {
      const code = charCodeAt(text, index);
      if (code >= 0xd800 && code <= 0xdfff) {
        const next = charCodeAt(text, index + 1);
        if (code < 0xdc00 && next >= 0xdc00 && next <= 0xdfff) {
          index++;
          continue;
        }
      } else if (code !== quote && code !== 92 && code >= 32 && !(code > 126 && code < 160)) {
        continue;
      }
      result += stringSlice(text, last, index) + escapeCode(code);
      last = index + 1;
    }
    return last === 0 ? text : result + stringSlice(text, last);
  }

  // Single quotes unless the text has some and other quotes would spare escapes.
  function quote(text) {
    if (contains(text, "'")) {
      if (!contains(text, '"')) return `"${escapeText(text, -1)}"`;
      if (!contains(text, "`") && !contains(text, "${")) return `\`${escapeText(text, -1)}\``;
    }
    return `'${escapeText(text, 39)}'`;
  }

  // A string inside a structure: long ones break after each line feed.
  function quoteNested(text, indentation) {
    let trailer = "";
    if (text.length > MAX_STRING) {
      const remaining = text.length - MAX_STRING;
      text = stringSlice(text, 0, MAX_STRING);
      trailer = `... ${remaining} more character${remaining > 1 ? "s" : ""}`;
    }
    if (text.length <= 16 || text.length <= BREAK_LENGTH - indentation - 4) return quote(text) + trailer;
    const lines = [];
    for (let start = 0; start < text.length;) {
      const feed = stringIndexOf(text, "\n", start);
      const end = feed === -1 ? text.length : feed + 1;
      push(lines, quote(stringSlice(text, start, end)));
      start = end;
    }
    return join(lines, ` +\n${repeat(" ", indentation + 2)}`) + trailer;
  }

  // Columns a terminal gives to the text: two for East Asian wide characters
  // and emoji, none for combining marks.
  function width(text) {
    let columns = 0;
    for (let index = 0; index < text.length; index++) {
      const code = charCodeAt(text, index);
      if (code < 0x300) columns += code < 32 || (code > 126 && code < 160) ? 0 : 1;
      else if (
        code < 0x370 ||
        (code >= 0x200b && code <= 0x200f) ||
        (code >= 0x20d0 && code <= 0x20ff) ||
        (code >= 0xfe00 && code <= 0xfe0f)
      )
        continue;
      else if (code >= 0xd800 && code <= 0xdbff) {
        columns += (code >= 0xd83c && code <= 0xd83e) || (code >= 0xd840 && code <= 0xd8bf) ? 2 : 1;
        index++;
      } else
        columns +=
          (code >= 0x1100 && code <= 0x115f) ||
          (code >= 0x2e80 && code <= 0xa4cf) ||
          (code >= 0xac00 && code <= 0xd7a3) ||
          (code >= 0xf900 && code <= 0xfaff) ||
          (code >= 0xfe30 && code <= 0xfe6f) ||
          (code >= 0xff00 && code <= 0xff60) ||
          (code >= 0xffe0 && code <= 0xffe6)
            ? 2
            : 1;
    }
    return columns;
  }

  // Lines up the short items of a long array in columns. `extra` says that the
  // last item is "... n more items"; numbers are aligned to the right.
  function groupItems(items, indentation, extra, numeric) {
    const count = extra ? items.length - 1 : items.length;
    const lengths = [];
    let total = 0;
    let longest = 0;
    for (let index = 0; index < count; index++) {
      const length = width(items[index]);
      push(lengths, length);
      total += length + 2;
      longest = max(longest, length);
    }
    const actual = longest + 2;
    if (actual * 3 + indentation >= BREAK_LENGTH || (total / actual <= 5 && longest > 6)) return items;
    const biased = max(actual - 3 - sqrt(actual - total / items.length), 1);
    const columns = min(
      round(sqrt(2.5 * biased * count) / biased),
      floor((BREAK_LENGTH - indentation) / actual),
      COMPACT * 4,
      15,
    );
    if (columns <= 1) return items;
    const widths = [];
    for (let column = 0; column < columns; column++) {
      let widest = 0;
      for (let index = column; index < count; index += columns) widest = max(widest, lengths[index]);
      push(widths, widest + 2);
    }
    const pad = numeric ? padStart : padEnd;
    const rows = [];
    for (let start = 0; start < count; start += columns) {
      const end = min(start + columns, count) - 1;
      let row = "";
      for (let index = start; index < end; index++) {
        row += pad(`${items[index]}, `, widths[index - start] + items[index].length - lengths[index], " ");
      }
      row += numeric
        ? padStart(items[end], widths[end - start] + items[end].length - lengths[end] - 2, " ")
        : items[end];
      push(rows, row);
    }
    if (extra) push(rows, items[count]);
    return rows;
  }

  // Joins the parts of one object. `depthBelow`: levels nested inside it;
  // up to COMPACT of them may share a line with it.
  function joinParts(items, base, open, close, indentation, depthBelow, array) {
    const count = items.length;
    if (array !== undefined && count > 6) items = groupItems(items, indentation, array.extra, array.numeric);
    const head = base === "" ? open : `${base} ${open}`;
    if (depthBelow < COMPACT && count === items.length) {
      let total = 2 * count + indentation + open.length + base.length + 10;
      for (let index = 0; index < count && total <= BREAK_LENGTH; index++) total += items[index].length;
      if (total <= BREAK_LENGTH && !contains(base, "\n")) {
        const line = join(items, ", ");
        if (!contains(line, "\n")) return `${head} ${line} ${close}`;
      }
    }
    const feed = `\n${repeat(" ", indentation)}`;
    return `${head}${feed}  ${join(items, `,${feed}  `)}${feed}${close}`;
  }

  shared.layout = { __proto__: null, escapeText, quote, quoteNested, width, joinParts };
})
