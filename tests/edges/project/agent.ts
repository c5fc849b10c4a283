// Calls side by side, one that a person approves, and the errors that a program can catch.
import { trainSchedule } from '@capabilities/train-schedule';
import { crm } from '@capabilities/company-crm';
import { odd } from '@capabilities/odd';

const failure = async (call: () => Promise<unknown>) => {
  try {
    return { value: await call() };
  } catch (error) {
    const { code, message, retryable, details } = error as CapabilityError;
    return { code, message, retryable, details };
  }
};

const trips = await trainSchedule.getSchedule({ station: 'Central' });
const details = await Promise.all(trips.map(({ id }) => trainSchedule.getTrainDetails({ trainId: id })));
const [customer] = await crm.searchCustomers({ query: 'acme' });

export default {
  trips,
  details,
  customer,
  ticket: await failure(() => crm.createTicket({ customerId: customer!.id, subject: 'Größe: “7”', priority: 'high' })),
  echo: await odd.echo({ 'X-Request-Id': 'ä', user_id: null, extra: [1, 'two', { three: 3 }] }),
  nothing: await odd.nothing(),
  thrown: await failure(() => odd.fail({ reason: 'because' })),
  absent: await failure(() => trainSchedule.getTrainDetails({ trainId: 'no such train' })),
};
