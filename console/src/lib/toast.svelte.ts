/** Short notices at the edge of the page. */

export type ToastKind = 'info' | 'error';

export interface Toast {
  id: number;
  text: string;
  kind: ToastKind;
}

const MAX = 4;
let last = 0;

class Toasts {
  items = $state<Toast[]>([]);
}

export const toasts = new Toasts();

/** Shows a notice: `info` for six seconds, `error` until it is closed. */
export function notify(text: string, kind: ToastKind = 'info'): void {
  const id = ++last;
  toasts.items = [...toasts.items.slice(1 - MAX), { id, text: text.slice(0, 500), kind }];
  if (kind === 'info') setTimeout(() => dismiss(id), 6000);
}

export function dismiss(id: number): void {
  toasts.items = toasts.items.filter((toast) => toast.id !== id);
}
