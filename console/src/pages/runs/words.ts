/** Words for the states of calls, by their numbers. */
export const STATE_WORDS: readonly string[] = ['returned', 'in progress', 'waits for approval', 'failed'];
export const STATE_KINDS: readonly ('good' | 'info' | 'warn' | 'bad')[] = ['good', 'info', 'warn', 'bad'];
