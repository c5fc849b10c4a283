// stdin: { globals, modules: [{ hostile, plain, empty, js }] }, each a text. stdout: a JSON list of what is wrong.
import { createRequire } from 'node:module';
import { readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';

const ts = createRequire(import.meta.url)(
  join(dirname(realpathSync(process.env.AGENT_SPACES_TSC)), '..', 'lib', 'typescript.js'),
);
const { globals, modules } = JSON.parse(readFileSync(0, 'utf8'));
const problems = [];

const parse = (name, text) => ts.createSourceFile(name, text, ts.ScriptTarget.ES2023, true);

// Kinds and the texts of leaves; comments are no nodes.
function shape(source) {
  const lines = [];
  (function visit(node, depth) {
    const children = [];
    ts.forEachChild(node, (child) => void children.push(child));
    lines.push(`${' '.repeat(depth)}${ts.SyntaxKind[node.kind]} ${children.length === 0 ? node.getText(source) : ''}`);
    for (const child of children) visit(child, depth + 1);
  })(source, 0);
  return lines.join('\n');
}

// The names of all JSDoc tags, in order; inline ones ({@link}) too.
function tags(source) {
  const names = [];
  (function visit(node) {
    for (const doc of node.jsDoc ?? []) {
      for (const part of Array.isArray(doc.comment) ? doc.comment : [])
        if (part.kind !== ts.SyntaxKind.JSDocText) names.push('inline');
      for (const tag of doc.tags ?? []) names.push(tag.tagName.text);
    }
    ts.forEachChild(node, visit);
  })(source);
  return names.join(' ');
}

const files = new Map([['/globals.d.ts', parse('/globals.d.ts', globals)]]);
modules.forEach(({ hostile, plain, empty, js }, index) => {
  const source = parse(`/${index}.d.ts`, hostile);
  files.set(source.fileName, source);
  const script = parse(`/${index}.js`, js);
  for (const { messageText } of [...source.parseDiagnostics, ...script.parseDiagnostics])
    problems.push({ index, problem: ts.flattenDiagnosticMessageText(messageText, '\n'), hostile, js });
  if (shape(source) !== shape(parse('/empty.d.ts', empty))) problems.push({ index, problem: 'shape', hostile, empty });
  const found = tags(source);
  const expected = tags(parse('/plain.d.ts', plain));
  if (found !== expected) problems.push({ index, problem: `tags: ${found}, not ${expected}`, hostile, plain });
});

const options = { strict: true, noEmit: true, target: ts.ScriptTarget.ES2023, lib: ['lib.es2023.d.ts'], types: [] };
const host = ts.createCompilerHost(options);
const { getSourceFile, fileExists, readFile } = host;
host.getSourceFile = (name, ...rest) => files.get(name) ?? getSourceFile.call(host, name, ...rest);
host.fileExists = (name) => files.has(name) || fileExists.call(host, name);
host.readFile = (name) => files.get(name)?.text ?? readFile.call(host, name);
const program = ts.createProgram([...files.keys()], options, host);
for (const diagnostic of ts.getPreEmitDiagnostics(program)) {
  const { file, start, messageText } = diagnostic;
  const { line } = file ? file.getLineAndCharacterOfPosition(start) : { line: 0 };
  problems.push({
    file: file?.fileName,
    problem: ts.flattenDiagnosticMessageText(messageText, '\n'),
    line: file?.text.split('\n')[line],
  });
}
process.stdout.write(JSON.stringify(problems));
