import { trainSchedule, notes } from '@capabilities/company';

// AI doesn't need to read the full schedule
const morningTrips = await trainSchedule.getSchedule()
  .filter(trip => trip.hour < 12);

// Compose multiple capabilities
await notes.create({
  title: 'Morning Trains',
  content: morningTrips.map(t => `${t.hour}:00 - ${t.destination}`).join('\n')
});
