/**
 * Colors and indentation of TypeScript for the editor. It reads tokens, not syntax: a whole grammar would be a sixth of
 * the console's size, and the server checks programs anyway.
 */

import type { StreamParser, StringStream } from '@codemirror/language';

/** Place in a template: how many braces are open since its `${`. */
interface Hole {
  braces: number;
}

export interface TypeScriptState {
  /** In a block comment. */
  comment: boolean;
  /** In the text of the innermost template. */
  template: boolean;
  holes: Hole[];
  /** The last token ends a value: a slash divides. */
  value: boolean;
  /** The last token is a dot: a property follows. */
  dot: boolean;
  /** Open `?` of conditional expressions: what stands before a colon is no key then. */
  questions: number;
  /** Indentation of the lines that opened the brackets which are open. */
  open: number[];
}

/** Deeper brackets are not indented. */
const MAX_OPEN = 200;

const words = (text: string): Set<string> => new Set(text.split(' '));

const KEYWORDS = words(
  'abstract as asserts async await break case catch class const continue debugger declare default delete do else enum export extends finally for from function get if implements import in infer instanceof interface is keyof let namespace new of override private protected public readonly return satisfies set static super switch this throw try type typeof using var void while with yield',
);
/** Keywords that are names elsewhere: they count only where a name follows, not before `=`, `:`, `(`, `.` and the like. */
const SOFT = words('abstract as asserts async declare from get implements infer is keyof namespace of override private protected public readonly satisfies set static type using');
const ATOMS = words('true false null undefined NaN Infinity');
const TYPES = words('any bigint boolean never number object string symbol unknown');
const NAME = /^[\p{L}\p{Nl}$_][\p{L}\p{Nl}\p{Mn}\p{Mc}\p{Nd}$_\u200c\u200d]*/u;
const NUMBER = /^(?:0[xX][\da-fA-F_]+n?|0[bB][01_]+n?|0[oO][0-7_]+n?|(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d+)?n?)/;

function template(stream: StringStream, state: TypeScriptState): string {
  while (!stream.eol()) {
    if (stream.match('${')) {
      state.template = false;
      state.holes.push({ braces: 0 });
      state.value = false;
      return 'string';
    }
    const char = stream.next();
    if (char === '\\') stream.next();
    else if (char === '`') {
      state.template = false;
      state.value = true;
      return 'string';
    }
  }
  return 'string';
}

function text(stream: StringStream, quote: string): void {
  for (let char = stream.next(); char && char !== quote; char = stream.next()) if (char === '\\') stream.next();
}

function blockComment(stream: StringStream, state: TypeScriptState): string {
  state.comment = !stream.match(/^.*?\*\//);
  if (state.comment) stream.skipToEnd();
  return 'comment';
}

/** Reads a regular expression literal; false if the line has no end of it. */
function regex(stream: StringStream): boolean {
  return Boolean(stream.match(/^\/(?![*/])(?:[^\\/[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/));
}

function name(stream: StringStream, state: TypeScriptState): string {
  const word = stream.current();
  const property = state.dot;
  state.dot = false;
  const called = stream.match(/^\s*(?:\?\.)?\s*(?:<[^<>()]*>)?\(/, false);
  if (property) {
    state.value = true;
    return called ? 'propertyName.function' : 'propertyName';
  }
  if (ATOMS.has(word)) {
    state.value = true;
    return word === 'true' || word === 'false' ? 'bool' : 'atom';
  }
  const key = state.questions === 0 && stream.match(/^\s*\??:(?!:)/, false);
  if (KEYWORDS.has(word) && !(key && word !== 'default' && word !== 'case') && !(SOFT.has(word) && stream.match(/^\s*(?:[=.,;)\]]|$)/, false))) {
    state.value = word === 'this' || word === 'super';
    return 'keyword';
  }
  state.value = true;
  if (TYPES.has(word) || (/^[A-Z]/.test(word) && /[a-z]/.test(word) && !called)) return 'typeName';
  if (called) return 'variableName.function';
  return key ? 'propertyName' : 'variableName';
}

function opened(stream: StringStream, state: TypeScriptState): void {
  if (state.open.length < MAX_OPEN) state.open.push(stream.indentation());
}

function token(stream: StringStream, state: TypeScriptState): string | null {
  if (state.comment) return blockComment(stream, state);
  if (state.template) return template(stream, state);
  if (stream.eatSpace()) return null;
  if (stream.match('//')) {
    stream.skipToEnd();
    return 'comment';
  }
  if (stream.match('/*')) return blockComment(stream, state);
  if (stream.match(NUMBER)) {
    state.value = true;
    state.dot = false;
    return 'number';
  }
  if (stream.match(NAME)) return name(stream, state);
  if (!state.value && regex(stream)) {
    state.value = true;
    return 'regexp';
  }
  const char = stream.next() ?? '';
  const hole = state.holes.at(-1);
  state.dot = char === '.' && !stream.match('..');
  switch (char) {
    case '"':
    case "'":
      text(stream, char);
      state.value = true;
      return 'string';
    case '`':
      state.template = true;
      return template(stream, state);
    case '{':
      if (hole) hole.braces += 1;
      opened(stream, state);
      state.value = false;
      return 'bracket';
    case '}':
      if (hole && hole.braces === 0) {
        state.holes.pop();
        state.template = true;
        return 'punctuation';
      }
      if (hole) hole.braces -= 1;
      state.open.pop();
      state.value = false;
      return 'bracket';
    case '(':
    case '[':
      opened(stream, state);
      state.value = false;
      return 'bracket';
    case ')':
    case ']':
      state.open.pop();
      state.value = true;
      return 'bracket';
    default:
      state.value = false;
      if (char === '?') {
        if (stream.match(/^\.(?!\d)/)) state.dot = true;
        else if (!stream.match('?') && !stream.match(/^\s*[:,)]/, false)) state.questions += 1;
      } else if (char === ':' || char === ';') state.questions = char === ';' ? 0 : Math.max(0, state.questions - 1);
      return /[;,.:]/.test(char) ? 'punctuation' : 'operator';
  }
}

export const typescriptMode: StreamParser<TypeScriptState> = {
  name: 'typescript',
  startState: () => ({ comment: false, template: false, holes: [], value: false, dot: false, questions: 0, open: [] }),
  copyState: (state) => ({ ...state, open: [...state.open], holes: state.holes.map((hole) => ({ ...hole })) }),
  token,
  indent(state, after, context) {
    if (state.comment || state.template) return null;
    const line = state.open.at(-1);
    if (line === undefined) return 0;
    return /^\s*[)\]}]/.test(after) ? line : line + context.unit;
  },
  languageData: {
    commentTokens: { line: '//', block: { open: '/*', close: '*/' } },
    closeBrackets: { brackets: ['(', '[', '{', "'", '"', '`'] },
    indentOnInput: /^\s*[)\]}]$/,
  },
};

/** Words that the editor offers beside names. */
export const KEYWORD_LIST = ['async', 'await', 'break', 'case', 'catch', 'class', 'const', 'continue', 'default', 'else', 'export', 'finally', 'for', 'from', 'function', 'if', 'import', 'interface', 'let', 'new', 'of', 'return', 'switch', 'throw', 'try', 'type', 'typeof', 'while'];
