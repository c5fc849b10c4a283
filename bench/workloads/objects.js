function stock(count) {
  const items = [];
  for (let i = 0; i < count; i++) items.push({ id: i, shelf: { row: i % 17, column: i % 5 }, left: i % 100, sold: 0 });
  for (let round = 1; round <= 4; round++) {
    for (const item of items) {
      if (item.left < round) continue;
      item.left -= round;
      item.sold += round * item.shelf.row;
      item.shelf.column = (item.shelf.column + round) % 5;
    }
  }
  const rows = {};
  for (const { shelf, sold } of items) {
    const row = `row${shelf.row}`;
    rows[row] = (rows[row] ?? 0) + sold + shelf.column;
  }
  return Object.values(rows).reduce((sum, value) => sum + value, 0);
}

export default stock(10000);
