/** Types of the agents' API that only this page uses. */

import type { AgentMessage, AgentSession, AgentUsage } from '../../lib/types';

/** Session in a list; `caller` is missing for those of the operator. */
export type ListedSession = AgentSession & { caller?: string };

/** Message of a session, with members of the server that not all have. */
export type StoredMessage = AgentMessage & { model?: string; images?: number; ending?: string };

/** Part of a session: `next` is the cursor of the messages that follow. */
export type SessionPart = ListedSession & { messages: StoredMessage[]; next?: string };

/** `answer`, the last event of a question. */
export interface Answer {
  ok: boolean;
  text: string;
  ending: string;
  message?: string;
  turns: number;
  usage: AgentUsage;
  cost?: number;
  model: string;
  session: string | null;
}

/** A call of a turn that is under way. The stream leaves out arguments and results; the session has them afterwards. */
export interface LiveCall {
  id: string;
  name: string;
  status: 'running' | 'finished' | 'failed';
  bytes?: number;
}

/** A turn that is under way. */
export interface LiveTurn {
  number: number;
  model?: string;
  text: string;
  reasoning: string;
  calls: LiveCall[];
  notes: string[];
  usage?: AgentUsage;
}
