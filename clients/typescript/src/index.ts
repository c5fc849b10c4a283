/**
 * Client for the REST API of Agent Spaces.
 *
 * Layout: `client.ts` the entry point; `spaces.ts`, `files.ts`, `runs.ts`, `approvals.ts`, `capabilities.ts`, `programs.ts`, `audit.ts`,
 * `servers.ts` one resource each; `export.ts` exports of the audit log; `follow.ts` event streams that resume, over `sse.ts`, the parser; `transport.ts` requests, `retry.ts` when they are repeated,
 * `idempotency.ts` the keys of those that create, `paths.ts` their addresses; `pages.ts` lists; `errors.ts`; `types.ts` names for the types of `schema.ts`, which is generated; `event.ts` event types.
 */
export { AgentSpaces } from './client.js';
export type { ClientOptions } from './client.js';
export { AgentSpacesError, ApiError, ConnectionFailed, RunFailed } from './errors.js';
export { Spaces, Space } from './spaces.js';
export type { RunOptions, StartOptions } from './spaces.js';
export { Runs, Run } from './runs.js';
export type { RunFilter } from './runs.js';
export { Files } from './files.js';
export type { FileBody, FileContent, FileState, Preconditions, WrittenFile } from './files.js';
export { Approvals } from './approvals.js';
export type { ApprovalFilter, DecisionOptions } from './approvals.js';
export { Capabilities } from './capabilities.js';
export { Programs } from './programs.js';
export { Audit } from './audit.js';
export type { AuditFilter } from './audit.js';
export { Servers } from './servers.js';
export type { EventOptions } from './follow.js';
export { List } from './pages.js';
export type { CallOptions } from './transport.js';
export type { EventOf, EventPage, Parent, RunEvent, RunEventType } from './event.js';
export type * from './types.js';
