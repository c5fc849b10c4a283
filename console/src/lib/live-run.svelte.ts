/** A run that is followed: its status, calls, console output and result. */

import { get, path, send } from './api';
import { asApiError } from './load.svelte';
import { onChange } from './live.svelte';
import { follow } from './stream';
import { ENDED, type ConsoleLine, type Run, type RunEvent, type RunStatus, type Value } from './types';
import type { ApiError } from './api';

export interface FollowedCall {
  id: number;
  function: string;
  params: Value;
  state: 'running' | 'approval' | 'done' | 'failed';
  approvalId?: string;
  durationMs?: number;
  cached?: boolean;
  error?: string;
  progress?: string;
}

const MAX_EVENTS = 2000;
const MAX_CONSOLE = 1000;

export class LiveRun {
  readonly id: string;
  status = $state<RunStatus>('queued');
  events = $state.raw<RunEvent[]>([]);
  calls = $state.raw<FollowedCall[]>([]);
  console = $state.raw<ConsoleLine[]>([]);
  /** Lines that are no longer kept. */
  dropped = $state(0);
  /** The run, when it has ended or waits. */
  run = $state.raw<Run | undefined>();
  error = $state.raw<ApiError | undefined>();
  cancelling = $state(false);
  #stops: (() => void)[] = [];
  #onEnd: ((run: Run) => void) | undefined;
  #scheduled = false;
  #fresh: RunEvent[] = [];

  constructor(run: Run, onEnd?: (run: Run) => void) {
    this.id = run.id;
    this.status = run.status;
    this.#onEnd = onEnd;
    this.#stops.push(
      follow(path`/v1/runs/${run.id}/events`, {
        onEvent: ({ event, data }) => {
          if (event === 'end') {
            this.#flush();
            this.status = data.status ?? this.status;
            void this.load();
          } else if (event === 'status') this.status = data.status ?? this.status;
          else this.#add(data as RunEvent);
        },
        onError: (error) => (this.error = error),
      }),
      onChange('run', (change) => {
        if (change.type === 'run' && change.id === this.id && !this.ended) this.status = change.status;
      }),
    );
  }

  get ended(): boolean {
    return ENDED.includes(this.status);
  }

  /** Events come in bursts: the page is updated once for all of one frame. */
  #add(event: RunEvent): void {
    this.#fresh.push(event);
    if (this.#scheduled) return;
    this.#scheduled = true;
    setTimeout(() => this.#flush(), 30);
  }

  #flush(): void {
    this.#scheduled = false;
    const fresh = this.#fresh;
    this.#fresh = [];
    if (fresh.length === 0) return;
    const lines: ConsoleLine[] = [];
    let calls = this.calls;
    const change = (id: number | undefined, by: Partial<FollowedCall>): void => {
      calls = calls.map((call) => (call.id === id ? { ...call, ...by } : call));
    };
    for (const event of fresh) {
      if (event.type === 'console') lines.push({ level: event['level'], text: String(event['text']) });
      else if (event.type === 'callScheduled' && event.callId !== undefined) {
        const name = event['function'] === event['capability'] ? event['capability'] : `${event['capability']}.${event['function']}`;
        if (calls.length < MAX_EVENTS) calls = [...calls, { id: event.callId, function: String(name), params: event['params'], state: 'running' }];
      } else if (event.type === 'approvalRequired') {
        this.status = 'awaiting_approval';
        change(event.callId, { state: 'approval', approvalId: event['approvalId'] });
      } else if (event.type === 'approvalDecided') {
        if (!this.ended) this.status = 'running';
        change(event.callId, { state: 'running' });
      } else if (event.type === 'callProgress') change(event.callId, { progress: String(event['message'] ?? event['progress'] ?? '') });
      else if (event.type === 'callResult') change(event.callId, { state: 'done', durationMs: event['durationMs'], cached: event['cached'] === true });
      else if (event.type === 'callError') change(event.callId, { state: 'failed', durationMs: event['durationMs'], error: `${event['code']}: ${event['message']}` });
      else if (event.type === 'runStarted' && this.status === 'queued') this.status = 'running';
    }
    this.calls = calls;
    this.events = [...this.events, ...fresh].slice(-MAX_EVENTS);
    if (lines.length > 0) {
      const all = [...this.console, ...lines];
      this.dropped += Math.max(0, all.length - MAX_CONSOLE);
      this.console = all.slice(-MAX_CONSOLE);
    }
  }

  load = async (): Promise<void> => {
    try {
      const run = await get<Run>(path`/v1/runs/${this.id}`);
      this.run = run;
      this.status = run.status;
      this.error = undefined;
      if (this.ended) this.#onEnd?.(run);
    } catch (error) {
      this.error = asApiError(error);
    }
  };

  cancel = async (): Promise<void> => {
    this.cancelling = true;
    try {
      await send('POST', path`/v1/runs/${this.id}/cancel`);
    } catch (error) {
      this.error = asApiError(error);
    } finally {
      this.cancelling = false;
    }
  };

  stop = (): void => {
    for (const stop of this.#stops) stop();
    this.#stops = [];
  };
}
