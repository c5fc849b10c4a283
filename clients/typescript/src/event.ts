/** Types of the events of a run. A test compares them with `schemas/event.schema.json`. */
import type { RunError, Usage } from './types.js';

/** Call of another run that a run answers. */
export interface Parent {
  runId: string;
  callId: number;
}

/** Members of an event that depend on its type. */
interface Payloads {
  runStarted: { script: string; interfaces: string[] };
  console: { level: 'log' | 'info' | 'warn' | 'error' | 'debug'; text: string };
  callScheduled: { callId: number; interface: string; functionId: string; capability: string; function: string; params: unknown };
  approvalRequired: {
    source: 'capability';
    capability: string;
    function: string;
    params: unknown;
    message: string;
    approvalId: string;
    callId: number;
    functionId: string;
    expiresAt: string;
  };
  approvalDecided: { approvalId: string; callId: number; decision: 'approve' | 'deny' | 'expire'; reason?: string; by?: string };
  runPaused: { reason: 'approval' };
  runResumed: { pausedMs: number };
  callProgress: { callId: number; progress: number; total?: number; message?: string };
  callRepeated: { callId: number; repetition: number; code: string; message: string };
  callResult: { callId: number; durationMs: number; cached?: true };
  callError: { callId: number; durationMs: number; code: string; message: string };
  limitReached: { limit: string; code: string };
  runFinished: { ok: boolean; error?: RunError; usage: Usage };
}

/** Type of an event. A newer server may send others: ignore them. */
export type RunEventType = keyof Payloads;

/** Event of one type. */
export type EventOf<Type extends RunEventType> = {
  type: Type;
  /** RFC 3339. */
  timestamp: string;
  runId: string;
  /** Number of the event in its run, from zero. */
  seq: number;
  /** Name of the server's caller that the run belongs to. */
  caller?: string;
  /** Call of another run that this run answers. */
  parent?: Parent;
} & Payloads[Type];

/** Event of a run. */
export type RunEvent = { [Type in RunEventType]: EventOf<Type> }[RunEventType];

/** Page of events. */
export interface EventPage {
  /** Events, oldest first. */
  items: RunEvent[];
  /** Number to ask for the events that follow with: of the last item or, without items, `after` of the request. */
  next?: number;
  /** True if the run has ended and these are its last events. */
  ended: boolean;
}
