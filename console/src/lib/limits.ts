/** Resource limits of runs, with their units. */

import { bytes, count, duration } from './format';
import type { Limits } from './types';

export interface LimitInfo {
  id: keyof Limits;
  label: string;
  help: string;
  /** Unit of the field, and how many of the API's it has. */
  unit: string;
  factor: number;
  min: number;
  show: (n: number | undefined) => string;
}

const MIB = 1024 * 1024;

export const LIMITS: LimitInfo[] = [
  { id: 'timeMs', label: 'Time', help: 'Wall-clock time, without the time that people take to decide', unit: 's', factor: 1000, min: 1, show: duration },
  { id: 'memoryBytes', label: 'Memory', help: 'Linear memory of the program', unit: 'MiB', factor: MIB, min: 1, show: bytes },
  { id: 'fuel', label: 'Fuel', help: 'Some units for each step of a script: stops infinite loops', unit: 'units', factor: 1, min: 1, show: (n) => (n === undefined ? count(n) : `${n.toLocaleString('en')} units`) },
  { id: 'calls', label: 'Calls', help: 'Calls of capability functions', unit: 'calls', factor: 1, min: 0, show: count },
  { id: 'inflight', label: 'Concurrent calls', help: 'Calls that are made at the same time', unit: 'calls', factor: 1, min: 1, show: count },
  { id: 'failures', label: 'Failures', help: 'Failed calls in a row', unit: 'calls', factor: 1, min: 1, show: count },
  { id: 'bytesPerCall', label: 'Size of a call', help: 'Size of the arguments of one call, or of its answer', unit: 'KiB', factor: 1024, min: 1, show: bytes },
  { id: 'resultBytes', label: 'Size of the result', help: 'Size of the value that a run returns', unit: 'KiB', factor: 1024, min: 1, show: bytes },
  { id: 'consoleBytes', label: 'Size of the output', help: 'Size of the console output', unit: 'KiB', factor: 1024, min: 1, show: bytes },
];

/** Number of the API that a text of a field means; undefined for an empty field, a message if it is wrong. */
export function readLimit(info: LimitInfo, text: string, max?: number): number | undefined | string {
  const trimmed = text.trim();
  if (trimmed === '') return undefined;
  const n = Math.round(Number(trimmed) * info.factor);
  if (!Number.isFinite(n) || n < info.min) return info.min === 0 ? 'expected a number from 0' : 'expected a number above 0';
  if (!Number.isSafeInteger(n)) return 'the number is too large';
  if (max !== undefined && n > max) return `at most ${info.show(max)}`;
  return n;
}

/** Text of a field for a number of the API. */
export function limitText(info: LimitInfo, n: number | undefined): string {
  return n === undefined ? '' : String(Math.round((n / info.factor) * 1e6) / 1e6);
}
