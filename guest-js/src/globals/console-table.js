// console.table: rows and columns in a frame, as Node draws it.
(function (native) {
  "use strict";
  const { shared } = native;
  const {
    push,
    join,
    indexOf,
    repeat,
    keys: keysOf,
    descriptorOf,
    className,
    unwrap,
    hasOwn,
    inspect,
    mapForEach,
    setForEach,
    layout,
  } = shared;

  const { max } = Math;

  // Rows and columns drawn; more would not be read, and cost width × height.
  const MAX_ROWS = 1000;
  const MAX_COLUMNS = 100;

  const isObject = (value) => typeof value === "object" && value !== null;
  // One cell, without running getters: a nested object is not opened.
  function cell(descriptor) {
    if (descriptor === undefined) return "";
    return hasOwn(descriptor, "value") ? inspect(descriptor.value, 0) : "[Getter]";
  }

  function line(left, fill, middle, right, widths) {
    const parts = [];
    for (let index = 0; index < widths.length; index++) push(parts, repeat(fill, widths[index] + 2));
    return left + join(parts, middle) + right;
  }

  function row(cells, widths) {
    const parts = [];
    for (let index = 0; index < widths.length; index++)
      push(parts, cells[index] + repeat(" ", widths[index] - layout.width(cells[index])));
    return `│ ${join(parts, " │ ")} │`;
  }

  // The rows, the name of the index column, whether keys (of a Map) have a
  // column of their own, and whether objects are opened into columns.
  function rowsOf(data) {
    const rows = [];
    const add = (index, value, key) =>
      void (rows.length < MAX_ROWS && push(rows, { __proto__: null, index, value, key }));
    const kind = className(data);
    if (kind === "Map") {
      mapForEach(data, (value, key) => add(`${rows.length}`, value, inspect(key, 0)));
      return { rows, name: "(iteration index)", keyed: true, opened: false };
    }
    if (kind === "Set") {
      setForEach(data, (value) => add(`${rows.length}`, value));
      return { rows, name: "(iteration index)", keyed: false, opened: false };
    }
    const names = keysOf(data);
    for (let index = 0; index < names.length && index < MAX_ROWS; index++)
      add(names[index], descriptorOf(data, names[index])?.value);
    return { rows, name: "(index)", keyed: false, opened: true };
  }

  // undefined when the data is no table, so that the caller logs it plainly.
  shared.table = function table(data, columns) {
    if (!isObject(data) || unwrap(data) === null) return undefined;
    const { rows, name, keyed, opened } = rowsOf(unwrap(data));
    const names = [];
    let values = false;
    for (let index = 0; index < rows.length; index++) {
      const value = opened && isObject(rows[index].value) ? unwrap(rows[index].value) : null;
      rows[index].fields = value;
      if (value === null) values = true;
      else if (columns === undefined) {
        const keys = keysOf(value);
        for (let at = 0; at < keys.length && names.length < MAX_COLUMNS; at++)
          if (indexOf(names, keys[at]) === -1) push(names, keys[at]);
      }
    }
    if (columns !== undefined) for (let index = 0; index < columns.length; index++) push(names, `${columns[index]}`);

    const head = keyed ? [name, "Key"] : [name];
    for (let index = 0; index < names.length; index++) push(head, names[index]);
    if (values) push(head, "Values");
    const widths = [];
    for (let index = 0; index < head.length; index++) push(widths, layout.width(head[index]));
    const lines = [];
    for (let index = 0; index < rows.length; index++) {
      const { index: label, key, value, fields } = rows[index];
      const cells = keyed ? [label, key] : [label];
      for (let at = 0; at < names.length; at++)
        push(cells, fields !== null && hasOwn(fields, names[at]) ? cell(descriptorOf(fields, names[at])) : "");
      if (values) push(cells, fields === null ? inspect(value, 0) : "");
      for (let at = 0; at < cells.length; at++) widths[at] = max(widths[at], layout.width(cells[at]));
      push(lines, cells);
    }
    const drawn = [line("┌", "─", "┬", "┐", widths), row(head, widths), line("├", "─", "┼", "┤", widths)];
    for (let index = 0; index < lines.length; index++) push(drawn, row(lines[index], widths));
    push(drawn, line("└", "─", "┴", "┘", widths));
    return join(drawn, "\n");
  };
})
