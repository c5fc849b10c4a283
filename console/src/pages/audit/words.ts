/** Entries of the audit log in words. */

import { oneLine, preview } from '../../lib/text';
import type { AuditEntry, AuditVerification } from '../../lib/types';
import { count, duration, plural } from '../../lib/format';

type Kind = 'neutral' | 'info' | 'good' | 'warn' | 'bad';

const TYPES: Record<string, [words: string, kind: Kind]> = {
  apiAction: ['Action', 'info'],
  runStarted: ['Run started', 'neutral'],
  runFinished: ['Run ended', 'neutral'],
  runPaused: ['Run paused', 'neutral'],
  runResumed: ['Run resumed', 'neutral'],
  callScheduled: ['Call', 'neutral'],
  callProgress: ['Progress of a call', 'neutral'],
  callRepeated: ['Call repeated', 'warn'],
  callResult: ['Result of a call', 'good'],
  callError: ['Call failed', 'bad'],
  callsSummarised: ['Calls, counted', 'neutral'],
  approvalRequired: ['Approval needed', 'warn'],
  approvalDecided: ['Approval decided', 'info'],
  limitReached: ['Limit reached', 'bad'],
  console: ['Printed', 'neutral'],
  auditBudgetSpent: ['Budget of the log spent', 'warn'],
  gap: ['Gap in the log', 'bad'],
  recovered: ['Log recovered', 'warn'],
  rotated: ['New file of the log', 'neutral'],
  omitted: ['Entry left out', 'warn'],
};

/** Types that the search offers. */
export const KNOWN_TYPES: readonly string[] = Object.keys(TYPES);

export function typeWords(type: unknown): [string, Kind] {
  return TYPES[String(type)] ?? [oneLine(String(type ?? 'Unknown'), 60), 'neutral'];
}

const ACTIONS: Record<string, string> = {
  'space.created': 'made a space',
  'space.changed': 'changed a space',
  'space.deleted': 'deleted a space',
  'space.expired': 'a space reached its end',
  'webhook.changed': 'changed a webhook',
  'run.created': 'started a run',
  'run.cancelled': 'cancelled a run',
  'run.resumed': 'resumed a run',
  'call.answered': 'said how a call ended',
  'approval.decided': 'decided on an approval',
  'program.published': 'published a program',
  'program.deleted': 'deleted a program',
  'file.written': 'wrote a file',
  'file.deleted': 'deleted a file',
  'server.accepted': 'accepted a change of an MCP server',
  'session.created': 'signed in to the console',
  'session.ended': 'signed out of the console',
};

/** Kinds of actions that the search offers. */
export const KNOWN_ACTIONS: readonly string[] = Object.keys(ACTIONS);

export function actionWords(action: string): string {
  const words = ACTIONS[action] ?? action;
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Who an entry is of. */
export function who({ entry }: AuditEntry): string {
  if (typeof entry['caller'] === 'string') return entry['caller'];
  return entry['operator'] === true ? 'the operator' : '';
}

/** What an entry is about, in one line. All of it is untrusted text. */
export function about({ entry }: AuditEntry): string {
  const words: string[] = [];
  const add = (value: unknown): void => {
    if (typeof value === 'string' && value !== '') words.push(value);
    else if (value !== undefined && value !== null && value !== '') words.push(preview(value, 120));
  };
  if (entry.type === 'apiAction') {
    const action = String(entry['action'] ?? '');
    add(ACTIONS[action] ?? action);
    for (const name of ['decision', 'by', 'program', 'path', 'server', 'name']) add(entry[name]);
  } else {
    if (typeof entry['ok'] === 'boolean') words.push(entry['ok'] ? 'ended well' : 'failed');
    for (const name of ['script', 'function', 'functionId', 'level', 'text', 'name', 'status', 'decision', 'by', 'limit', 'message', 'error', 'why', 'entries', 'params']) {
      if (name === 'functionId' && entry['function'] !== undefined) continue;
      add(entry[name]);
      if (words.length >= 4) break;
    }
    if (typeof entry['durationMs'] === 'number') words.push(duration(entry['durationMs']));
  }
  return oneLine(words.join(' · '), 240);
}

/** Verdict of a verification in plain words: what it means, and what to do. */
export function verdictWords(found: AuditVerification): { kind: 'good' | 'warn' | 'bad'; title: string; text: string } {
  const entries = plural(Number(found.entries ?? 0), 'entry', 'entries');
  const said = typeof found['message'] === 'string' ? ` ${oneLine(found['message'], 500)}.` : '';
  switch (found.verdict) {
    case 'unchanged':
      return { kind: 'good', title: 'The log is whole', text: `All ${entries} are as they were written, and none is missing.` };
    case 'gaps':
      return { kind: 'warn', title: 'The log has gaps', text: `No line was changed, but ${count(Number(found.gaps ?? 0) + Number(found.unwritten ?? 0))} entries could not be written at their time. The log itself counts them.` };
    case 'missing':
      return { kind: 'bad', title: 'Entries are missing', text: `At least ${count(Number(found.lost ?? 0))} entries are missing at the end. A crash lost them, or somebody cut the log. Compare it with heads that are kept elsewhere.` };
    case 'changed':
      return {
        kind: 'bad',
        title: 'The log was changed',
        text: `A line is not what was signed${typeof found['line'] === 'number' ? ` (line ${count(found['line'])})` : ''}.${said} Keep the log and its folder of heads as evidence.`,
      };
    default:
      return { kind: 'warn', title: 'The log could not be judged', text: `${oneLine(String(found.verdict ?? 'unknown'), 100)}.${said}` };
  }
}
