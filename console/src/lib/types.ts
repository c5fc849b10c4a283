/** Types of the REST API that the console uses. Times are RFC 3339 in UTC. */

export type Value = unknown;

export interface Paged<T> {
  items: T[];
  next?: string;
}

export interface Me {
  name: string;
  operator: boolean;
  mayApprove: boolean;
  version: string;
}

export interface Fault {
  detail: string;
  pointer?: string;
  parameter?: string;
  header?: string;
}

export interface Problem {
  type: string;
  title: string;
  status: number;
  code: string;
  detail: string;
  error?: RunError;
  errors?: Fault[];
}

export interface Location {
  file: string;
  line: number;
  column: number;
}

export interface RunError {
  code: string;
  message: string;
  name?: string;
  function?: string;
  hint?: string;
  retryable?: boolean;
  location?: Location;
  stack?: string;
  details?: Value;
  causes?: { message: string; location?: Location }[];
}

export type RunStatus =
  | 'queued'
  | 'running'
  | 'awaiting_approval'
  | 'waiting'
  | 'in_doubt'
  | 'needs_resume'
  | 'finished'
  | 'failed'
  | 'cancelled';

/** Statuses in which a run has ended. */
export const ENDED: readonly RunStatus[] = ['finished', 'failed', 'cancelled'];

export interface ConsoleLine {
  level: 'log' | 'info' | 'warn' | 'error' | 'debug';
  text: string;
}

export interface Usage {
  fuel: number;
  memoryBytes: number;
  wallMs: number;
  calls: number;
  bytesIn: number;
  bytesOut: number;
}

export interface DoubtfulCall {
  call: number;
  function: string;
  functionId: string;
  params: Value;
}

export interface Run {
  id: string;
  spaceId: string;
  name: string;
  status: RunStatus;
  createdAt: string;
  updatedAt: string;
  endedAt?: string;
  waitsUntil?: string;
  program?: string;
  /** Name of the owner; missing for runs of the operator. */
  caller?: string;
  hasValue?: boolean;
  value?: Value;
  error?: RunError;
  usage?: Usage;
  console?: ConsoleLine[];
  approvals?: Approval[];
  inDoubt?: DoubtfulCall[];
}

export interface RunSource {
  name: string;
  source: string;
  modules: string[];
  input?: Value;
}

/** Event of a run; it has further members by its type. */
export interface RunEvent {
  type: string;
  seq: number;
  runId: string;
  timestamp: string;
  caller?: string;
  parent?: { runId: string; callId: number };
  callId?: number;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  [member: string]: any;
}

export interface EventPage {
  items: RunEvent[];
  next?: number;
  ended: boolean;
}

export interface Replay {
  same: boolean;
  calls: number;
  text: string;
  difference?: Record<string, Value>;
  value?: Value;
  hasValue?: boolean;
  error?: RunError;
  console?: ConsoleLine[];
}

export type CallOutcome = 'happened' | 'didNotHappen' | 'giveUp';

export type ApprovalStatus = 'pending' | 'approved' | 'denied' | 'expired';
export type DecisionScope = 'once' | 'run' | 'arguments';

export interface Decision {
  decision: 'approve' | 'deny';
  by: string;
  caller?: string;
  reason?: string;
  decidedAt?: string;
}

export interface NewDecision {
  decision: 'approve' | 'deny';
  by?: string;
  reason?: string;
  for?: DecisionScope;
}

export interface Approval {
  id: string;
  runId: string;
  spaceId: string;
  callId: number;
  status: ApprovalStatus;
  capability: string;
  function: string;
  functionId: string;
  module: string;
  params: Value;
  /** Untrusted text of the definition. */
  message: string;
  /** Places in the script: `agent.ts:5`. */
  places: string[];
  createdAt: string;
  expiresAt: string;
  decision?: Decision;
  caller?: string;
}

export interface Limits {
  bytesPerCall?: number;
  calls?: number;
  consoleBytes?: number;
  failures?: number;
  fuel?: number;
  inflight?: number;
  memoryBytes?: number;
  resultBytes?: number;
  timeMs?: number;
}

export interface Webhook {
  url: string;
  events: ('run.ended' | 'approval.needed')[];
  enabled: boolean;
  secret?: string;
}

export interface Space {
  id: string;
  name: string;
  source: 'configuration' | 'api';
  capabilities: string[];
  modules: string[];
  limits: Limits;
  hasFiles: boolean;
  base?: string;
  createdAt?: string;
  updatedAt?: string;
  expiresAt?: string;
  etag?: string;
  policy?: Record<string, Value>;
  webhook?: Webhook;
}

export interface NewSpace {
  name: string;
  base?: string;
  capabilities?: string[];
  limits?: Limits;
  policy?: Record<string, Value>;
  ttlSeconds?: number;
  webhook?: { url: string; events?: Webhook['events'] };
}

export interface SpaceChange {
  name?: string;
  limits?: Limits;
  ttlSeconds?: number;
  capabilities?: string[];
  policy?: Record<string, Value>;
}

export interface SpaceFile {
  path: string;
  size: number;
  modifiedAt?: string;
}

export type PolicyDecision = 'allow' | 'approval' | 'deny';

export interface CapabilityFunction {
  name: string;
  id: string;
  module: string;
  signature: string;
  description: string;
  /** JSON Schema of the parameters object; missing in lists. */
  parameters?: Schema;
  returns?: Schema;
  annotations?: Record<string, Value>;
  decision?: PolicyDecision;
}

export interface Capability {
  name: string;
  module: string;
  functions: CapabilityFunction[];
  entry?: string;
  declarations?: string;
  wit?: string;
}

export interface Diagnostic {
  line: number;
  column: number;
  endLine?: number;
  endColumn?: number;
  severity: 'error' | 'warning';
  code: string;
  message: string;
}

export interface Check {
  diagnostics: Diagnostic[];
  types: { checked: boolean; reason?: string };
  manifest?: Record<string, Value>;
}

export interface Explanation {
  decision: PolicyDecision;
  text: string;
  function?: string;
  functionId?: string;
  /** Rule that decides; only the operator sees it. */
  because?: string;
  rules: ExplainedRule[];
}

export interface ExplainedRule {
  /** Condition, in words. */
  text: string;
  /** Its place in the configuration, or in the definition. */
  place: string;
  /** Missing if it is known only when the call is made. */
  passes?: boolean;
  why?: string;
}

export interface NewRun {
  source?: string;
  program?: string;
  name?: string;
  input?: Value;
  limits?: Limits;
}

export interface Program {
  name: string;
  version: number;
  description?: string;
  createdAt: string;
  updatedAt: string;
}

export interface ProgramVersion {
  name: string;
  version: number;
  hash: string;
  createdAt: string;
  source?: string;
}

export type ServerStatus = 'connected' | 'idle' | 'failed' | 'changed' | 'needs_login';

export interface ServerChange {
  kind: 'added' | 'removed' | 'changed';
  name: string;
  before?: string;
  after?: string;
}

export interface McpServer {
  name: string;
  spaces: string[];
  transport: string;
  status: ServerStatus;
  error?: string;
  tools?: number;
  checkedAt?: string;
  changes?: ServerChange[];
}

export interface AuditEntry {
  seq: number;
  time: string;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  entry: { type: string; [member: string]: any };
}

export interface AuditVerification {
  verdict: string;
  entries?: number;
  files?: number;
  recovered?: number;
  lost?: number;
  gaps?: number;
  unwritten?: number;
  waiting?: number;
  removed?: number;
  [member: string]: Value;
}

export interface Agent {
  name: string;
  description?: string;
  /** JSON Schema of its answers, if they are JSON. */
  schema?: Schema;
}

/** Call of an agent that waits for a person: `GET /v1/agents/approvals`. Decided like approvals of runs. */
export interface AgentApproval {
  id: string;
  agent: string;
  status: ApprovalStatus;
  /** Untrusted text. */
  message: string;
  call: Value;
  createdAt: string;
  expiresAt: string;
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

/** `data` of the events of `GET /v1/changes`. */
export interface RunChange {
  type: 'run';
  id: string;
  spaceId: string;
  name: string;
  status: RunStatus;
  updatedAt: string;
}

export interface ApprovalChange {
  type: 'approval';
  id: string;
  runId: string;
  status: ApprovalStatus;
}

export interface ReloadChange {
  type: 'reload';
}

export type Change = RunChange | ApprovalChange | ReloadChange;

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

/** Mark in the editor. Lines and columns are 1-based. */
export interface Marker {
  line: number;
  column?: number;
  endLine?: number;
  endColumn?: number;
  kind: 'error' | 'warning' | 'info';
  text: string;
}

/** Word that the editor offers. `members` are offered after `label.`. */
export interface Completion {
  label: string;
  detail?: string;
  info?: string;
  kind?: 'function' | 'variable' | 'module' | 'keyword' | 'property' | 'type';
  /** Text to insert instead of the label. */
  insert?: string;
  members?: Completion[];
}
