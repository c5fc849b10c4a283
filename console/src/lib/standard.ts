/** The standard library: every space has it, so lists show it after what a space was given. */

export const STANDARD = '@agent-spaces/std';

export function isStandard(module: string): boolean {
  return module === STANDARD;
}

/** What was given to a space first, then the standard library; otherwise in the same order. */
export function givenFirst<T extends { module: string }>(list: readonly T[]): T[] {
  return [...list.filter((one) => !isStandard(one.module)), ...list.filter((one) => isStandard(one.module))];
}
