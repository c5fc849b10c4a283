/** Calls that need a person: those of runs and those of agents, in one shape. */

import { oneLine, preview } from './text';
import type { Approval, ApprovalStatus, Decision, Value } from './types';

export interface Call {
  /** `bank.pay`. */
  label: string;
  capability: string;
  /** Name without the capability. */
  name: string;
  functionId: string;
  /** Missing if it is too long to be shown. */
  params?: Value;
}

export interface Request {
  id: string;
  kind: 'run' | 'agent';
  status: ApprovalStatus;
  /** At least one; agents may ask about several at once. */
  calls: Call[];
  /** Untrusted text. */
  message: string;
  places: string[];
  createdAt: string;
  expiresAt: string;
  runId?: string;
  spaceId?: string;
  callId?: number;
  caller?: string;
  agent?: string;
  session?: string;
  decision?: Decision;
}

const MAX_CALLS = 50;
const text = (value: unknown): string => (typeof value === 'string' ? value : '');

function parts(label: string): { capability: string; name: string } {
  const dot = label.indexOf('.');
  return dot < 0 ? { capability: '', name: label } : { capability: label.slice(0, dot), name: label.slice(dot + 1) };
}

/** As the list and the item of the API have it. */
export function ofApproval(approval: Approval): Request {
  const { id, status, capability, message, places, createdAt, expiresAt, runId, spaceId, callId, agent, session, caller, decision } = approval;
  const plain = approval.function.includes('.') || capability === '' || capability === approval.function;
  const label = (plain ? approval.function : `${capability}.${approval.function}`) || approval.functionId || 'call';
  const named = { label, capability: capability || parts(label).capability, name: parts(label).name, functionId: approval.functionId };
  const calls = (approval.calls ?? [approval.params]).slice(0, MAX_CALLS).map((params): Call => (params === undefined || (approval.calls && params === null) ? named : { ...named, params }));
  return {
    id,
    kind: agent === undefined ? 'run' : 'agent',
    status,
    calls,
    message,
    places,
    createdAt,
    expiresAt,
    ...(runId === undefined ? {} : { runId }),
    ...(spaceId === undefined ? {} : { spaceId }),
    ...(callId === undefined ? {} : { callId }),
    ...(agent === undefined ? {} : { agent }),
    ...(session === undefined ? {} : { session }),
    ...(caller === undefined ? {} : { caller }),
    ...(decision ? { decision } : {}),
  };
}

/** As the stream of an answer tells it: one call, or several. */
export function ofEvent(event: { id: string; agent: string; message: string; call: Value }): Request {
  const given = Array.isArray(event.call) ? event.call.slice(0, MAX_CALLS) : [event.call];
  const calls = given.map((one: unknown): Call => {
    if (one === null || typeof one !== 'object') return { label: 'call', capability: '', name: 'call', functionId: '', params: one };
    const call = one as Record<string, unknown>;
    const label = text(call['function']) || text(call['functionId']) || 'call';
    return { label, ...parts(label), functionId: text(call['functionId']), ...(Object.hasOwn(call, 'params') ? { params: call['params'] } : {}) };
  });
  const { id, agent, message } = event;
  return { id, kind: 'agent', status: 'pending', calls, message, places: [], createdAt: new Date().toISOString(), expiresAt: '', agent };
}

/** Name of what is asked about. */
export function title(request: Request): string {
  const [first] = request.calls;
  const more = request.calls.length - 1;
  return `${first?.label ?? 'call'}${more > 0 ? ` and ${more} more` : ''}`;
}

/** Values of the arguments on one line, without their names: they tell calls of one function apart. */
export function gist(params: Value): string {
  const values: string[] = [];
  const collect = (value: unknown, depth: number): void => {
    if (values.length >= 8) return;
    if (value !== null && typeof value === 'object' && depth < 4) for (const one of Object.values(value).slice(0, 8)) collect(one, depth + 1);
    else if (value !== '') values.push(typeof value === 'string' ? oneLine(value, 40) : preview(value, 40));
  };
  collect(params, 0);
  return values.join(' · ');
}

/** Who asks, in words. */
export function asker(request: Request): string {
  if (request.agent !== undefined) return `agent ${request.agent}${request.caller === undefined ? '' : `, asked by ${request.caller}`}`;
  return request.caller ?? 'the operator';
}

/** Who decided, in words: the name that was given, and the caller that the server knows. */
export function decider(decision: Decision): string {
  return decision.caller !== undefined && decision.caller !== decision.by ? `${decision.by} (through ${decision.caller})` : decision.by;
}
