import { trainSchedule } from '@capabilities/train-schedule';

// Full type inference and autocomplete
const trips = await trainSchedule.getSchedule({ station: 'Central' });

// Filter locally (not in AI's context)
const morning = trips.filter(t => t.hour < 12);

// Further operations
const details = await trainSchedule.getTrainDetails({ 
  trainId: morning[0].id 
});

console.log(`Train operated by: ${details.operator}`);
