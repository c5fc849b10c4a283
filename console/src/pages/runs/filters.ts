/** Filters of the list, as they are in the address. */

import type { Query } from '../../lib/api';
import { ENDED, type Run, type RunStatus } from '../../lib/types';

export const STATUSES: RunStatus[] = ['queued', 'running', 'awaiting_approval', 'waiting', 'in_doubt', 'needs_resume', 'finished', 'failed', 'cancelled'];

export const RANGES = [
  { id: '', label: 'Any time', ms: 0 },
  { id: '15m', label: 'Last 15 minutes', ms: 15 * 60_000 },
  { id: '1h', label: 'Last hour', ms: 3_600_000 },
  { id: '24h', label: 'Last 24 hours', ms: 86_400_000 },
  { id: '7d', label: 'Last 7 days', ms: 7 * 86_400_000 },
  { id: 'custom', label: 'From … until', ms: 0 },
] as const;

export interface Filters {
  status: RunStatus | '';
  space: string;
  text: string;
  range: string;
  from: string;
  until: string;
}

/** Filters of an address; unknown values are left out. */
export function read(query: URLSearchParams): Filters {
  const status = query.get('status') ?? '';
  const range = query.get('range') ?? '';
  return {
    status: (STATUSES as string[]).includes(status) ? (status as RunStatus) : '',
    space: query.get('space') ?? '',
    text: query.get('q') ?? '',
    range: RANGES.some((one) => one.id === range) ? range : '',
    from: time(query.get('from')),
    until: time(query.get('until')),
  };
}

function time(text: string | null): string {
  return text !== null && !Number.isNaN(Date.parse(text)) ? text : '';
}

/** Identity of what the server is asked for: the text is looked for here. */
export function asked(filters: Filters): string {
  return JSON.stringify([filters.status, filters.space, filters.range, filters.from, filters.until]);
}

/** Query of the server for filters, from now on. */
export function queryOf(filters: Filters, now = Date.now()): Query {
  const query: Query = {};
  if (filters.status) query['status'] = filters.status;
  if (filters.space) query['space'] = filters.space;
  const range = RANGES.find((one) => one.id === filters.range);
  if (range?.ms) query['createdFrom'] = new Date(now - range.ms).toISOString();
  if (filters.range === 'custom') {
    if (filters.from) query['createdFrom'] = new Date(filters.from).toISOString();
    if (filters.until) query['createdUntil'] = new Date(filters.until).toISOString();
  }
  return query;
}

/** Words of a text filter; all of them must be in a run. */
export function words(text: string): string[] {
  return text.toLowerCase().split(/\s+/).filter(Boolean).slice(0, 10);
}

export function hasWords(run: Run, wanted: string[], spaceName: string): boolean {
  if (wanted.length === 0) return true;
  const text = `${run.name}\n${run.id}\n${run.caller ?? ''}\n${run.program ?? ''}\n${spaceName}`.toLowerCase();
  return wanted.every((word) => text.includes(word));
}

/** Value of an input of type datetime-local for a time. */
export function localTime(iso: string): string {
  if (!iso) return '';
  const date = new Date(iso);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** Time that a run took, or has taken so far, in milliseconds. */
export function ageOf(run: Run, now: number): number {
  const end = run.endedAt ?? (ENDED.includes(run.status) ? run.updatedAt : undefined);
  return Math.max(0, (end === undefined ? now : Date.parse(end)) - Date.parse(run.createdAt));
}
