// Fails if the files of dist have more than 300 KB gzipped in total.
import { readdirSync, readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

const LIMIT = 300 * 1000;
const dist = new URL('../dist/', import.meta.url);
let total = 0;
for (const name of readdirSync(dist).filter((one) => one !== 'SHA256SUMS').sort()) {
  const size = gzipSync(readFileSync(new URL(name, dist)), { level: 9 }).length;
  total += size;
  console.log(`${String(size).padStart(8)}  ${name}`);
}
console.log(`${String(total).padStart(8)}  total, of ${LIMIT}`);
if (total > LIMIT) {
  console.error('The console is too large: find what grew, and remove or shrink it.');
  process.exit(1);
}
