/** Light or dark: the system's choice, or the reader's. */

import { recall, remember } from './settings';

export type Theme = 'system' | 'light' | 'dark';

const system = matchMedia('(prefers-color-scheme: dark)');

function known(value: string | undefined): Theme {
  return value === 'light' || value === 'dark' ? value : 'system';
}

class ThemeChoice {
  #choice = $state<Theme>(known(recall('theme')));
  #systemDark = $state(system.matches);

  constructor() {
    system.addEventListener('change', () => {
      this.#systemDark = system.matches;
      this.apply();
    });
  }

  get choice(): Theme {
    return this.#choice;
  }

  set choice(value: Theme) {
    this.#choice = value;
    remember('theme', value === 'system' ? undefined : value);
    this.apply();
  }

  get dark(): boolean {
    return this.#choice === 'system' ? this.#systemDark : this.#choice === 'dark';
  }

  apply(): void {
    document.documentElement.dataset['theme'] = this.dark ? 'dark' : 'light';
  }
}

export const theme = new ThemeChoice();
