// Writes dist/SHA256SUMS, so that a build can be compared with the one that is checked in.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

const dist = new URL('../dist/', import.meta.url);
const names = readdirSync(dist).filter((name) => name !== 'SHA256SUMS').sort();
const lines = names.map((name) => `${createHash('sha256').update(readFileSync(new URL(name, dist))).digest('hex')}  ${name}\n`);
writeFileSync(new URL('SHA256SUMS', dist), lines.join(''));
