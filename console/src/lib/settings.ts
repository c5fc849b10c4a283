/** The only things that the console keeps in the browser: the theme, the choice of columns, and whether approvals make a sound. */

type Key = 'theme' | 'sound' | `columns.${string}`;

export function recall(key: Key): string | undefined {
  try {
    return localStorage.getItem(`agent-spaces.${key}`) ?? undefined;
  } catch {
    return undefined;
  }
}

export function remember(key: Key, value: string | undefined): void {
  try {
    if (value === undefined) localStorage.removeItem(`agent-spaces.${key}`);
    else localStorage.setItem(`agent-spaces.${key}`, value.slice(0, 1000));
  } catch {
    // Storage may be off: the choice lasts as long as the page.
  }
}
