// --- a wrong parameter name => 'city' does not exist
import { weather } from '@capabilities/office';
await weather.get({ city: 'Oslo' });
// --- a slip in a parameter name => 'location'
import { weather } from '@capabilities/office';
await weather.get({ locaton: 'Oslo' });
// --- a slip in a variable => 'location' is missing
import { weather } from '@capabilities/office';
const p = { citty: 'x' };
await weather.get(p);
// --- a slip in an optional name of a variable => no properties in common
import { weather } from '@capabilities/office';
const options = { limt: 5 };
await weather.list(options);
// --- nothing where something is required => Expected 1 arguments
import { weather } from '@capabilities/office';
await weather.get();
// --- an empty object => 'location' is missing
import { weather } from '@capabilities/office';
await weather.get({});
// --- an empty variable => 'location' is missing
import { weather } from '@capabilities/office';
const params = {};
await weather.get(params);
// --- an empty variable that gets the wrong member => 'location' is missing
import { weather } from '@capabilities/office';
const params = {};
params.city = 'Oslo';
await weather.get(params);
// --- a text instead of an object => 'string' is not assignable
import { weather } from '@capabilities/office';
await weather.get('Oslo');
// --- two arguments instead of an object => Expected 1 arguments
import { crm } from '@capabilities/office';
await crm.search('acme', 5);
// --- a number for a text => 'number' is not assignable
import { weather } from '@capabilities/office';
await weather.get({ location: 42 });
// --- a text for a number => 'string' is not assignable
import { crm } from '@capabilities/office';
await crm.search({ query: 'a', limit: '10' });
// --- a text for a number through a variable => 'limit' are incompatible
import { crm } from '@capabilities/office';
const paging = { limit: '10' };
await crm.search({ query: 'a', ...paging });
// --- a text for a number through a parameter => 'string' is not assignable
import { tracker } from '@capabilities/office';
async function close(id: string) { return tracker.close({ number: id }); }
await close('7');
// --- a text for a list => 'string' is not assignable
import { mail } from '@capabilities/office';
await mail.send({ to: 'a@x.test', subject: 's', text: 't' });
// --- an object for its id => is not assignable to type 'string'
import { crm } from '@capabilities/office';
const [first] = await crm.search({ query: 'a' });
await crm.get({ id: first });
// --- objects for their addresses => is not assignable
import { crm, mail } from '@capabilities/office';
const people = await crm.search({ query: 'a' });
await mail.send({ to: people, subject: 's', text: 't' });
// --- a promise for a list => returns a promise
import { crm, mail } from '@capabilities/office';
const people = crm.search({ query: 'a' }).map((c) => c.email);
await mail.send({ to: people, subject: 's', text: 't' });
// --- a date for a text => 'Date' is not assignable
import { tracker } from '@capabilities/office';
await tracker.create({ title: new Date() });
// --- a value that is not in the enum => "celsius"
import { weather } from '@capabilities/office';
await weather.get({ location: 'Oslo', unit: 'kelvin' });
// --- a slip in an enum => Did you mean
import { tracker } from '@capabilities/office';
await tracker.list({ state: 'opened' });
// --- an enum in another case => "high"
import { tracker } from '@capabilities/office';
await tracker.create({ title: 'x', priority: 'High' });
// --- a required member of several is missing => 'text' is missing
import { mail } from '@capabilities/office';
await mail.send({ to: ['a'], subject: 's' });
// --- several required members are missing => missing the following properties
import { mail } from '@capabilities/office';
await mail.send({ to: ['a'] });
// --- a nested member is wrong => 'mail' does not exist
import { crm } from '@capabilities/office';
await crm.update({ id: 'c1', changes: { mail: 'x' } });
// --- a nested object is left out => 'name' does not exist
import { crm } from '@capabilities/office';
await crm.update({ id: 'c1', name: 'x' });
// --- a nested list's member is wrong => 'filename' does not exist
import { mail } from '@capabilities/office';
await mail.send({ to: ['a'], subject: 's', text: 't', attachments: [{ filename: 'a', content: 'b' }] });
// --- an unknown function => 'find' does not exist
import { crm } from '@capabilities/office';
await crm.find({ query: 'a' });
// --- a slip in a function => 'search'
import { crm } from '@capabilities/office';
await crm.serach({ query: 'a' });
// --- a function of another capability => 'list' does not exist
import { crm } from '@capabilities/office';
await crm.list();
// --- a function in snake case => 'get_customer' does not exist
import { crm } from '@capabilities/office';
await crm.get_customer({ id: 'c1' });
// --- an unknown function by destructuring => 'find' does not exist
import { crm } from '@capabilities/office';
const { find } = crm;
await find({ query: 'a' });
// --- an unknown function through an alias => 'fetch' does not exist
import { crm } from '@capabilities/office';
const client = crm;
await client.fetch('c1');
// --- an unknown capability of the whole module => 'clients' does not exist
import * as office from '@capabilities/office';
await office.clients.search({ query: 'a' });
// --- a capability that is called => not callable
import { crm } from '@capabilities/office';
await crm({ query: 'a' });
// --- a member that a result does not have => 'humidity' does not exist
import { weather } from '@capabilities/office';
const w = await weather.get({ location: 'Oslo' });
console.log(w.humidity);
// --- a slip in a member => 'temperature'
import { weather } from '@capabilities/office';
const w = await weather.get({ location: 'Oslo' });
console.log(`${w.temprature}°`);
// --- a slip with a stand-in => 'temperature'
import { weather } from '@capabilities/office';
const w = await weather.get({ location: 'Oslo' });
export default w.temprature ?? 'n/a';
// --- a member by destructuring => 'temp' does not exist
import { weather } from '@capabilities/office';
const { temp } = await weather.get({ location: 'Oslo' });
export default temp;
// --- a nested member => 'kmh' does not exist
import { weather } from '@capabilities/office';
const w = await weather.get({ location: 'Oslo' });
export default w.wind.kmh;
// --- a member of rows => 'company' does not exist
import { crm } from '@capabilities/office';
const rows = await crm.search({ query: 'a' });
export default rows.map((r) => r.company);
// --- a member of rows, copied to an object that has it => 'company' does not exist
import { crm } from '@capabilities/office';
const out = { company: '' };
for (const row of await crm.search({ query: 'a' })) out.company = row.company;
export default out;
// --- a member in a loop => 'mail' does not exist
import { crm } from '@capabilities/office';
for (const c of await crm.search({ query: 'a' })) console.log(c.mail);
// --- a member in a sort => 'date' does not exist
import { tracker } from '@capabilities/office';
const issues = await tracker.list();
issues.sort((a, b) => a.date.localeCompare(b.date));
// --- a list that is inside => 'map' does not exist
import { mail } from '@capabilities/office';
const box = await mail.inbox();
export default box.map((m) => m.subject);
// --- a list that is taken for an object => 'items' does not exist
import { crm } from '@capabilities/office';
const res = await crm.search({ query: 'a' });
for (const c of res.items) console.log(c.name);
// --- an object in a loop => must have a '[Symbol.iterator]()'
import { mail } from '@capabilities/office';
for (const m of await mail.inbox()) console.log(m);
// --- an object taken apart as a list => must have a '[Symbol.iterator]()'
import { weather } from '@capabilities/office';
const [first] = await weather.get({ location: 'Oslo' });
export default first;
// --- a member that no answer has => 'message' does not exist
import { tracker } from '@capabilities/office';
const closed = await tracker.close({ number: 1 });
export default closed.message;
// --- a member of a promise => write `await weather.get(…)`
import { weather } from '@capabilities/office';
const w = weather.get({ location: 'Oslo' });
export default w.temperature;
// --- a member of a promise, with a stand-in => write `await weather.get(…)`
import { weather } from '@capabilities/office';
export default weather.get({ location: 'Oslo' }).temperature ?? 0;
// --- a loop over a promise => write `await crm.search(…)`
import { crm } from '@capabilities/office';
for (const c of crm.search({ query: 'a' })) console.log(c.name);
// --- the length of a promise => write `await crm.search(…)`
import { crm } from '@capabilities/office';
const rows = crm.search({ query: 'a' });
if (rows.length > 0) console.log('some');
// --- a promise for a text => write `await fs.readFile(…)`
import { fs } from '@agent-spaces/std';
const data = JSON.parse(fs.readFile('a.json'));
export default data;
// --- a promise for a typed value => It is a promise: write `await`
import { weather } from '@capabilities/office';
const known: boolean = weather.has({ location: 'Oslo' });
export default known;
// --- a promise that is compared => write `await weather.has(…)`
import { weather } from '@capabilities/office';
export default weather.has({ location: 'Oslo' }) === true;
// --- a promise of a function of one's own => It is a promise: write `await`
import { weather } from '@capabilities/office';
const of = (location: string) => weather.get({ location });
const all = [of('Oslo')];
export default all[0].temperature;
// --- a then that forgets the result's shape => 'temp' does not exist
import { weather } from '@capabilities/office';
export default await weather.get({ location: 'Oslo' }).then((w) => w.temp);
// --- results of all at once => 'fullName' does not exist
import { crm } from '@capabilities/office';
const people = await Promise.all(['c1', 'c2'].map((id) => crm.get({ id })));
export default people.map((p) => p.fullName);
// --- a wrong name inside a wrapper class => 'customerId' does not exist
import { crm } from '@capabilities/office';
class Api { constructor(private c = crm) {} load(id: string) { return this.c.get({ customerId: id }); } }
export default await new Api().load('c1');
// --- a wrong name in typed parameters => 'city' does not exist
import { weather, type GetParams } from '@capabilities/office';
export default 1;
const run = (p: Parameters<typeof weather.get>[0]) => weather.get(p);
await run({ city: 'Oslo' });
// --- a number written to a file => 'number' is not assignable
import { fs } from '@agent-spaces/std';
await fs.writeFile('a.txt', 42);
// --- rows written to a file => is not assignable
import { fs } from '@agent-spaces/std';
import { crm } from '@capabilities/office';
await fs.writeFile('rows.json', await crm.search({ query: 'a' }));
// --- a slip in the standard library => 'readFile'
import { fs } from '@agent-spaces/std';
await fs.readFle('a.txt');
// --- a function of another standard library => 'readFileSync' does not exist
import { fs } from '@agent-spaces/std';
export default fs.readFileSync('a.txt', 'utf8');
// --- arguments of another standard library => Expected 1 arguments
import { fs } from '@agent-spaces/std';
export default await fs.readFile('a.txt', 'utf8');
// --- a name that a function does not take => Expected one of `number`
import { tracker } from '@capabilities/office';
await tracker.close({ issue: 1 });
