/** The editable part of a space, and requests made of it. */

import { isStandard } from '../../lib/standard';
import type { Limits, PolicyDecision, Space, SpaceChange, Value } from '../../lib/types';

/** Fields of the form. */
export interface SpaceFields {
  name: string;
  /** Entries; undefined for all of the base. */
  capabilities: string[] | undefined;
  /** Limits that are lower than the base's. */
  limits: Limits;
  /** Policy as JSON text; empty for that of the base. */
  policy: string;
  /** Seconds until the end; empty for no end, or for an end that stays. */
  ttl: string;
}

export type Rule = 'base' | PolicyDecision;

function record(value: unknown): value is Record<string, Value> {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

/** Policy of a text; a message if it is none. */
export function parsePolicy(text: string): Record<string, Value> | undefined | string {
  if (text.trim() === '') return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return record(value) ? value : 'The policy must be a JSON object.';
  } catch (error) {
    return `The policy is not valid JSON: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** Rules over functions of a policy. */
export function rulesOf(policy: Record<string, Value> | undefined): Record<string, Value> {
  const rules = policy?.['functions'];
  return record(rules) ? rules : {};
}

function own(object: Record<string, Value>, name: string): Value {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** Decision that a policy names for exactly this function. */
export function ruleFor(policy: Record<string, Value> | undefined, name: string): Rule {
  const rule = own(rulesOf(policy), name);
  const decision = record(rule) ? rule['decision'] : rule;
  if (record(rule) && decision === undefined) {
    if (rule['requiresApproval'] === true) return 'approval';
    if (rule['requiresApproval'] === false) return 'allow';
  }
  return decision === 'allow' ? 'allow' : decision === 'approve' ? 'approval' : decision === 'deny' ? 'deny' : 'base';
}

/** Policy with another decision for a function; further settings of its rule stay. */
export function withRule(policy: Record<string, Value> | undefined, name: string, rule: Rule): Record<string, Value> | undefined {
  const rules = new Map(Object.entries(rulesOf(policy)));
  const before = rules.get(name);
  const word = rule === 'approval' ? 'approve' : rule;
  if (record(before)) {
    const { decision: _d, requiresApproval: _r, ...rest } = before;
    if (rule !== 'base') rules.set(name, { decision: word, ...rest });
    else if (Object.keys(rest).length > 0) rules.set(name, rest);
    else rules.delete(name);
  } else if (rule === 'base') rules.delete(name);
  else rules.set(name, word);
  const { functions: _, ...others } = policy ?? {};
  const next: Record<string, Value> = rules.size > 0 ? { ...others, functions: Object.fromEntries(rules) } : others;
  return Object.keys(next).length > 0 ? next : undefined;
}

export function policyText(policy: Record<string, Value> | undefined): string {
  return policy === undefined ? '' : JSON.stringify(policy, null, 2);
}

/** Limits that differ from those of the base. */
export function ownLimits(limits: Limits, base: Limits | undefined): Limits {
  if (!base) return limits;
  return Object.fromEntries(Object.entries(limits).filter(([name, n]) => base[name as keyof Limits] !== n));
}

/** Entries that a request lists: the standard library is always there. */
function given(entries: string[]): string[] {
  return entries.filter((entry) => !isStandard(entry));
}

function sameEntries(a: string[], b: string[]): boolean {
  return given(a).length === given(b).length && given(a).every((entry) => b.includes(entry));
}

/** Fields of a space that exists. */
export function fieldsOf(space: Space, base: Space | undefined): SpaceFields {
  return {
    name: space.name,
    capabilities: given(space.capabilities),
    limits: ownLimits(space.limits, base?.limits),
    policy: policyText(space.policy),
    ttl: '',
  };
}

/** Change that a request sends: only what differs. */
export function changeOf(fields: SpaceFields, space: Space, base: Space | undefined): SpaceChange {
  const change: SpaceChange = {};
  const before = fieldsOf(space, base);
  if (fields.name.trim() !== space.name) change.name = fields.name.trim();
  const capabilities = fields.capabilities ?? base?.capabilities ?? space.capabilities;
  if (!sameEntries(capabilities, space.capabilities)) change.capabilities = given(capabilities);
  if (JSON.stringify(sorted(fields.limits)) !== JSON.stringify(sorted(before.limits))) change.limits = fields.limits;
  const policy = parsePolicy(fields.policy);
  if (typeof policy !== 'string' && JSON.stringify(policy ?? {}) !== JSON.stringify(space.policy ?? {})) change.policy = policy ?? {};
  const seconds = secondsOf(fields.ttl);
  if (typeof seconds === 'number') change.ttlSeconds = seconds;
  return change;
}

function sorted(limits: Limits): [string, number][] {
  return Object.entries(limits).sort(([a], [b]) => (a < b ? -1 : 1));
}

/** The space as it would be after a change, as far as a diff shows it. */
export function shownSpace(space: Space, change: SpaceChange = {}, base?: Space): Record<string, Value> {
  const ends = change.ttlSeconds === undefined ? space.expiresAt : `${change.ttlSeconds} seconds after the save`;
  const policy = change.policy ?? space.policy;
  return {
    name: change.name ?? space.name,
    ...(space.base === undefined ? {} : { base: space.base }),
    capabilities: change.capabilities ? [...space.capabilities.filter(isStandard), ...change.capabilities].sort() : [...space.capabilities].sort(),
    limits: change.limits ? { ...(base?.limits ?? space.limits), ...change.limits } : space.limits,
    ...(policy === undefined || Object.keys(policy).length === 0 ? {} : { policy }),
    ...(ends === undefined ? {} : { expiresAt: ends }),
  };
}

const MAX_TTL = 366 * 24 * 60 * 60;

/** Seconds that a text means: `90`, `30m`, `2h`, `7d`; a message if it is wrong. */
export function secondsOf(text: string): number | undefined | string {
  const trimmed = text.trim();
  if (trimmed === '') return undefined;
  const found = /^(\d+(?:\.\d+)?)\s*(s|m|min|h|d)?$/.exec(trimmed);
  if (!found) return 'Write a number with a unit: 30m, 2h or 7d.';
  const factor = { s: 1, m: 60, min: 60, h: 3600, d: 86400 }[found[2] ?? 's'] ?? 1;
  const seconds = Math.round(Number(found[1]) * factor);
  return seconds < 1 || seconds > MAX_TTL ? 'From one second to 366 days.' : seconds;
}
