/** Approvals: list, get, decide. */
import { List, type ListOptions, type PageOf } from './pages.js';
import { segment } from './paths.js';
import type { CallOptions, Transport } from './transport.js';
import type { Approval, ApprovalStatus, DecisionKind, ListOrder, NewDecision } from './types.js';

/** Selection of approvals. */
export interface ApprovalFilter extends ListOptions, CallOptions {
  status?: ApprovalStatus;
  /** Id of a run. */
  run?: string;
  /** Id of a space. */
  space?: string;
  /** Name of an agent. */
  agent?: string;
  /** `oldest` first by default. */
  order?: ListOrder;
}

/** Options of a decision. */
export type DecisionOptions = Omit<NewDecision, 'decision'> & CallOptions;

export class Approvals {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Lists approvals of runs and agents, oldest first unless `order` says otherwise. */
  list(filter: ApprovalFilter = {}): List<Approval> {
    const { status, run, space, agent, order, limit, ...call } = filter;
    return new List((cursor) =>
      this.#transport.json<PageOf<Approval>>({
        ...call,
        method: 'GET',
        path: '/v1/approvals',
        query: { status, run, space, agent, order, limit, cursor },
        repeatable: 'always',
      }),
    );
  }

  get(id: string, options: CallOptions = {}): Promise<Approval> {
    return this.#transport.json({ ...options, method: 'GET', path: `/v1/approvals/${segment(id)}`, repeatable: 'always' });
  }

  /** Approves the call. A late or repeated decision fails with `approval.expired` or `approval.decided`. */
  approve(id: string, options: DecisionOptions = {}): Promise<Approval> {
    return this.#decide(id, 'approve', options);
  }

  /** Denies the call. A late or repeated decision fails with `approval.expired` or `approval.decided`. */
  deny(id: string, options: DecisionOptions = {}): Promise<Approval> {
    return this.#decide(id, 'deny', options);
  }

  #decide(id: string, decision: DecisionKind, options: DecisionOptions): Promise<Approval> {
    const { signal, timeoutMs, ...rest } = options;
    const json: NewDecision = { decision, ...rest };
    return this.#transport.json({ signal, timeoutMs, method: 'POST', path: `/v1/approvals/${segment(id)}/decision`, json, repeatable: 'refused' });
  }
}
