/** Program in the playground. It is kept in memory only: it survives a visit to another page, not the tab. */

import { session } from './session.svelte';
import type { Value } from './types';

export const FIRST_PROGRAM = `// A first program. Change it, then press Ctrl+Enter.
// It can call only what is listed beside it.
import input from '@agent-spaces/input';

const words = ['hello', 'from', 'a', 'sandbox'];
console.log(words.join(' '));

// The value of the run:
export default {
  longest: words.reduce((a, b) => (b.length > a.length ? b : a)),
  letters: words.join('').length,
  input,
};
`;

export interface Loaded {
  run: string;
  source: string;
  spaceId: string;
  name: string;
  status: string;
}

class Draft {
  source = $state(FIRST_PROGRAM);
  space = $state<string | undefined>();
  /** Input as JSON text. */
  input = $state('');
  /** Source that is no loss: the first program, or that of a run. */
  origin = $state(FIRST_PROGRAM);
  /** Run that the source comes from. */
  loaded = $state.raw<Loaded | undefined>();

  get changed(): boolean {
    return this.source !== this.origin && this.source.trim() !== '';
  }

  /** Begins with another source. */
  begin(source: string, options: { space?: string; input?: Value; loaded?: Loaded } = {}): void {
    this.source = source;
    this.origin = source;
    if (options.space !== undefined) this.space = options.space;
    this.input = options.input === undefined ? '' : JSON.stringify(options.input, null, 2);
    this.loaded = options.loaded;
  }
}

export const draft = new Draft();

// A session that ends leaves the draft to its author, who may sign in again; somebody else does not get it.
let owner: string | undefined;
$effect.root(() => {
  $effect(() => {
    const name = session.me?.name;
    if (name === undefined) return;
    if (owner !== undefined && owner !== name) {
      draft.begin(FIRST_PROGRAM);
      draft.space = undefined;
    }
    owner = name;
  });
});

addEventListener('beforeunload', (event) => {
  if (draft.changed) event.preventDefault();
});
