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
