/**
 * Types of the REST API, by their names in the console. They are those of the OpenAPI document, so that a change of the API
 * that a page does not know of fails its type check. Only the agents' API, which the document leaves out, is written here.
 */

import type { components } from '../../../clients/typescript/src/schema';

type Schemas = components['schemas'];

export type Value = unknown;

export interface Paged<T> {
  items: T[];
  next?: string;
}

export type Me = Schemas['Me'];
export type Fault = Schemas['Fault'];
export type Problem = Schemas['Problem'];
export type Location = Schemas['Location'];
export type Limits = Schemas['Limits'];
export type Usage = Schemas['Usage'];

export type Run = Schemas['Run'];
export type RunStatus = Schemas['RunStatus'];
export type RunError = Schemas['RunError'];
export type RunSource = Schemas['RunSource'];
export type NewRun = Schemas['NewRun'];
export type Replay = Schemas['Replay'];
export type ConsoleLine = Schemas['ConsoleLine'];
export type DoubtfulCall = Schemas['DoubtfulCall'];
export type CallOutcome = Schemas['CallOutcome'];

/** Statuses in which a run has ended. */
export const ENDED: readonly RunStatus[] = ['finished', 'failed', 'cancelled'];

/** Event of a run; it has further members by its type. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type RunEvent = Schemas['Event'] & { callId?: number; [member: string]: any };
export type EventPage = Omit<Schemas['EventPage'], 'items'> & { items: RunEvent[] };

export type Approval = Schemas['Approval'];
export type ApprovalStatus = Schemas['ApprovalStatus'];
export type Decision = Schemas['Decision'];
export type DecisionKind = Schemas['DecisionKind'];
export type DecisionScope = Schemas['DecisionScope'];
export type NewDecision = Schemas['NewDecision'];

export type Space = Schemas['Space'];
export type NewSpace = Schemas['NewSpace'];
export type SpaceChange = Schemas['SpaceChange'];
export type SpaceFile = Schemas['File'];

export type PolicyDecision = Schemas['PolicyDecision'];
export type Explanation = Schemas['Explanation'];
export type ExplainedRule = Schemas['ExplainedRule'];

/** The document allows any value as a schema; forms need its members. */
export type CapabilityFunction = Omit<Schemas['Function'], 'parameters' | 'returns'> & { parameters?: Schema; returns?: Schema };
export type Capability = Omit<Schemas['Capability'], 'functions'> & { functions: CapabilityFunction[] };

export type Check = Schemas['Check'];
export type Diagnostic = Schemas['Diagnostic'];

export type McpServer = Schemas['Server'];
export type ServerChange = Schemas['ServerChange'];

/** Entry of the audit log; it has further members by its type. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type AuditEntry = Omit<Schemas['AuditEntry'], 'entry'> & { entry: { type: string; [member: string]: any } };
export type AuditVerification = Schemas['AuditVerification'];

/** `data` of the events of `GET /v1/changes`. */
export type RunChange = { type: 'run' } & Pick<Run, 'id' | 'spaceId' | 'name' | 'status' | 'updatedAt'>;
export type ApprovalChange = { type: 'approval' } & Pick<Approval, 'id' | 'runId' | 'agent' | 'status'>;
export type Change = RunChange | ApprovalChange | { type: 'reload' };

export interface Agent {
  name: string;
  description?: string;
  /** JSON Schema of its answers, if they are JSON. */
  schema?: Schema;
}

export interface AgentUsage {
  inputTokens: number;
  outputTokens: number;
  cost?: number;
}

export interface AgentSession {
  id: string;
  createdAt: string;
  updatedAt: string;
  title: string;
  turns: number;
  usage: AgentUsage;
}

export interface AgentToolCall {
  name: string;
  arguments: Value;
  result?: Value;
  status: string;
  runId?: string;
}

export interface AgentMessage {
  role: string;
  text: string;
  toolCalls?: AgentToolCall[];
  usage?: AgentUsage;
}

export interface AgentSessionDetail extends AgentSession {
  messages: AgentMessage[];
}

/** JSON Schema, as far as forms use it. */
export interface Schema {
  $ref?: string;
  $defs?: Record<string, Schema | boolean>;
  definitions?: Record<string, Schema | boolean>;
  type?: string | string[];
  title?: string;
  description?: string;
  default?: Value;
  examples?: Value[];
  enum?: Value[];
  const?: Value;
  properties?: Record<string, Schema | boolean>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  items?: Schema | boolean;
  prefixItems?: (Schema | boolean)[];
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  format?: string;
  anyOf?: (Schema | boolean)[];
  oneOf?: (Schema | boolean)[];
  allOf?: (Schema | boolean)[];
  [member: string]: Value;
}
