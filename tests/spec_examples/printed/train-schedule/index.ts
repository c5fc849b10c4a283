// Generated: @capabilities/train-schedule/index.ts

import { createCapabilityProxy } from '@agent-spaces/runtime';

export const trainSchedule = createCapabilityProxy('trainSchedule', {
  getSchedule: {
    handler: 'trainSchedule.getSchedule',
    schema: { /* JSON schema for validation */ },
  },
  getTrainDetails: {
    handler: 'trainSchedule.getTrainDetails',
    schema: { /* JSON schema */ },
  },
});
