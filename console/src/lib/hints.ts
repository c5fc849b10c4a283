/** What the author of a function says about its effects, in words. Nobody verifies it. */

import type { CapabilityFunction } from './types';

export interface Hint {
  text: string;
  /** The author warns. */
  warns: boolean;
}

const WORDS: Record<string, [yes: string, no?: string]> = {
  readOnlyHint: ['Says that it changes nothing', 'Says that it changes things'],
  destructiveHint: ['Says that it may destroy data', 'Says that it destroys nothing'],
  idempotentHint: ['Says that it is safe to repeat'],
  openWorldHint: ['Says that it reaches other systems'],
};

export function hintsOf(fn: CapabilityFunction | undefined): Hint[] {
  const given: Record<string, unknown> = fn?.annotations ?? {};
  return Object.entries(WORDS).flatMap(([name, [yes, no]]) => {
    const text = given[name] === true ? yes : given[name] === false ? no : undefined;
    return text === undefined ? [] : [{ text, warns: name === 'destructiveHint' && given[name] === true }];
  });
}
