// Regenerates src/schema.ts from the OpenAPI document.
//
// openapi-typescript and its TypeScript are not dependencies of the package: install them anywhere and name the folder:
//   npm install --prefix /tmp/clients-tools openapi-typescript@7.13 typescript@5.9
//   node scripts/generate.mjs /tmp/clients-tools
import { createHash } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const clients = fileURLToPath(new URL('../../', import.meta.url));
const tools = process.argv[2];
if (tools === undefined) {
  console.error('usage: node scripts/generate.mjs FOLDER_WITH_OPENAPI_TYPESCRIPT');
  process.exit(2);
}
const document = join(clients, 'openapi.json');
const digest = createHash('sha256').update(readFileSync(document)).digest('hex');
const types = execFileSync(process.execPath, [join(tools, 'node_modules/openapi-typescript/bin/cli.js'), document], {
  encoding: 'utf8',
  stdio: ['ignore', 'pipe', 'ignore'],
});
// The test of the surface compares this digest: it fails if the document changed and this file did not.
writeFileSync(join(clients, 'typescript/src/schema.ts'), `// OpenAPI document: sha256 ${digest}\n${types}`);
