import { desk } from '@capabilities/desk';

const calls = Array.from({ length: 100 }, (_, index) => desk.note({ text: `note ${index}`, count: index }));
const notes = await Promise.all(calls);

export default notes.reduce((sum, note) => sum + note.count, 0);
