/** Errors of the client. None contains the token or a request's headers. */
import type { Fault, Problem, RunError, RunInfo } from './types.js';

/** Base class of all errors of this client, except of those of an aborted signal. */
export class AgentSpacesError extends Error {
  override name = 'AgentSpacesError';
}

/** The server refused a request: its problem document (RFC 9457). */
export class ApiError extends AgentSpacesError {
  override name = 'ApiError';
  /** HTTP status. */
  readonly status: number;
  /** Code such as `not_found`; `http.STATUS` if the answer was no problem document, as those of proxies. */
  readonly code: string;
  readonly title: string;
  /** What happened, and what to do. */
  readonly detail: string | undefined;
  /** Faults in single parts of the request: each names a `pointer` into the body, a query `parameter` or a `header`. */
  readonly errors: Fault[];
  /** Error of a script that was refused, with its location. */
  readonly error: RunError | undefined;
  /** Seconds after which the server wants to be asked again. */
  readonly retryAfter: number | undefined;

  constructor(status: number, problem: Partial<Problem>, retryAfter?: number) {
    const code = problem.code ?? `http.${status}`;
    const title = problem.title ?? `HTTP status ${status}`;
    // A proxy may answer with anything.
    const listed = Array.isArray(problem.errors) ? problem.errors : [];
    const errors = listed.filter((fault) => typeof fault === 'object' && fault !== null);
    const place = ({ pointer, parameter, header }: Partial<Fault>) => pointer || parameter || header;
    const faults = errors.map((fault) => `\n  ${place(fault) ? `${place(fault)}: ` : ''}${fault.detail}`).join('');
    super(`${code}: ${problem.detail ?? title}${faults}`);
    this.status = status;
    this.code = code;
    this.title = title;
    this.detail = problem.detail;
    this.errors = errors;
    this.error = problem.error;
    this.retryAfter = retryAfter;
  }
}

/** No answer: connection refused or cut, timeout, or an event stream that does not progress. */
export class ConnectionFailed extends AgentSpacesError {
  override name = 'ConnectionFailed';
}

/** The run failed or was cancelled. */
export class RunFailed extends AgentSpacesError {
  override name = 'RunFailed';
  /** Code of the run's error; `run.cancelled` for a cancelled run without one. */
  readonly code: string;
  readonly error: RunError | undefined;
  readonly run: RunInfo;

  constructor(run: RunInfo) {
    const code = run.error?.code ?? `run.${run.status}`;
    super(`${code}: ${run.error?.message ?? `run ${run.id} is ${run.status}`}`);
    this.code = code;
    this.error = run.error;
    this.run = run;
  }
}
