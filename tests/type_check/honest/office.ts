// --- asks for the weather
import { weather } from '@capabilities/office';
const now = await weather.get({ location: 'Oslo' });
export default `${now.temperature}° ${now.description}`;
// --- asks with everything
import { weather } from '@capabilities/office';
const { temperature, unit, wind } = await weather.get({ location: 'Oslo', unit: 'celsius', days: 2 });
export default [temperature, unit, wind?.speed ?? 0];
// --- options in a variable
import { weather } from '@capabilities/office';
const options = { location: 'Oslo', unit: 'celsius' };
export default (await weather.get(options)).unit;
// --- a unit in a variable that changes
import { weather } from '@capabilities/office';
let unit = 'celsius';
if (Math.random() > 2) unit = 'fahrenheit';
export default (await weather.get({ location: 'Oslo', unit })).unit;
// --- units in a list
import { weather } from '@capabilities/office';
const both = await Promise.all(['celsius', 'fahrenheit'].map((unit) => weather.get({ location: 'Oslo', unit })));
export default both.map((w) => w.temperature);
// --- a unit as a parameter
import { weather } from '@capabilities/office';
async function at(location: string, unit: string = 'celsius') { return weather.get({ location, unit }); }
export default (await at('Oslo')).description;
// --- parameters that are filled later
import { weather } from '@capabilities/office';
const params = {};
params.location = 'Oslo';
params.days = 1;
export default (await weather.get(params)).temperature;
// --- parameters that are filled by key
import { weather } from '@capabilities/office';
const params = {};
for (const [k, v] of Object.entries({ location: 'Oslo' })) params[k] = v;
export default (await weather.get(params)).temperature;
// --- parameters that are assigned
import { weather } from '@capabilities/office';
const params = {};
Object.assign(params, { location: 'Oslo' });
export default (await weather.get(params)).temperature;
// --- parameters with one more
import { weather } from '@capabilities/office';
const params = { days: 1 };
params.location = 'Oslo';
export default (await weather.get(params)).temperature;
// --- parameters of a record
import { crm } from '@capabilities/office';
const query: Record<string, any> = { query: 'a' };
query.limit = 2;
export default (await crm.search(query)).length;
// --- parameters from JSON
import { crm } from '@capabilities/office';
const wanted = JSON.parse('{"query":"a","limit":1}');
export default (await crm.search(wanted)).length;
// --- parameters of unknown type
import { crm } from '@capabilities/office';
const wanted: unknown = { query: 'a' };
const bag: object = { query: 'b' };
export default (await crm.search(wanted as any)).length + (await crm.search(bag as { query: string })).length;
// --- parameters from entries
import { crm } from '@capabilities/office';
const wanted = Object.fromEntries([['query', 'a']]);
export default (await crm.search(wanted)).length;
// --- spreads
import { crm } from '@capabilities/office';
const base = { limit: 5 };
export default (await crm.search({ query: 'a', ...base, ...(Math.random() > 2 ? { limit: 1 } : {}) })).length;
// --- rows get another column
import { crm } from '@capabilities/office';
const rows = await crm.search({ query: 'a' });
rows.forEach((r) => { r.label = `${r.name} <${r.email}>`; r.yearly = r.revenue * 12; });
export default rows.map((r) => [r.label, r.yearly]);
// --- a result gets members
import { crm } from '@capabilities/office';
const customer = await crm.get({ id: 'c1' });
customer.score = 0.5;
customer.score += 0.1;
if (customer.score > 0.5) customer.hot = true;
export default customer.hot ? customer.score : null;
// --- a result gets a near name
import { tracker } from '@capabilities/office';
const issue = (await tracker.list())[0];
issue.label = issue.labels.join();
issue.titles = [issue.title];
export default issue.label + issue.titles.length;
// --- results in an object of its own
import { crm, weather } from '@capabilities/office';
const report = { customers: [], weather: null };
report.customers = await crm.search({ query: 'a' });
report.weather = await weather.get({ location: 'Oslo' });
report.total = report.customers.reduce((sum, c) => sum + c.revenue, 0);
export default { n: report.customers.length, t: report.weather.temperature, total: report.total };
// --- results are pushed
import { crm } from '@capabilities/office';
const all = [];
for (const query of ['a', 'b']) all.push(...(await crm.search({ query })));
export default all.map((c) => c.id).sort();
// --- results are concatenated
import { crm } from '@capabilities/office';
let all = [];
all = all.concat(await crm.search({ query: 'a' }));
export default [].concat(all, await crm.search({ query: 'b' })).length;
// --- results by id
import { crm } from '@capabilities/office';
const byId = {};
for (const c of await crm.search({ query: 'a' })) byId[c.id] = c;
export default Object.keys(byId).map((id) => byId[id].name);
// --- results in a map
import { tracker } from '@capabilities/office';
const byLabel = new Map();
for (const issue of await tracker.list({ state: 'open' })) {
  for (const label of issue.labels) byLabel.set(label, [...(byLabel.get(label) ?? []), issue.number]);
}
export default [...byLabel];
// --- results reduced
import { tracker } from '@capabilities/office';
const counts = (await tracker.list()).reduce((acc, i) => { acc[i.state] = (acc[i.state] || 0) + 1; return acc; }, {});
export default counts.open ?? 0;
// --- the promise of a list takes list methods
import { tracker } from '@capabilities/office';
const titles = await tracker.list().filter((i) => i.state === 'open').map((i) => i.title);
export default titles;
// --- a list or an object with a list
import { crm } from '@capabilities/office';
const res = await crm.search({ query: 'a' });
const items = Array.isArray(res) ? res : res.items;
const rows = res.data ?? res.results ?? res;
export default [items.length, rows.length];
// --- whatever holds the list
import { mail } from '@capabilities/office';
const box = await mail.inbox({});
const list = box.messages || box.items || [];
const more = box.nextPageToken ? 'more' : 'all';
if (box.error) throw new Error(box.error);
export default [list.length, more];
// --- names that may be missing
import { crm } from '@capabilities/office';
const { name, phone = 'none', address } = await crm.get({ id: 'c1' });
export default [name, phone, address?.city ?? 'nowhere', address?.country ?? '?'];
// --- optional members are passed on
import { crm, weather } from '@capabilities/office';
const customer = await crm.get({ id: 'c1' });
const w = await weather.get({ location: customer.address?.city });
const v = await weather.get({ location: customer.address.city || 'Oslo' });
export default w.temperature === v.temperature;
// --- own types for results
import { crm } from '@capabilities/office';
interface Row { id: string; name: string; revenue?: number }
const rows: Row[] = await crm.search({ query: 'a' });
export default rows.map((r: Row) => r.name);
// --- own types that are not quite right
import { crm } from '@capabilities/office';
interface Row { id: string; name: string; phone: string; revenue: string }
const rows = (await crm.search({ query: 'a' })) as unknown as Row[];
const first: { id: number } = (await crm.get({ id: 'c1' })) as any;
export default rows.length + String(first.id);
// --- own types that are wrong about results
import { crm } from '@capabilities/office';
interface Row { id: string; name: string; phone: string }
const rows: Row[] = await crm.search({ query: 'a' });
const fmt = (r: { id: number }) => `#${r.id}`;
export default rows.map((r) => r.name).concat((await crm.search({ query: 'a' })).map(fmt));
// --- types of the module
import { crm } from '@capabilities/office';
import type { Customer } from '@capabilities/office';
const label = (c: Customer) => `${c.name} (${c.plan})`;
export default (await crm.search({ query: 'a' })).map(label);
// --- results as numbers and texts
import { crm, tracker } from '@capabilities/office';
const c = await crm.get({ id: 'c1' });
const i = (await tracker.list())[0];
export default [parseInt(c.revenue), c.revenue * '2', i.number == '1', `${c.revenue}`.length, isNaN(c.name)];
// --- dates of results
import { tracker } from '@capabilities/office';
const issues = await tracker.list();
issues.sort((a, b) => new Date(b.createdAt) - new Date(a.createdAt));
export default Math.floor((new Date('2026-02-01') - new Date(issues[0].createdAt)) / 86400000);
// --- compares with what is not in the enum
import { tracker } from '@capabilities/office';
const issues = await tracker.list();
export default issues.filter((i) => i.state !== 'done' && i.state.toUpperCase() === 'OPEN').length;
// --- a switch over an enum
import { crm } from '@capabilities/office';
const price = (c) => { switch (c.plan) { case 'pro': return 10; case 'enterprise': return 99; default: return 0; } };
const c = await crm.get({ id: 'c1' });
switch (c.plan) { case 'trial': console.log('trial'); break; }
export default price(c);
// --- one of two answers
import { tracker } from '@capabilities/office';
const closed = await tracker.close({ number: 1 });
if (closed.ok) console.log(closed.issue.title); else console.log(closed.reason);
export default closed.reason ?? closed.issue?.title;
// --- one of two answers, asked early
import { tracker } from '@capabilities/office';
async function close(number: number) {
  const answer = await tracker.close({ number });
  if (!answer.ok) throw new Error(answer.reason);
  return answer.issue;
}
export default (await close(1)).state;
// --- an answer of which nothing is known
import { crm } from '@capabilities/office';
const stats = await crm.stats();
export default stats.customers.total + (stats.missing?.deep ?? 0);
// --- creates with what was found
import { crm, tracker } from '@capabilities/office';
const created = [];
for (const c of await crm.search({ query: 'a', limit: 2 })) {
  const issue = await tracker.create({ title: `Call ${c.name}`, labels: ['sales', c.plan], priority: 'low' });
  created.push({ ...issue, customer: c.id });
}
export default created.map((i) => i.customer);
// --- a priority from a table
import { tracker } from '@capabilities/office';
const priorities = { free: 'low', pro: 'high' };
const issue = await tracker.create({ title: 'x', priority: priorities['pro'] });
export default issue.number;
// --- labels that are built
import { tracker } from '@capabilities/office';
const labels = [];
labels.push('bug');
if (labels.length) labels.push(`n-${labels.length}`);
export default (await tracker.create({ title: 'x', labels })).title;
// --- sends mail to all
import { crm, mail } from '@capabilities/office';
const customers = await crm.search({ query: 'a' });
const sent = await mail.send({
  to: customers.map((c) => c.email),
  subject: `Hello ${customers.length}`,
  text: customers.map((c) => `- ${c.name}`).join('\n'),
});
export default sent.queued;
// --- attachments
import { mail } from '@capabilities/office';
const attachments = [];
attachments.push({ name: 'a.txt', content: 'text' });
const message = { to: ['a@x.test'], subject: 's', text: 't', attachments };
export default (await mail.send(message)).id;
// --- an attachment or none
import { mail } from '@capabilities/office';
const file = null;
const message = { to: ['a@x.test'], subject: 's', text: 't' };
if (file) message.attachments = [{ name: 'f', content: file }];
export default (await mail.send(message)).id;
// --- pages of mail
import { mail } from '@capabilities/office';
async function* messages() { let box = await mail.inbox(); yield* box.messages; if (box.next) box = await mail.inbox({ unread: true }); }
const subjects = [];
for await (const m of messages()) subjects.push(m.subject);
export default subjects;
// --- a wrapper class
import { crm } from '@capabilities/office';
class Customers {
  cache = {};
  async get(id) { return (this.cache[id] ??= await crm.get({ id })); }
}
const customers = new Customers();
export default (await customers.get('c1')).name + (await customers.get('c1')).plan;
// --- a client in a parameter
import { crm } from '@capabilities/office';
async function names(client, query) { return (await client.search({ query, limit: 3 })).map((c) => c.name); }
export default await names(crm, 'a');
// --- functions taken out
import { crm, weather } from '@capabilities/office';
const { search, get: getCustomer } = crm;
const w = weather;
export default [(await search({ query: 'a' })).length, (await getCustomer({ id: 'c1' })).id, (await w.get({ location: 'x' })).unit];
// --- functions by name
import { crm } from '@capabilities/office';
const name = 'sea' + 'rch';
const called = await crm[name]({ query: 'a' });
const maybe = Object.keys(crm).find((key) => key === 'archive');
export default [called.length, maybe ?? 'no such function'];
// --- a failure of a call
import { crm } from '@capabilities/office';
let code = 'none';
try { await crm.get({ id: 'missing' }); } catch (e) { code = e.code; if (e.details?.retry) code += '!'; }
export default code;
// --- a failure of a call, by promise
import { crm } from '@capabilities/office';
const c = await crm.get({ id: 'missing' }).catch((e) => ({ name: 'nobody', error: e.message }));
export default c.name;
// --- all settled
import { crm } from '@capabilities/office';
const results = await Promise.allSettled(['c1', 'missing'].map((id) => crm.get({ id })));
export default results.map((r) => (r.status === 'fulfilled' ? r.value.name : r.reason.code));
// --- one after the other and remembered
import { crm } from '@capabilities/office';
const memo = new Map<string, Promise<any>>();
const load = (id) => { const hit = memo.get(id); if (hit) return hit; const p = crm.get({ id }); memo.set(id, p); return p; };
export default (await load('c1')) === (await load('c1'));
// --- a promise that is held before it is awaited
import { crm, weather } from '@capabilities/office';
const pending = crm.search({ query: 'a' });
const w = await weather.get({ location: 'Oslo' });
const rows = await pending;
export default [rows.length, w.unit];
// --- a promise that may be there already
import { crm } from '@capabilities/office';
let loading = null;
function load() { if (!loading) loading = crm.search({ query: 'a' }); return loading; }
export default (await load()).length + (await load()).length;
// --- whether a place is known
import { weather } from '@capabilities/office';
if (!(await weather.has({ location: 'Oslo' }))) throw new Error('unknown');
const known = await weather.has({ location: 'x' });
export default known ? 'known' : 'unknown';
// --- no parameters at all
import { tracker, weather, crm } from '@capabilities/office';
export default [(await tracker.list()).length, (await tracker.list({})).length, (await weather.list({ limit: undefined })).length, typeof (await crm.stats({}))];
// --- the whole module
import * as office from '@capabilities/office';
export default (await office.crm.search({ query: 'a' })).length + Object.keys(office).length;
// --- a module by a call
const { crm } = await import('@capabilities/office');
export default (await crm.get({ id: 'c1' })).email;
// --- updates with what changed
import { crm } from '@capabilities/office';
const changes = {};
if (true) changes.plan = 'pro';
const updated = await crm.update({ id: 'c1', changes });
export default updated.plan;
// --- a table for people
import { crm } from '@capabilities/office';
const rows = await crm.search({ query: 'a' });
const columns = ['id', 'name', 'revenue'];
export default [columns.join(' | '), ...rows.map((r) => columns.map((c) => r[c]).join(' | '))].join('\n');
// --- a total row
import { crm } from '@capabilities/office';
const rows = await crm.search({ query: 'a' });
rows.push({ id: '', name: 'Total', revenue: rows.reduce((s, r) => s + r.revenue, 0), total: true });
export default rows.at(-1).revenue;
// --- files and JSON of the standard library
import { csv, json, crypto, time } from '@agent-spaces/std';
const rows = csv.parse('a,b\n1,2');
rows.forEach((r) => { r.c = Number(r.a) + 1; });
export default [rows[0].c, json.parse('{"x":1}').x, crypto.hash('sha256', 'a').length, time.now().length > 0];
// --- groups results with the language's own function
import { tracker } from '@capabilities/office';
const groups = Object.groupBy(await tracker.list(), (i) => i.assignee ?? 'nobody');
export default Object.entries(groups).map(([who, list]) => `${who}: ${list.length}`);
// --- deletes members of results
import { crm } from '@capabilities/office';
const c = await crm.get({ id: 'c1' });
delete c.email;
delete c.secret;
c.address = undefined;
export default Object.keys(c).includes('email');
// --- a result that is changed in place
import { crm } from '@capabilities/office';
const c = await crm.get({ id: 'c1' });
c.plan = 'enterprise';
c.revenue = '12';
c.address = { city: 'X', country: 'N' };
export default [c.plan, c.revenue, c.address.city];
// --- a result that is sorted and sliced
import { weather } from '@capabilities/office';
const top = (await weather.list()).sort((a, b) => b.temperature - a.temperature).slice(0, 2).map(({ city, tags: [tag] }) => ({ city, tag }));
export default top;
// --- own interfaces with fewer or looser members are passed
import { weather, crm } from '@capabilities/office';
interface Query { query?: string; limit?: number }
const q: Query = { query: 'a' };
const place: { location: string; unit?: string } = { location: 'Oslo', unit: 'celsius' };
export default (await crm.search(q)).length + (await weather.get(place)).unit.length;
