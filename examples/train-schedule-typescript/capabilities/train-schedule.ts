// capabilities/train-schedule.ts
import { defineTool } from '@agent-spaces/capabilities';

interface Trip {
  id: string;
  hour: number;
  minute: number;
  destination: string;
  platform: string;
}

interface TrainDetails {
  id: string;
  operator: string;
  stops: string[];
}

export const trainSchedule = defineTool({
  name: 'trainSchedule',
  description: 'Get train schedule information',
  
  functions: {
    getSchedule: {
      description: 'Get all scheduled trains',
      parameters: {
        station: { type: 'string', optional: true },
        date: { type: 'string', format: 'date', optional: true },
      },
      returns: {} as Trip[],
      handler: async ({ station, date }) => {
        // Implementation - calls actual API
        const response = await fetch(`https://api.trains.com/schedule?station=${station}&date=${date}`);
        return response.json();
      },
    },
    
    getTrainDetails: {
      description: 'Get details for a specific train',
      parameters: {
        trainId: { type: 'string', required: true },
      },
      returns: {} as TrainDetails,
      handler: async ({ trainId }) => {
        const response = await fetch(`https://api.trains.com/trains/${trainId}`);
        return response.json();
      },
    },
  },
  
  config: {
    requiresApproval: false,
    rateLimit: { requests: 100, period: 'minute' },
  },
});

// Stands for the network, so that the example needs none: with `providers` in a configuration, the real one is reached.
async function fetch(address: string) {
  const { pathname, searchParams } = new URL(address);
  const trains = [
    { id: 'IC-101', station: 'Central', hour: 7, minute: 5, destination: 'Springfield', platform: '4a', operator: 'Northern', stops: ['Shelbyville'] },
    { id: 'IC-303', station: 'Central', hour: 14, minute: 15, destination: 'Springfield', platform: '2', operator: 'Northern', stops: ['Shelbyville'] },
    { id: 'RE-404', station: 'Harbour', hour: 8, minute: 20, destination: 'Central', platform: '1', operator: 'Coastline', stops: [] },
  ];
  const trips = trains.filter((train) => train.station === searchParams.get('station'));
  const answer = pathname === '/schedule' ? trips : trains.find(({ id }) => pathname === `/trains/${id}`);
  return { json: async (): Promise<any> => answer };
}
