// Answers train-schedule.json: one exported function for each of its own.

const trains = [
  { id: 'IC-101', station: 'Central', date: '2025-01-15', hour: 7, minute: 5, destination: 'Springfield', platform: '4a', operator: 'Northern', stops: ['Shelbyville'] },
  { id: 'RE-202', station: 'Central', date: '2025-01-15', hour: 9, minute: 40, destination: 'Capital City', platform: '1', operator: 'Coastline', stops: [] },
  { id: 'IC-303', station: 'Central', date: '2025-01-15', hour: 14, minute: 15, destination: 'Springfield', platform: '2', operator: 'Northern', stops: ['Shelbyville'] },
  { id: 'RE-404', station: 'Harbour', date: '2025-01-16', hour: 8, minute: 20, destination: 'Central', platform: '1', operator: 'Coastline', stops: [] },
];

export function getSchedule({ station, date }: { station?: string; date?: string }) {
  return trains
    .filter((train) => (station ?? train.station) === train.station && (date ?? train.date) === train.date)
    .map(({ id, hour, minute, destination, platform }) => ({ id, hour, minute, destination, platform }));
}

export function getTrainDetails({ trainId }: { trainId: string }) {
  const train = trains.find(({ id }) => id === trainId);
  if (!train) {
    throw new CapabilityError(`There is no train ${trainId}`, { code: 'call.failed' });
  }
  return { id: train.id, operator: train.operator, stops: train.stops };
}
