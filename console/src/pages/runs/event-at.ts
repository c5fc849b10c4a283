/** One event by its number: the page does not keep arguments of calls. */

import { get, path } from '../../lib/api';
import type { EventPage, RunEvent } from '../../lib/types';

export async function eventAt(runId: string, seq: number, signal?: AbortSignal): Promise<RunEvent | undefined> {
  const page = await get<EventPage>(path`/v1/runs/${runId}/events`, { limit: 1, ...(seq > 0 ? { after: seq - 1 } : {}) }, signal);
  return page.items.find((event) => event.seq === seq);
}
