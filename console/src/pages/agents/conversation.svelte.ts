/**
 * Conversation with an agent: the session as it is stored, and the question under way. It lives as long as the sign-in,
 * so that somebody who looks at a run in between does not cancel the question: the server ends one whose client goes.
 */

import { ApiError, get, path, request } from '../../lib/api';
import { ofEvent, type Request } from '../../lib/approval-request';
import { asApiError } from '../../lib/load.svelte';
import { session } from '../../lib/session.svelte';
import { read, type StreamEvent } from '../../lib/stream';
import type { Me } from '../../lib/types';
import type { Answer, LiveTurn, SessionPart } from './types';

/** Pieces of text are shown together, at most this often. */
const FLUSH_MS = 60;
/** Longest text of a question that is kept while it is under way. */
const MAX_TEXT = 4 * 1024 * 1024;
const MAX_TURNS = 500;
/** Notes and calls of a turn that are kept. */
const MAX_NOTES = 200;
/** Messages of a session that are kept, the newest ones, and answers that are read for them: each has some megabytes. */
const MAX_MESSAGES = 5000;
const MAX_PARTS = 40;

function fresh(number: number): LiveTurn {
  return { number, text: '', reasoning: '', calls: [], notes: [] };
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function amount(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0;
}

export class Conversation {
  readonly agent: string;
  /** Id of the session; undefined for one that has not begun. */
  id = $state<string | undefined>();
  stored = $state.raw<SessionPart | undefined>();
  /** True if the beginning of a very long session is left out. */
  cut = $state(false);
  loadError = $state.raw<ApiError | undefined>();
  loading = $state(false);
  /** The question under way, or the last one, if the session does not have it yet. */
  question = $state<string | undefined>();
  turns = $state<LiveTurn[]>([]);
  approvals = $state.raw<Request[]>([]);
  asking = $state(false);
  /** How the last question ended, if not well. */
  ended = $state.raw<{ kind: 'stopped' | 'limit'; text: string } | undefined>();
  error = $state.raw<ApiError | undefined>();
  /** Grows with every answer, so that lists load again. */
  answers = $state(0);
  /** Text that somebody has typed and not sent. */
  draft = $state('');

  #owner: Me | undefined = session.me;
  #abort: AbortController | undefined;
  #loads: AbortController | undefined;
  #pending: { text: string; reasoning: string } = { text: '', reasoning: '' };
  #timer: ReturnType<typeof setTimeout> | undefined;
  #size = 0;

  constructor(agent: string) {
    this.agent = agent;
  }

  /** Opens a session, or begins a new one. Not while a question is under way. */
  open = async (id: string | undefined): Promise<void> => {
    if (this.asking || (id === this.id && (id === undefined || this.loading || this.stored !== undefined))) return;
    // The answer about a session that was left must not come into this one.
    this.#loads?.abort();
    this.loading = false;
    this.id = id;
    this.#clear();
    this.stored = undefined;
    this.cut = false;
    this.loadError = undefined;
    if (id !== undefined) await this.load();
  };

  load = async (): Promise<boolean> => {
    const { id } = this;
    if (id === undefined) return false;
    this.#loads?.abort();
    const abort = new AbortController();
    this.#loads = abort;
    this.loading = true;
    try {
      const { stored, cut } = await this.#whole(id, abort.signal);
      if (abort.signal.aborted) return false;
      this.stored = stored;
      this.cut = cut;
      this.loadError = undefined;
      return true;
    } catch (error) {
      if (!abort.signal.aborted) this.loadError = asApiError(error);
      return false;
    } finally {
      if (!abort.signal.aborted) this.loading = false;
    }
  };

  /** Reads a session, which comes in parts, the oldest first. */
  async #whole(id: string, signal: AbortSignal): Promise<{ stored: SessionPart; cut: boolean }> {
    const place = path`/v1/agents/${this.agent}/sessions/${id}`;
    const first = await get<SessionPart>(place, {}, signal);
    let messages = first.messages;
    let { next } = first;
    let cut = false;
    for (let parts = 1; next !== undefined && parts < MAX_PARTS; parts++) {
      const part: SessionPart = await get(place, { cursor: next }, signal);
      messages = messages.concat(part.messages);
      if (messages.length > MAX_MESSAGES) {
        messages = messages.slice(-MAX_MESSAGES);
        cut = true;
      }
      next = part.next;
    }
    return { stored: { ...first, messages }, cut };
  }

  ask = async (question: string): Promise<void> => {
    if (this.asking || question.trim() === '') return;
    this.#clear();
    this.question = question;
    this.asking = true;
    const abort = new AbortController();
    this.#abort = abort;
    let answer: Answer | undefined;
    try {
      const response = await request(path`/v1/${this.agent}`, {
        method: 'POST',
        headers: { accept: 'text/event-stream', 'content-type': 'application/json' },
        body: JSON.stringify({ question, session: this.id ?? 'new', stream: true }),
        signal: abort.signal,
      });
      answer = await this.#read(response);
      if (answer === undefined) throw new ApiError({ status: 0, code: 'network', detail: 'The connection was cut before the answer was whole. The question was cancelled.' });
      if (typeof answer.session === 'string') this.id = answer.session;
      if (answer.ending !== 'done') this.ended = { kind: 'limit', text: answer.message ?? `The agent ended with: ${answer.ending}.` };
    } catch (error) {
      if (abort.signal.aborted) this.ended = { kind: 'stopped', text: 'Stopped. What the agent did before stays done.' };
      else this.error = asApiError(error);
    } finally {
      this.#flush();
      this.asking = false;
      this.approvals = [];
      this.#abort = undefined;
    }
    for (const turn of this.turns) for (const call of turn.calls) if (call.status === 'running') call.status = 'failed';
    // The session has the calls with their arguments, results and runs.
    if (this.id !== undefined && (await this.load()) && answer !== undefined) {
      this.question = undefined;
      this.turns = [];
    }
    this.answers += 1;
  };

  stop = (): void => this.#abort?.abort();

  /** Ends everything; for a sign-out. */
  close = (): void => {
    this.#loads?.abort();
    this.stop();
  };

  decided(id: string): void {
    this.approvals = this.approvals.filter((approval) => approval.id !== id);
  }

  #clear(): void {
    this.question = undefined;
    this.turns = [];
    this.approvals = [];
    this.ended = undefined;
    this.error = undefined;
    this.#pending = { text: '', reasoning: '' };
    this.#size = 0;
  }

  async #read(response: Response): Promise<Answer | undefined> {
    let answer: Answer | undefined;
    await read(response, (event) => {
      // Whoever signed out must not see the rest.
      if (session.me !== this.#owner) this.#abort?.abort();
      else if (event.event === 'answer') answer = event.data as Answer;
      else this.#take(event);
    });
    return answer;
  }

  #turn(): LiveTurn {
    const last = this.turns.at(-1);
    if (last) return last;
    this.turns.push(fresh(1));
    return this.turns[0] as LiveTurn;
  }

  #take({ event, data }: StreamEvent): void {
    if (event === 'error') {
      const problem = data as { status?: number; code?: string; detail?: string };
      throw new ApiError({ ...problem, status: amount(problem?.status), code: problem?.code ?? 'agent', detail: problem?.detail ?? 'The agent failed.' });
    }
    if (data === null || typeof data !== 'object') return;
    if (event === 'text' || event === 'reasoning') {
      const piece = text(data.text);
      this.#size += piece.length;
      if (this.#size > MAX_TEXT) return;
      this.#pending[event] += piece;
      this.#timer ??= setTimeout(this.#flush, FLUSH_MS);
      return;
    }
    this.#flush();
    switch (event) {
      case 'turn':
        if (this.turns.length < MAX_TURNS) this.turns.push(fresh(amount(data.number) || this.turns.length + 1));
        break;
      case 'asking': {
        const turn = this.#turn();
        turn.model = text(data.model);
        break;
      }
      case 'modelFailed': {
        const turn = this.#turn();
        // Text since the model was asked is void.
        turn.text = '';
        turn.reasoning = '';
        const next = text(data.next);
        this.#note(`${text(data.model)} failed: ${text(data.message)}${next ? ` Next: ${next}.` : ''}`);
        break;
      }
      case 'answered': {
        const turn = this.#turn();
        turn.model = text(data.model);
        turn.usage = { inputTokens: amount(data.inputTokens), outputTokens: amount(data.outputTokens) };
        break;
      }
      case 'callStarted':
        if (this.#turn().calls.length < MAX_NOTES) this.#turn().calls.push({ id: text(data.id), name: text(data.name), status: 'running' });
        break;
      case 'callFinished': {
        const call = this.turns.findLast((turn) => turn.calls.some((known) => known.id === data.id))?.calls.findLast((known) => known.id === data.id);
        if (call) {
          call.status = data.isError === true ? 'failed' : 'finished';
          call.bytes = amount(data.bytes);
        }
        break;
      }
      case 'approvalRequired':
        this.approvals = [
          ...this.approvals.filter((known) => known.id !== data.id),
          ofEvent({ id: text(data.id), agent: this.agent, message: text(data.message), call: data.call }),
        ];
        break;
      case 'approvalDecided':
        this.decided(text(data.id));
        this.#note(data.approved === true ? 'A person approved the call.' : 'The call was denied, or nobody decided in time.');
        break;
      case 'note':
        this.#note(text(data.text));
        break;
    }
  }

  #note(note: string): void {
    const { notes } = this.#turn();
    if (notes.length < MAX_NOTES) notes.push(note);
  }

  #flush = (): void => {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const { text: more, reasoning } = this.#pending;
    if (more === '' && reasoning === '') return;
    this.#pending = { text: '', reasoning: '' };
    const turn = this.#turn();
    turn.text += more;
    turn.reasoning += reasoning;
  };
}

const known = new Map<string, Conversation>();
let owner: Me | undefined;

/** Conversation of the caller with an agent. Another caller in the same window begins with none. */
export function conversation(agent: string): Conversation {
  if (owner !== session.me) {
    for (const old of known.values()) old.close();
    known.clear();
    owner = session.me;
  }
  let found = known.get(agent);
  if (!found) {
    found = new Conversation(agent);
    known.set(agent, found);
  }
  return found;
}
