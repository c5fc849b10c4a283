// --- counts words
const words = 'the quick the lazy the'.split(/\s+/);
const freq = {};
words.forEach((w) => (freq[w] = (freq[w] || 0) + 1));
Object.entries(freq).sort(([, a], [, b]) => b - a).slice(0, 1);
// --- named groups
const match = '2026-03-09'.match(/(?<year>\d{4})-(?<month>\d\d)-(?<day>\d\d)/);
const { year, month } = match.groups;
`${month}/${year}`;
// --- a match that may fail
const m = /id=(\d+)/.exec('x id=42 y');
const id = m ? Number(m[1]) : null;
id;
// --- all matches
const links = [...'[a](b) [c](d)'.matchAll(/\[(\w)\]\((\w)\)/g)].map(([, text, href]) => ({ text, href }));
links;
// --- replaces with a function
'hello world'.replace(/\b\w/g, (c) => c.toUpperCase());
// --- a template engine
const render = (t, vars) => t.replace(/\{\{(\w+)\}\}/g, (_, k) => vars[k] ?? '');
render('Hi {{name}}, {{count}} new', { name: 'Ada', count: 3 });
// --- camel to snake and back
const snake = (s) => s.replace(/[A-Z]/g, (c) => '_' + c.toLowerCase());
const camel = (s) => s.replace(/_(\w)/g, (_, c) => c.toUpperCase());
camel(snake('someLongName'));
// --- builds a table
const rows = [['name', 'n'], ['a', 1], ['bb', 22]];
const widths = rows[0].map((_, i) => Math.max(...rows.map((r) => String(r[i]).length)));
rows.map((r) => r.map((c, i) => String(c).padEnd(widths[i])).join(' | ')).join('\n');
// --- builds markdown
let md = '# Title\n';
for (const item of ['x', 'y']) md += `- ${item}\n`;
md += `\nTotal: ${md.length}`;
md;
// --- dates and arithmetic
const day = 24 * 60 * 60 * 1000;
const from = new Date('2026-01-01'), to = new Date('2026-01-31');
Math.round((to - from) / day);
// --- dates compared and moved
const d = new Date(Date.UTC(2026, 0, 31));
d.setUTCDate(d.getUTCDate() + 1);
d > new Date(0) && d.toISOString().slice(0, 10);
// --- dates sorted by number
const dates = ['2026-05-01', '2025-01-01'].map((s) => new Date(s));
dates.sort((a, b) => +a - +b);
dates[0].getUTCFullYear();
// --- formats a date by hand
const pad = (n) => String(n).padStart(2, '0');
const t = new Date(0);
`${t.getUTCFullYear()}-${pad(t.getUTCMonth() + 1)}-${pad(t.getUTCDate())}`;
// --- weekdays
const names = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
names[new Date('2026-03-09T00:00:00Z').getUTCDay()];
// --- ages
function age(birth, now = new Date('2026-06-01')) {
  const b = new Date(birth);
  let years = now.getFullYear() - b.getFullYear();
  if (now < new Date(now.getFullYear(), b.getMonth(), b.getDate())) years--;
  return years;
}
age('1990-12-24');
// --- reads query parameters
const url = new URL('https://x.test/p?a=1&b=2&a=3');
url.searchParams.append('c', String(4));
Object.fromEntries(url.searchParams);
// --- builds an address
const params = new URLSearchParams({ q: 'a b', page: '2' });
params.set('limit', '10');
`https://x.test/?${params}`;
// --- numbers into a query
const query = new URLSearchParams();
for (const [k, v] of Object.entries({ page: 1, size: 20 })) query.set(k, `${v}`);
query.toString();
// --- encodes and decodes
const bytes = new TextEncoder().encode('héllo');
const back = new TextDecoder().decode(bytes);
[bytes.length, back, btoa('abc'), atob('YWJj')];
// --- a hash by hand
let h = 0;
for (const ch of 'hash me') h = (h * 31 + ch.charCodeAt(0)) | 0;
(h >>> 0).toString(16);
// --- slugs
const slug = (s) => s.normalize('NFD').replace(/[\u0300-\u036f]/g, '').toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '');
slug('Héllo, Wörld!');
// --- cuts long text
const truncate = (s, n = 10) => (s.length > n ? s.slice(0, n - 1) + '…' : s);
truncate('a rather long sentence');
// --- palindromes
const clean = 'A man, a plan'.toLowerCase().replace(/\W/g, '');
clean === [...clean].reverse().join('');
// --- a tokenizer
const tokens = [];
const re = /\s*(?:(\d+\.?\d*)|(.))/gy;
let tok;
while ((tok = re.exec('1 + 23*4')) !== null && tok[0] !== '') tokens.push(tok[1] ? +tok[1] : tok[2]);
tokens;
// --- parses a log
const log = '2026-01-01 ERROR a failed\n2026-01-02 INFO fine\nbroken';
const entries = log.split('\n').map((line) => {
  const hit = line.match(/^(\S+) (\w+) (.*)$/);
  if (!hit) return null;
  const [, date, level, message] = hit;
  return { date, level, message };
}).filter((e) => e !== null);
entries.filter((e) => e.level === 'ERROR').map((e) => e.message);
// --- parses settings of lines
const ini = 'a=1\n# note\nb = two\n';
const settings = {};
for (const line of ini.split(/\r?\n/)) {
  const l = line.trim();
  if (!l || l.startsWith('#')) continue;
  const [k, ...v] = l.split('=');
  settings[k.trim()] = v.join('=').trim();
}
settings.a + settings.b;
// --- joins with and
const and = (xs) => (xs.length < 2 ? xs.join('') : xs.slice(0, -1).join(', ') + ' and ' + xs.at(-1));
and(['a', 'b', 'c']);
// --- plural
const plural = (n, w) => `${n} ${w}${n === 1 ? '' : 's'}`;
[plural(1, 'file'), plural(2, 'file')];
// --- money
const money = (cents) => `€${(cents / 100).toFixed(2).replace(/\B(?=(\d{3})+(?!\d))/g, ',')}`;
money(123456789);
// --- bytes for people
const human = (n) => { const u = ['B', 'KB', 'MB']; let i = 0; while (n >= 1024 && i < 2) { n /= 1024; i++; } return n.toFixed(1) + u[i]; };
human(123456);
// --- a tagged template
const sql = (strings, ...values) => ({ text: strings.join('?'), values });
const q = sql`select * from t where id = ${5} and n = ${'x'}`;
q.text;
// --- levenshtein
const lev = (a, b) => {
  const d = Array.from({ length: a.length + 1 }, (_, i) => [i, ...Array(b.length).fill(0)]);
  for (let j = 1; j <= b.length; j++) d[0][j] = j;
  for (let i = 1; i <= a.length; i++)
    for (let j = 1; j <= b.length; j++)
      d[i][j] = Math.min(d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1));
  return d[a.length][b.length];
};
lev('kitten', 'sitting');
// --- escapes html
const esc = (s) => s.replace(/[&<>]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' }[c]));
esc('<a & b>');
// --- characters and code points
[...'a😀b'].map((c) => c.codePointAt(0).toString(16));
// --- sorts texts of numbers
['10', '9', '2'].sort((a, b) => a - b);
// --- splits names
const [first, last = ''] = 'Ada'.split(' ');
({ first, last });
// --- a regex from parts
const escape2 = (s) => s.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
new RegExp(`^${escape2('a.b')}`, 'i').test('A.B');
// --- indents json
JSON.stringify({ b: 1, a: [1, { c: null }] }, null, 2).split('\n').length;
// --- stringify with a replacer
JSON.stringify({ at: new Date(0), big: 5n }, (k, v) => (typeof v === 'bigint' ? v.toString() : v));
// --- revives
JSON.parse('{"at":"1970-01-01T00:00:00.000Z"}', (k, v) => (k === 'at' ? new Date(v) : v)).at.getTime();
