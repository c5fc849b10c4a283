// Search of the audit log in a real one; verdicts and long searches with answers that are made up here.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { axe, launch, missing, open } from './browser.mjs';
import { DESK, OPERATOR, Server, SHOP } from './server.mjs';

const skip = missing();
let server;
let browser;
let run;

before(async () => {
  if (skip) return;
  server = await new Server().start();
  browser = await launch();
  const own = await server.space('of the desk', DESK);
  run = await server.run(own, 'import { bank } from "@capabilities/bank";\nexport default await bank.balance({})', { name: 'of the desk.ts' }, { token: DESK });
  const space = await server.space('of the operator');
  for (let i = 0; i < 40; i++) await server.run(space, 'import { bank } from "@capabilities/bank";\nexport default await bank.balance({})', { name: `number ${i}.ts` });
});

after(async () => {
  await browser?.close();
  await server?.stop();
});

const grid = (page) => page.getByRole('grid', { name: /audit log/ });

test('newest first, and older ones as one scrolls', { skip }, async () => {
  const window = await open(browser, server.url);
  await window.signIn(OPERATOR);
  await window.go('#/audit');
  const { page } = window;
  await grid(page).waitFor();
  const lines = async () => (await page.locator('[role=row] .seq').allInnerTexts()).map(Number);
  const first = await lines();
  assert.deepEqual(first, first.toSorted((a, b) => b - a));
  const before = Number(await grid(page).getAttribute('aria-rowcount'));
  for (let i = 0; i < 30 && (await page.getByText(/entries so far/).count()) > 0; i++) {
    await grid(page).evaluate((view) => void (view.scrollTop = view.scrollHeight));
    await page.waitForTimeout(200);
  }
  assert.ok(Number(await grid(page).getAttribute('aria-rowcount')) > Math.max(before, 150));
  assert.ok((await page.locator('[role=row]').count()) < 150);
  window.check();
  await page.context().close();
});

test('search by type, caller, run, time and text', { skip }, async () => {
  const window = await open(browser, server.url);
  await window.signIn(OPERATOR);
  const { page } = window;
  const count = async (query) => {
    await window.go('#/audit');
    const wanted = [...new URLSearchParams(query)];
    const isAnswer = (url) => url.pathname === '/v1/audit' && wanted.every(([name, value]) => url.searchParams.get(name) === value);
    await Promise.all([wanted.length > 0 && page.waitForResponse((response) => isAnswer(new URL(response.url()))), window.go(`#/audit?${query}`)]);
    await page.waitForTimeout(300);
    return (await grid(page).count()) === 0 ? 0 : Number(await grid(page).getAttribute('aria-rowcount'));
  };
  const all = await count('');
  const started = await count('type=runStarted');
  assert.ok(started > 0 && started < all);
  const ofRun = await count(`run=${run.id}`);
  assert.ok(ofRun > 0 && ofRun < all);
  const ofDesk = await count('caller=desk');
  assert.ok(ofDesk >= ofRun - 1 && ofDesk < all);
  assert.ok((await count('q=run.created')) > 0);
  assert.equal(await count('q=nothing-has-this-text'), 0);
  await page.getByText('No entry matches').waitFor();
  assert.equal(await count('from=2100-01-01T00:00:00.000Z'), 0);
  assert.equal(await count('until=2001-01-01T00:00:00.000Z'), 0);
  // The fields say what the address says, and change it.
  await window.go('#/audit?type=runStarted');
  assert.equal(await page.getByLabel('Type').inputValue(), 'runStarted');
  await page.getByLabel('Run', { exact: true }).fill(run.id);
  await page.waitForURL(/run=run_/);
  await page.getByRole('button', { name: 'Clear' }).click();
  await page.waitForURL((url) => !url.hash.includes('?'));
  window.check();
  await page.context().close();
});

test('an entry is shown whole, and leads to its run', { skip }, async () => {
  const window = await open(browser, server.url);
  await window.signIn(DESK);
  await window.go(`#/audit?run=${run.id}&type=callScheduled`);
  const { page } = window;
  await grid(page).focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog');
  await dialog.getByText('balance').first().waitFor();
  assert.deepEqual(await axe(page), []);
  await dialog.getByRole('link', { name: run.id }).click();
  await page.waitForURL(new RegExp(`#/runs/${run.id}`));
  await page.locator('#page-title').waitFor();
  window.check();
  await page.context().close();
});

test('the export has the entries of the caller alone', { skip }, async () => {
  const exported = async (token) => {
    const window = await open(browser, server.url);
    await window.signIn(token);
    await window.go('#/audit');
    const [download] = await Promise.all([window.page.waitForEvent('download'), window.page.getByRole('button', { name: 'Export' }).click()]);
    assert.match(download.suggestedFilename(), /^audit-.*\.ndjson$/);
    const text = readFileSync(await download.path(), 'utf8').trim();
    window.check();
    await window.page.context().close();
    return text === '' ? [] : text.split('\n').map((line) => JSON.parse(line));
  };
  const desk = await exported(DESK);
  assert.ok(desk.length > 0);
  assert.ok(desk.every((line) => JSON.stringify(line).includes('"desk"')));
  assert.ok((await exported(OPERATOR)).length > desk.length);
  assert.deepEqual((await exported(SHOP)).map((line) => line.entry.action), ['session.created'], 'it signed in, no more');
});

test('the verdict is in plain words', { skip }, async () => {
  const window = await open(browser, server.url);
  await window.signIn(OPERATOR);
  await window.go('#/audit');
  const { page } = window;
  const verify = page.getByRole('button', { name: 'Verify the log' });
  await verify.click();
  await page.getByText('The log is whole.').waitFor();
  const verdicts = [
    [{ verdict: 'gaps', entries: 7, gaps: 2, unwritten: 1 }, /has gaps.*3 entries could not be written/s],
    [{ verdict: 'missing', entries: 7, lost: 4 }, /Entries are missing.*At least 4/s],
    [{ verdict: 'changed', line: 12, message: 'line 12 was changed' }, /The log was changed.*line 12/s],
    [{ verdict: '<img src=x onerror=alert(1)>' }, /could not be judged/],
  ];
  for (const [answer, words] of verdicts) {
    await page.route('**/v1/audit/verification', (route) => route.fulfill({ json: answer }));
    await verify.click();
    await page.locator('[data-verdict]').filter({ hasText: words }).waitFor();
    await page.unroute('**/v1/audit/verification');
  }
  assert.deepEqual(await axe(page), []);
  window.check();
  await page.context().close();
});

test('a search through a long log without a match asks before it goes on', { skip }, async () => {
  const window = await open(browser, server.url);
  await window.signIn(OPERATOR);
  let asked = 0;
  await window.page.route(/\/v1\/audit\?/, (route) => {
    asked += 1;
    return route.fulfill({ json: { items: [], next: String(asked) } });
  });
  await window.go('#/audit?q=needle');
  const { page } = window;
  await page.getByRole('button', { name: 'Search older entries' }).waitFor();
  const before = asked;
  assert.ok(before > 1 && before < 50, String(before));
  await page.getByRole('button', { name: 'Search older entries' }).click();
  await page.getByRole('button', { name: 'Search older entries' }).waitFor();
  assert.ok(asked > before && asked < 100);
  window.check();
  await page.context().close();
});

test('an export of several parts is one file', { skip }, async () => {
  const window = await open(browser, server.url);
  await window.signIn(OPERATOR);
  await window.go('#/audit');
  const { page } = window;
  const parts = { first: '{"seq":1,"time":"x","entry":{"type":"ä"}}\n{"next":"second"}\n', second: '{"seq":2,"time":"x","entry":{"next":"no cursor"}}\n' };
  await page.route('**/v1/audit/export*', (route) => route.fulfill({ contentType: 'application/x-ndjson', body: parts[new URL(route.request().url()).searchParams.get('cursor') ?? 'first'] }));
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Export' }).click()]);
  const lines = readFileSync(await download.path(), 'utf8').trim().split('\n').map((line) => JSON.parse(line).seq);
  assert.deepEqual(lines, [1, 2]);
  window.check();
  await page.context().close();
});
