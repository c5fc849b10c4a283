// Answers the interface in train-schedule.wit: one exported function for each of its own. It runs in a
// sandbox of its own, apart from the script that calls it.

const trains = [
  { id: 'IC-101', station: 'Central', hour: 7, minute: 5, destination: 'Springfield', platform: '4a', operator: 'Northern', stops: ['Shelbyville'] },
  { id: 'RE-202', station: 'Central', hour: 9, minute: 40, destination: 'Capital City', operator: 'Coastline', stops: [] },
  { id: 'IC-303', station: 'Central', hour: 14, minute: 15, destination: 'Springfield', platform: '2', operator: 'Northern', stops: ['Shelbyville'] },
  { id: 'RE-404', station: 'Harbour', hour: 8, minute: 20, destination: 'Central', operator: 'Coastline', stops: [] },
];

export function getSchedule({ station }: { station?: string }) {
  return trains
    .filter((train) => station === undefined || train.station === station)
    .map(({ id, hour, minute, destination, platform }) => ({ id, hour, minute, destination, platform }));
}

export function getTrainDetails({ trainId }: { trainId: string }) {
  const train = trains.find(({ id }) => id === trainId);
  if (!train) {
    throw new CapabilityError(`There is no train ${trainId}`, { code: 'call.failed' });
  }
  return { id: train.id, operator: train.operator, stops: train.stops };
}
