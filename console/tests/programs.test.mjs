// Spaces, capabilities and the playground in a browser, against the mock server. Needs a build (npm run build) and chromium.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import test, { after, before } from 'node:test';
import { chromium } from 'playwright-core';

const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
const dist = process.env.CONSOLE_DIST ?? new URL('../dist', import.meta.url).pathname;
const skip = !existsSync(executablePath) ? 'no chromium' : !existsSync(`${dist}/index.html`) ? 'no build' : false;
const PORT = 18_432;
const BASE = `http://127.0.0.1:${PORT}`;
let server;
let browser;

before(async () => {
  if (skip) return;
  server = spawn(process.execPath, [new URL('../scripts/mock-server.mjs', import.meta.url).pathname, '--port', String(PORT), '--quiet', '--dist', dist], { stdio: ['ignore', 'pipe', 'inherit'] });
  await new Promise((resolve) => server.stdout.once('data', resolve));
  browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
});
after(async () => {
  await browser?.close();
  server?.kill();
});

async function open(hash, { token = 'operator', prepare = async () => {} } = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, reducedMotion: 'reduce', acceptDownloads: true });
  const page = await context.newPage();
  const faults = [];
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error' && !/status of 4(01|12)/.test(message.text())) faults.push(message.text());
  });
  await context.request.post(`${BASE}/console/session`, { data: { token } });
  await prepare(page);
  await page.goto(`${BASE}/console/${hash}`);
  return { page, context, faults };
}

/** Puts lines at the beginning of the program. */
async function prepend(page, text) {
  await page.getByRole('textbox', { name: 'Program' }).click();
  await page.keyboard.press('Control+Home');
  await page.keyboard.insertText(text);
  await page.keyboard.press('Enter');
}

test('the first program runs, and an error marks its line', { skip }, async () => {
  const { page, context, faults } = await open('#/playground');
  await page.getByText('No errors').waitFor();
  await page.getByText('it only computes').waitFor();
  await page.getByRole('textbox', { name: 'Program' }).click();
  await page.keyboard.press('Control+Enter');
  await page.getByText('Hello from the mock server').first().waitFor();
  await page.getByText('Finished').first().waitFor();
  assert.equal(await page.locator('.cm-marked-line').count(), 0);
  await prepend(page, "throw new Error('x');");
  await page.keyboard.press('Control+Enter');
  await page.getByText('thrown by the script').first().waitFor();
  await page.locator('.cm-marked-line').filter({ hasText: 'throw' }).waitFor();
  assert.deepEqual(faults, []);
  await context.close();
});

test('the check marks mistakes, lists what can be called, and completion knows the functions', { skip }, async () => {
  const { page, context, faults } = await open('#/playground');
  await page.getByText('No errors').waitFor();
  await prepend(page, "await bank.pay({ accuont: 'x' });");
  await prepend(page, "import { bank } from '@capabilities/bank';");
  await page.getByRole('heading', { name: 'Correct these first' }).waitFor();
  await page.locator('.cm-lintRange-error').waitFor();
  const called = page.getByRole('region', { name: 'What the program can call' });
  assert.match(await called.innerText(), /bank\.pay line 2/);
  assert.match(await called.innerText(), /Needs approval/);
  await page.getByRole('textbox', { name: 'Program' }).click();
  await page.keyboard.press('Control+End');
  await page.keyboard.type('bank.');
  const offered = page.locator('.cm-tooltip-autocomplete');
  await offered.waitFor();
  assert.match(await offered.innerText(), /balance\s*\(params/);
  assert.deepEqual(faults, []);
  await context.close();
});

test('a draft survives other pages, not the tab, and is never stored', { skip }, async () => {
  const { page, context } = await open('#/playground');
  await page.getByText('No errors').waitFor();
  await prepend(page, '// mine');
  await page.getByRole('link', { name: 'Spaces', exact: true }).click();
  await page.getByRole('heading', { name: 'Spaces' }).waitFor();
  assert.doesNotMatch(await page.evaluate(() => JSON.stringify(localStorage) + JSON.stringify(sessionStorage)), /mine/);
  let asked = false;
  page.once('dialog', (dialog) => {
    asked = dialog.type() === 'beforeunload';
    void dialog.dismiss();
  });
  await page.evaluate(() => setTimeout(() => location.reload()));
  await page.waitForTimeout(500);
  assert.equal(asked, true);
  await page.getByRole('link', { name: 'Playground' }).click();
  await page.getByText('// mine').waitFor();
  await context.close();
});

test('the program of a run is changed and replayed', { skip }, async () => {
  const { page, context, faults } = await open('#/playground');
  await page.getByText('No errors').waitFor();
  await prepend(page, '// mine');
  const { items } = await (await context.request.get(`${BASE}/v1/runs?limit=1`, { headers: { 'x-agent-spaces-console': '1' } })).json();
  await page.evaluate((id) => (location.hash = `#/playground?run=${id}`), items[0].id);
  await page.getByRole('button', { name: 'Replace it' }).click();
  await page.locator('.cm-content').filter({ hasText: 'findCustomer' }).waitFor();
  assert.match(await page.getByLabel('Input as JSON').inputValue(), /overdue/);
  await prepend(page, '// changed');
  await page.getByRole('button', { name: 'Replay against the run' }).first().click();
  await page.getByText('Differs from the run').waitFor();
  await page.getByText('the end of the script').waitFor();
  await page.getByRole('tab', { name: 'Changes' }).click();
  await page.getByRole('region', { name: /1 line added, 0 removed/ }).waitFor();
  assert.deepEqual(faults, []);
  await context.close();
});

test('a call is tried through a program whose text holds the parameters as data', { skip }, async () => {
  const { page, context, faults } = await open('#/capabilities/bank?function=bank.balance&tab=try');
  await page.getByRole('button', { name: 'Call it' }).click();
  await page.getByText('account is required').first().waitFor();
  await page.getByLabel('account').fill("'); evil(\u202e");
  await page.locator('.cm-content').filter({ hasText: "bank.balance({ account: '\\'); evil(\\u202e' })" }).waitFor();
  await page.getByRole('button', { name: 'Would it be allowed?' }).click();
  await page.getByText('bank.balance is allowed').waitFor();
  await page.getByRole('button', { name: 'Call it' }).click();
  await page.getByRole('region', { name: 'The run' }).getByText('Finished').waitFor();
  assert.match((await page.getByRole('link', { name: 'Open the run' }).getAttribute('href')) ?? '', /^#\/runs\/run_/);
  assert.deepEqual(faults, []);
  await context.close();
});

test('the search of the server finds functions, with the keyboard alone', { skip }, async () => {
  const { page, context, faults } = await open('#/capabilities');
  await page.getByRole('link', { name: 'bank.pay' }).waitFor();
  await page.keyboard.press('/');
  await page.keyboard.type('invoice');
  await page.getByText('1 function, best first').waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'bank.pay' }).waitFor();
  assert.deepEqual(faults, []);
  await context.close();
});

test('what a space can reach, as sentences, and why', { skip }, async () => {
  const { page, context, faults } = await open('#/spaces/spc_support');
  await page.getByText('Programs may send GET, HEAD requests to api.example.com').waitFor();
  const bank = await page.getByRole('region', { name: 'bank' }).innerText();
  assert.match(bank, /bank\.pay asks a person/);
  assert.match(bank, /may call bank\.balance without asking/);
  assert.match(bank, /may not call bank\.closeAccount/);
  await page.getByRole('link', { name: 'Why: bank.pay' }).click();
  await page.getByText('at most 5 calls in a run').waitFor();
  await page.getByLabel('Check a call with parameters').check();
  await page.getByLabel('account').fill('FR7612345678901');
  await page.getByRole('button', { name: 'Explain' }).click();
  await page.getByText('the account is in another country').waitFor();
  assert.deepEqual(faults, []);
  await context.close();
});

test('functions of the standard library are out of reach without the files and the network that they need', { skip }, async () => {
  const module = '@agent-spaces/std';
  const names = ['http.get', 'fs.readFile', 'fs.writeFile', 'json.parse'];
  const functions = names.map((name) => ({ name, id: `agent-spaces:std/${name.replace('.', '#')}`, module, signature: `${name.split('.')[1]}(): void`, description: '' }));
  const { page, context, faults } = await open('#/spaces/spc_support', {
    prepare: async (window) => {
      await window.route(/\/v1\/capabilities\?/, async (route) => {
        const response = await route.fetch();
        const answer = await response.json();
        for (const name of ['http', 'fs', 'json']) answer.items.push({ name, module, functions: functions.filter((fn) => fn.name.startsWith(`${name}.`)) });
        await route.fulfill({ response, json: answer });
      });
      await window.route(/\/check$/, async (route) => {
        const response = await route.fetch();
        const answer = await response.json();
        answer.manifest.interfaces.push({ interface: 'agent-spaces:std', functions: functions.map(({ name, id }) => ({ function: name, functionId: id, decision: 'allow', terms: [] })) });
        Object.assign(answer.manifest, { network: { enabled: false, domains: [], methods: null }, files: { read: true, write: false } });
        await route.fulfill({ response, json: answer });
      });
    },
  });
  await page.getByText('Programs have no network of their own.').first().waitFor();
  await page.getByText(/^Standard library \(/).click();
  const text = (name) => page.getByRole('region', { name, exact: true }).innerText();
  assert.match(await text('http'), /may not call http\.get[^]*no network[^]*Denied/);
  assert.match(await text('fs'), /may call fs\.readFile without asking[^]*may not call fs\.writeFile[^]*may not write/);
  assert.match(await text('json'), /may call json\.parse without asking/);
  assert.deepEqual(faults, []);
  await context.close();
});

test('a space is made of a part of a configured one', { skip }, async () => {
  const { page, context, faults } = await open('#/spaces/new');
  await page.getByLabel('Name', { exact: true }).fill('Part');
  await page.getByLabel('Decision about bank.pay').selectOption('deny');
  await page.getByLabel('mcp:slack').uncheck();
  await page.getByLabel('Time', { exact: true }).fill('2.5');
  await page.getByLabel('Ends after').fill('2h');
  const sent = page.waitForRequest((request) => request.method() === 'POST' && request.url().endsWith('/v1/spaces'));
  await page.getByRole('button', { name: 'Make the space' }).click();
  assert.deepEqual((await sent).postDataJSON(), {
    name: 'Part',
    base: 'support',
    capabilities: ['mcp:github', '@capabilities/bank', '@capabilities/crm'],
    limits: { timeMs: 2500 },
    policy: { functions: { 'bank.pay': 'deny' } },
    ttlSeconds: 7200,
  });
  await page.getByRole('heading', { level: 1, name: 'Part' }).waitFor();
  assert.deepEqual(faults, []);
  await context.close();
});

test('a change is reviewed against what runs now, and one of somebody else is shown first', { skip }, async () => {
  const { page, context, faults } = await open('#/spaces/spc_a91f3c?tab=settings');
  await page.getByRole('button', { name: 'Change the settings' }).click();
  await page.getByLabel('Calls', { exact: true }).fill('7');
  await page.getByRole('button', { name: 'Review the change' }).click();
  const mine = page.getByRole('region', { name: /^Your change/ });
  await mine.waitFor();
  assert.match(await mine.innerText(), /"calls": 7/);
  await context.request.patch(`${BASE}/v1/spaces/spc_a91f3c`, { data: { name: 'Theirs' }, headers: { 'x-agent-spaces-console': '1' } });
  await page.getByRole('button', { name: 'Save' }).click();
  const theirs = page.getByRole('region', { name: /^Change of somebody else/ });
  await theirs.waitFor();
  assert.match(await theirs.innerText(), /Theirs/);
  const sent = page.waitForRequest((request) => request.method() === 'PATCH');
  await page.getByRole('button', { name: 'Apply my change' }).click();
  assert.deepEqual((await sent).postDataJSON(), { limits: { calls: 7 } });
  await page.getByRole('heading', { level: 1, name: 'Theirs' }).waitFor();
  assert.deepEqual(faults, []);
  await context.close();
});

test('configured spaces cannot be changed and say where', { skip }, async () => {
  const { page, context, faults } = await open('#/spaces/spc_support?tab=settings&edit=1', { token: 'shop' });
  await page.getByText('spaces.support').waitFor();
  assert.equal(await page.getByRole('main').getByRole('button', { name: /Change|Delete/ }).count(), 0);
  assert.deepEqual(faults, []);
  await context.close();
});

test('files are uploaded, downloaded and deleted', { skip }, async () => {
  const { page, context, faults } = await open('#/spaces/spc_support?tab=files');
  const put = page.waitForRequest((request) => request.method() === 'PUT');
  await page.getByLabel('Files to upload').setInputFiles({ name: 'a b#?.txt', mimeType: 'text/html', buffer: Buffer.from('<b>') });
  assert.match((await put).url(), /\/files\/a%20b%23%3F\.txt$/);
  assert.equal((await put).headers()['if-none-match'], '*');
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'report.csv', exact: true }).click()]);
  assert.equal(download.suggestedFilename(), 'report.csv');
  await page.getByRole('button', { name: 'Delete report.csv' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByText('Deleted report.csv').waitFor();
  assert.deepEqual(faults, []);
  await context.close();
});
