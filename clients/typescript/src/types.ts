/** Names for the types of the OpenAPI document. */
import type { components } from './schema.js';

type Schemas = components['schemas'];
/** The generator takes an object without listed members for one that can have none. */
type WithPolicy<T> = Omit<T, 'policy'> & { policy?: Record<string, unknown> };

export type Approval = Schemas['Approval'];
export type ApprovalStatus = Schemas['ApprovalStatus'];
export type AuditEntry = Omit<Schemas['AuditEntry'], 'entry'> & { entry: Record<string, unknown> };
export type CallAnswer = Schemas['CallAnswer'];
export type CallOutcome = Schemas['CallOutcome'];
export type Capability = Schemas['Capability'];
export type CapabilityFunction = Schemas['Function'];
export type Cause = Schemas['Cause'];
export type ConsoleLevel = Schemas['ConsoleLevel'];
export type ConsoleLine = Schemas['ConsoleLine'];
export type Decision = Schemas['Decision'];
export type DecisionKind = Schemas['DecisionKind'];
export type DecisionScope = Schemas['DecisionScope'];
export type DoubtfulCall = Schemas['DoubtfulCall'];
/** Members that all events have; `RunEvent` has those of each type. */
export type EventBase = Schemas['Event'];
export type Fault = Schemas['Fault'];
export type FileEntry = Schemas['File'];
export type FoundFunctions = Schemas['FoundFunctions'];
export type Limits = Schemas['Limits'];
export type Location = Schemas['Location'];
export type NewDecision = Schemas['NewDecision'];
export type NewProgram = Schemas['NewProgram'];
export type NewRun = Schemas['NewRun'];
export type NewSpace = WithPolicy<Schemas['NewSpace']>;
export type NewWebhook = Schemas['NewWebhook'];
export type Problem = Schemas['Problem'];
export type Program = Schemas['Program'];
export type ProgramVersion = Schemas['ProgramVersion'];
export type RunError = Schemas['RunError'];
export type RunInfo = Schemas['Run'];
export type RunStatus = Schemas['RunStatus'];
export type SpaceChange = Schemas['SpaceChange'];
export type SpaceInfo = WithPolicy<Schemas['Space']>;
export type SpaceSource = Schemas['SpaceSource'];
export type Usage = Schemas['Usage'];
export type Webhook = Schemas['Webhook'];
export type WebhookChange = Schemas['WebhookChange'];
export type WebhookEvent = Schemas['WebhookEvent'];
