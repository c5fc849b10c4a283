/** Keyboard shortcuts: single keys (`/`) and sequences (`g r`). They do nothing while somebody types or a dialog is open. */

import { untrack } from 'svelte';

export interface Shortcut {
  keys: string;
  label: string;
  group: string;
  run: () => void;
}

class Shortcuts {
  /** Off for people whose speech or switch input types single letters. The help dialog has the switch. */
  on = $state(true);
  items = $state.raw<Shortcut[]>([]);
}

export const shortcuts = new Shortcuts();

/** Adds a shortcut, which the help dialog lists. Returns how to remove it: use it as the result of `$effect`. */
export function shortcut(keys: string, label: string, run: () => void, group = 'This page'): () => void {
  const item: Shortcut = { keys, label, group, run };
  // An effect that adds a shortcut does not depend on the others.
  untrack(() => (shortcuts.items = [...shortcuts.items, item]));
  return () => {
    untrack(() => (shortcuts.items = shortcuts.items.filter((other) => other !== item)));
  };
}

const SEQUENCE_MS = 1200;
let pending = '';
let since = 0;

function typing(event: KeyboardEvent): boolean {
  const target = event.composedPath()[0];
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName);
}

/** Handler of `keydown` of the window. */
export function onKey(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  // The help stays, so that they can be switched on again.
  if (!shortcuts.on && event.key !== '?') return;
  if (event.key.length !== 1 || typing(event) || document.querySelector('dialog[open]')) {
    pending = '';
    return;
  }
  const fresh = event.timeStamp - since < SEQUENCE_MS;
  const typed = pending && fresh ? `${pending} ${event.key}` : event.key;
  // The newest one wins: a page may take a key of the shell.
  const found = shortcuts.items.findLast((item) => item.keys === typed);
  if (found) {
    pending = '';
    event.preventDefault();
    found.run();
  } else if (shortcuts.items.some((item) => item.keys.startsWith(`${typed} `))) {
    pending = typed;
    since = event.timeStamp;
  } else pending = '';
}
