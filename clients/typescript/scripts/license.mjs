// Copies the repository's license into the package: npm packs only files below it.
import { copyFileSync } from 'node:fs';

copyFileSync(new URL('../../../LICENSE', import.meta.url), new URL('../LICENSE', import.meta.url));
