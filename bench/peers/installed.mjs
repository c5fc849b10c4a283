// What `npm ci` has put here.

import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const at = (path) => fileURLToPath(new URL(`node_modules/${path}`, import.meta.url));

const node = at(`node-${process.platform}-${process.arch}/bin/node`);

// The node that the peers run in: null where there is none for this machine, which then uses its own.
export const packagedNode = existsSync(node) ? node : null;

// Why a peer can not run here, or null.
export function missing({ packages, node: least = 0 }) {
  for (const name of packages) if (!existsSync(at(name))) return `${name} is not installed: run npm ci in bench/peers`;
  if (packagedNode === null && Number(process.versions.node.split('.')[0]) < least)
    return `it wants node ${least} or newer, and this is node ${process.versions.node}`;
  return null;
}
