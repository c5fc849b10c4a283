import { files } from '@capabilities/mcp-files';
import { memory } from '@capabilities/mcp-memory';

const listing = await files.listDirectory({ path: '.' });
const names = listing.content.match(/\S+\.txt/g) ?? [];

// All notes at once; each is a call of its own.
const notes = await Promise.all(names.map((name) => files.readTextFile({ path: name })));
const entities = notes.map((note) => {
  const [name, ...observations] = note.content.trim().split('\n');
  return { name, entityType: 'person', observations };
});

const { entities: added } = await memory.createEntities({ entities });
console.log(`${notes.length} notes read, ${added.length} new`);

const graph = await memory.searchNodes({ query: 'looms' });
export default graph.entities.map((entity) => entity.name);
