/** Calls that need a person: those of runs and those of agents, in one shape. */

import { oneLine, preview } from './text';
import type { AgentApproval, Approval, ApprovalStatus, Decision, Value } from './types';

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
  decision?: Decision;
}

const MAX_CALLS = 50;
const text = (value: unknown): string => (typeof value === 'string' ? value : '');

function parts(label: string): { capability: string; name: string } {
  const dot = label.indexOf('.');
  return dot < 0 ? { capability: '', name: label } : { capability: label.slice(0, dot), name: label.slice(dot + 1) };
}

export function ofRun(approval: Approval): Request {
  const { id, status, capability, message, createdAt, expiresAt, runId, spaceId, callId, caller, decision } = approval;
  const label = approval.function.includes('.') || capability === '' ? approval.function : `${capability}.${approval.function}`;
  const call: Call = { label, capability: capability || parts(label).capability, name: parts(label).name, functionId: approval.functionId, params: approval.params };
  return { id, kind: 'run', status, calls: [call], message, places: approval.places ?? [], createdAt, expiresAt, runId, spaceId, callId, ...(caller === undefined ? {} : { caller }), ...(decision ? { decision } : {}) };
}

export function ofAgent(approval: AgentApproval): Request {
  const { id, status, agent, message, createdAt, expiresAt, caller, decision } = approval;
  const given = Array.isArray(approval.call) ? approval.call.slice(0, MAX_CALLS) : [approval.call];
  const calls = given.map((one: unknown): Call => {
    if (one === null || typeof one !== 'object') return { label: 'call', capability: '', name: 'call', functionId: '', params: one };
    const call = one as Record<string, unknown>;
    const label = text(call['function']) || text(call['functionId']) || 'call';
    return { label, ...parts(label), functionId: text(call['functionId']), ...(Object.hasOwn(call, 'params') ? { params: call['params'] } : {}) };
  });
  return { id, kind: 'agent', status, calls, message, places: [], createdAt, expiresAt, agent, ...(caller === undefined ? {} : { caller }), ...(decision ? { decision } : {}) };
}

/** Either kind, as `GET /v1/approvals/{id}` answers. */
export function ofEither(approval: Approval | AgentApproval): Request {
  return 'agent' in approval ? ofAgent(approval) : ofRun(approval);
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
