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
