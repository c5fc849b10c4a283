import { desk } from '@capabilities/desk';

const { trains } = await desk.trains({ from: 'Harbour', to: 'Lakeside' });
const morning = trains.filter((train) => train.hour < 12);
const first = await desk.train({ id: morning[0].id });
const lines = morning.map((train) => `${train.hour}:${String(train.minute).padStart(2, '0')} platform ${train.platform}`);
const noted = await desk.note({ text: `${first.operator}: ${lines.join(', ')}`, count: morning.length });

export default { text: noted.text, count: noted.count, stops: first.stops.length };
