// Builds the component of wasi.js. Its engine may import nothing of WASI but what wasi.js names: the builder replaces every
// other import, and would replace these too, so they have other names of the same length until it is done.
import { componentize } from 'componentize-qjs';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hostWit } from '../wit.mjs';

const NAMES = [['wasi:http/', 'wazi:http/'], ['wasi:io/', 'wazi:io/'], ['package wasi:http@', 'package wazi:http@'], ['package wasi:io@', 'package wazi:io@']];

/** The component that answers `agent-spaces:std/http` over WASI. */
export async function httpAdapter() {
  const folder = mkdtempSync(join(tmpdir(), 'agent-spaces-edge-'));
  try {
    const disguise = (text) => NAMES.reduce((now, [from, to]) => now.replaceAll(from, to), text);
    const witPath = join(folder, 'adapter.wit');
    writeFileSync(witPath, disguise(hostWit()));
    const jsSource = disguise(readFileSync(new URL('./wasi.js', import.meta.url), 'utf8'));
    const { component } = await componentize({ witPath, jsSource, world: 'http-adapter', stubWasi: true, optSize: true });
    return restore(component);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function restore(component) {
  const bytes = Buffer.from(component);
  for (const [to, from] of NAMES.slice(0, 2)) {
    for (let at = bytes.indexOf(from); at >= 0; at = bytes.indexOf(from, at + 1)) bytes.write(to, at, 'latin1');
  }
  return bytes;
}
