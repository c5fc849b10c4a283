import { desk } from '@capabilities/desk';

const [{ records }, { purchases }] = await Promise.all([desk.records({ count: 10000 }), desk.purchases({ count: 10000 })]);

const byId = new Map(records.map((record) => [record.id, record]));
const joined = purchases
  .filter(({ status, amount }) => status !== 'cancelled' && amount >= 100)
  .map((purchase) => ({ ...purchase, buyer: byId.get(purchase.record) }))
  .filter(({ buyer }) => buyer && buyer.score >= 250 && !buyer.tags.includes('t9'));

const groups = {};
for (const { buyer, amount, day } of joined) {
  const month = day.slice(0, 7);
  const key = `${buyer.city}/${month}`;
  groups[key] ??= { city: buyer.city, month, count: 0, total: 0, largest: 0, buyers: new Set() };
  const group = groups[key];
  group.count++;
  group.total += amount;
  group.largest = Math.max(group.largest, amount);
  group.buyers.add(buyer.id);
}

const rows = Object.values(groups)
  .map(({ buyers, ...group }) => ({ ...group, buyers: buyers.size, average: Math.round(group.total / group.count) }))
  .sort((a, b) => b.total - a.total || a.city.localeCompare(b.city) || a.month.localeCompare(b.month));

const largest = [...joined]
  .sort((a, b) => b.amount - a.amount || a.record - b.record)
  .slice(0, 3)
  .map(({ buyer, amount, day }) => `${buyer.name} (${buyer.city}): ${amount.toFixed(2)} on ${day}`);

const perCity = rows.reduce((totals, { city, total }) => ({ ...totals, [city]: (totals[city] ?? 0) + total }), {});

export default { purchases: joined.length, groups: rows.length, best: rows[0], largest, perCity };
