// What an agent writes: TypeScript against typed modules, instead of one tool call after another.
import { trainSchedule } from '@capabilities/train-schedule';

interface Departure {
  time: string;
  destination: string;
}

// The data stays here; only the answer goes back to the model.
const trips = await trainSchedule.getSchedule({ station: 'Central' });
const morning = trips.filter((trip) => trip.hour < 12);
console.log(`${trips.length} trains today, ${morning.length} before noon`);

// Calls run side by side.
const details = await Promise.all(morning.map((trip) => trainSchedule.getTrainDetails({ trainId: trip.id })));

const departures: Departure[] = morning.map((trip) => ({
  time: `${String(trip.hour).padStart(2, '0')}:${String(trip.minute).padStart(2, '0')}`,
  destination: trip.destination,
}));

export default { departures, operators: [...new Set(details.map((train) => train.operator))] };
