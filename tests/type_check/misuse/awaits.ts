// --- a promise in a condition => await fs.exists
import { fs } from '@agent-spaces/std';
if (fs.exists('a.txt')) console.log('yes');
// --- a promise in a negated condition => await weather.has
import { weather } from '@capabilities/office';
if (!weather.has({ location: 'Oslo' })) throw new Error('unknown');
// --- a promise in a choice => await weather.has
import { weather } from '@capabilities/office';
export default weather.has({ location: 'Oslo' }) ? 'yes' : 'no';
// --- a promise in a chain of conditions => await fs.exists
import { fs } from '@agent-spaces/std';
const force = false;
if (force || (fs.exists('a') && !force)) console.log('yes');
// --- a promise in a variable in a condition => await weather.has
import { weather } from '@capabilities/office';
const known = weather.has({ location: 'Oslo' });
if (known) console.log('known');
// --- a promise in a text => await fs.readFile
import { fs } from '@agent-spaces/std';
export default `text: ${fs.readFile('a.txt')}`;
// --- a promise in a sum of texts => await fs.readFile
import { fs } from '@agent-spaces/std';
export default 'text: ' + fs.readFile('a.txt');
// --- a promise in a loop's condition => await weather.has
import { weather } from '@capabilities/office';
while (weather.has({ location: 'Oslo' })) break;
// --- the length of a promise => await crm.search
import { crm } from '@capabilities/office';
const rows = crm.search({ query: 'a' });
export default rows.length > 0;
// --- a member of a promise => await weather.get
import { weather } from '@capabilities/office';
const w = weather.get({ location: 'Oslo' });
export default w.temperature;
// --- a member of a call => await weather.get
import { weather } from '@capabilities/office';
export default weather.get({ location: 'Oslo' }).temperature ?? 0;
// --- a method of a text => await fs.readFile
import { fs } from '@agent-spaces/std';
const text = fs.readFile('a.txt');
export default text.toUpperCase();
// --- a loop over a promise => await crm.search
import { crm } from '@capabilities/office';
for (const c of crm.search({ query: 'a' })) console.log(c.name);
// --- a loop over a promise in a variable => await crm.search
import { crm } from '@capabilities/office';
const found = crm.search({ query: 'a' });
for (const c of found) console.log(c.name);
// --- a promise that is taken apart => await weather.get
import { weather } from '@capabilities/office';
const { temperature } = weather.get({ location: 'Oslo' });
export default temperature;
// --- the first of a promise => await crm.search
import { crm } from '@capabilities/office';
const [first] = crm.search({ query: 'a' });
export default first;
// --- a promise that is spread into an object => await weather.get
import { weather } from '@capabilities/office';
const w = weather.get({ location: 'Oslo' });
export default { ...w };
// --- a promise that becomes JSON => await weather.get
import { weather } from '@capabilities/office';
export default JSON.stringify(weather.get({ location: 'Oslo' }));
// --- a promise within what becomes JSON => await weather.get
import { weather } from '@capabilities/office';
const w = weather.get({ location: 'Oslo' });
export default JSON.stringify({ w });
// --- a promise as an argument of another call => await fs.readFile
import { fs } from '@agent-spaces/std';
await fs.writeFile('b.txt', fs.readFile('a.txt'));
// --- a promise in a member of an argument => await fs.readFile
import { fs } from '@agent-spaces/std';
import { crm } from '@capabilities/office';
const query = fs.readFile('a.txt');
export default await crm.search({ query });
// --- a promise that is compared => await weather.has
import { weather } from '@capabilities/office';
export default weather.has({ location: 'Oslo' }) === true;
