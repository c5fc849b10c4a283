// WIT of the hosts that edges run in, as one document.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const FOLDER = fileURLToPath(new URL('./wit/', import.meta.url));
// First statement of a file, behind comments.
const PACKAGE = /^((?:\s*\/\/[^\n]*\n)*)\s*package\s+([^;\s]+)\s*;/;

/** The package of edges, and behind it the packages that it uses, nested. */
export function hostWit() {
  const nested = readdirSync(join(FOLDER, 'deps')).filter((name) => name.endsWith('.wit')).map((name) => {
    const text = readFileSync(join(FOLDER, 'deps', name), 'utf8');
    return text.replace(PACKAGE, (_, comments, id) => `${comments}package ${id} {`) + '\n}\n';
  });
  return [readFileSync(join(FOLDER, 'edge.wit'), 'utf8'), ...nested].join('\n');
}
