// Every function of the standard library, with every type that its declarations name.
import { fs, http, json, csv, crypto, time } from '@agent-spaces/std';
import type { Entry, HttpOptions, HttpResponse, Stats, TimeParts } from '@agent-spaces/std';

const text: string = await fs.readFile('a');
const raw: Uint8Array = await fs.readBytes('a');
await fs.writeFile('a', text); await fs.writeBytes('a', raw); await fs.appendFile('a', text);
const entries: Entry[] = [...await fs.list(), ...await fs.list('a')];
const size: number | undefined = entries[0]?.size;
const stats: Stats = await fs.stat('a');
const kind: 'file' | 'directory' | 'other' = stats.kind;
const isThere: boolean = await fs.exists('a');
await fs.delete('a'); await fs.delete('a', { recursive: true }); await fs.mkdir('a');
const paths: string[] = await fs.glob('**');

const options: HttpOptions = { headers: { a: 'b' }, query: { a: 1, b: true }, timeoutMs: 5, responseType: 'json' };
const got: HttpResponse = await http.get('u', options);
await http.get('u'); await http.post('u', { a: 1 }, options); await http.post('u'); await http.put('u', 1, { text: 'a' });
await http.patch('u', undefined, { bytes: raw }); await http.delete('u', options); await http.request('GET', 'u', { json: 1 });
const status: number = got.status, answer: string = got.json.member ?? got.text ?? got.headers['a'];

const parsed: { a: number } = json.parse(text);
const written: string = json.stringify(parsed, 2) + json.stringify(null);
const objects: Record<string, string>[] = csv.parse(text, { delimiter: ';' });
const rows: string[][] = csv.parse(text, { header: false });
const table: string = csv.stringify(objects) + csv.stringify(rows, { columns: ['a'], header: true }) + csv.stringify([[1, 'a']]);

const hash: string = crypto.hash('blake3', text) + crypto.hashBytes('sha256', raw) + crypto.hmac('sha512', raw, text);
const sealed: Uint8Array = crypto.encrypt(crypto.randomBytes(32), raw);
const plain: Uint8Array = crypto.decrypt(raw, sealed);
const id: string = crypto.uuid() + crypto.encode('base64url', crypto.decode('hex', 'ff'));

const now: string = time.now();
const parts: TimeParts = time.parts(time.parse('x', 'UTC'), 'UTC');
const shown: string = time.format(now, '%Y', 'UTC') + time.add(now, '1h', 'UTC') + time.add(time.parse(now), '1h');
const ms: number = time.since(now, now) + parts.weekday;
await time.sleep(1);

const response = await fetch(new URL('http://a'), { method: 'POST', body: raw, headers: new Headers(), signal: new AbortController().signal });
const copy: typeof response = response.clone();
const body: string = await response.text() + copy.headers.get('a') + response.status + response.ok + copy.url + copy.bodyUsed;
const bytes: Uint8Array = await copy.bytes(), buffer: ArrayBuffer = await copy.arrayBuffer(), value: { a: 1 } = await copy.json();
await fetch('http://a'); await fetch('http://a', { headers: [['a', 'b']], body: new URLSearchParams() });
export default [size, kind, isThere, paths, status, answer, written, table, hash, plain, id, shown, ms, body, bytes, buffer, value, options];
