// What the imported proxy does, said by hand. A run reaches only what it imports.
import { trainSchedule } from '@capabilities/train-schedule';

const result = await __agentSpaces.callCapability(
  'trainSchedule',
  'getSchedule',
  { station: 'Central' }
);

// The same by the proxy.
export default { result, proxy: await trainSchedule.getSchedule({ station: 'Central' }) };
