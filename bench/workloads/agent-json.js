import { desk } from '@capabilities/desk';

const { text } = await desk.document({ items: 6600 });
const document = JSON.parse(text);

const seen = { objects: 0, arrays: 0, numbers: 0, texts: 0, others: 0, deepest: 0 };
function walk(value, depth) {
  seen.deepest = Math.max(seen.deepest, depth);
  if (Array.isArray(value)) {
    seen.arrays++;
    value.forEach((each) => walk(each, depth + 1));
  } else if (value !== null && typeof value === 'object') {
    seen.objects++;
    for (const [key, each] of Object.entries(value)) {
      if (each === null) delete value[key];
      else walk(each, depth + 1);
    }
  } else if (typeof value === 'number') seen.numbers++;
  else if (typeof value === 'string') seen.texts++;
  else seen.others++;
}
walk(document, 0);

for (const shelf of document.shelves) {
  for (const item of shelf.items) {
    item.price = Math.round(item.price * 110) / 100;
    item.title = item.title.trim().replace('Item', 'Article');
    item.area = item.size.width * item.size.height;
    item.tags.push(shelf.name);
    delete item.size;
  }
  shelf.items = shelf.items.filter((item) => item.inStock);
  shelf.worth = shelf.items.reduce((sum, item) => sum + item.price, 0);
}

const changed = JSON.stringify(document);
const again = JSON.parse(changed);
const worth = again.shelves.reduce((sum, shelf) => sum + shelf.worth, 0);

export default { before: text.length, after: changed.length, seen, worth: Math.round(worth), first: again.shelves[0].items[0] };
