// Decisions by keyboard, late answers, large arguments, and a server with nothing in it; against the mock server in chromium.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import test, { after, before } from 'node:test';
import { chromium } from 'playwright-core';

const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
const dist = process.env.CONSOLE_DIST ?? new URL('../dist', import.meta.url).pathname;
const skip = !existsSync(executablePath) ? 'no chromium' : !existsSync(`${dist}/index.html`) ? 'no build' : false;
const FULL = 18_441;
const EMPTY = 18_442;
const AGENTS = 18_443;
const servers = [];
let browser;

function startServer(port, ...more) {
  const child = spawn(process.execPath, [new URL('../scripts/mock-server.mjs', import.meta.url).pathname, '--port', String(port), '--quiet', '--dist', dist, ...more], { stdio: ['ignore', 'pipe', 'inherit'] });
  servers.push(child);
  return new Promise((resolve) => child.stdout.once('data', resolve));
}

before(async () => {
  if (skip) return;
  await Promise.all([startServer(FULL), startServer(EMPTY, '--empty')]);
  browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
});
after(async () => {
  await browser?.close();
  for (const server of servers) server.kill();
});

async function open(hash, port = FULL, prepare = async () => {}) {
  const base = `http://127.0.0.1:${port}`;
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce' });
  const page = await context.newPage();
  const faults = [];
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
  await context.request.post(`${base}/console/session`, { data: { token: 'operator' } });
  await prepare(page);
  await page.goto(`${base}/console/${hash}`);
  return { page, context, faults };
}

const rows = (page) => page.getByRole('grid', { name: 'Pending approvals' }).getByRole('row');

test('arguments with very many members are few elements', { skip }, async () => {
  const params = { data: Array.from({ length: 200 }, (_, i) => Array.from({ length: 300 }, (_, j) => i * j)), text: 'x'.repeat(1_000_000) };
  const { page, context, faults } = await open('#/approvals', FULL, (window) =>
    window.route(/\/v1\/approvals/, async (route) => {
      const response = await route.fetch();
      const answer = await response.json();
      for (const one of answer.items ?? [answer]) if ('params' in one) one.params = params;
      await route.fulfill({ response, json: answer });
    }),
  );
  await rows(page).first().click();
  await page.getByRole('group', { name: 'Arguments of' }).waitFor();
  const elements = await page.evaluate(() => document.querySelectorAll('*').length);
  assert.ok(elements < 5000, `${elements} elements`);
  assert.deepEqual(faults, []);
  await context.close();
});

// Before the tests that decide the calls.
test('a call is compared with the newest approval, however many there are', { skip }, async () => {
  let oldest = 0;
  let one;
  const { page, context } = await open('#/approvals', FULL, async (window) => {
    const pending = await window.context().request.get(`http://127.0.0.1:${FULL}/v1/approvals?status=pending&limit=1`, { headers: { 'x-agent-spaces-console': '1' } });
    [one] = (await pending.json()).items;
    await window.route(/\/v1\/approvals\?.*status=(approved|denied|expired)/, async (route) => {
      const query = new URL(route.request().url()).searchParams;
      if (query.get('order') !== 'newest') oldest++;
      // Lists that never end, of another function, but for the newest approval.
      const newest = query.get('status') === 'approved' && query.get('order') === 'newest' && !query.has('cursor');
      const items = Array.from({ length: 100 }, (_, i) => ({ ...one, id: `apr_${query.get('status')}${query.get('cursor') ?? 0}_${i}`, status: query.get('status'), createdAt: '2020-01-01T00:00:00Z', functionId: newest && i === 0 ? one.functionId : 'capabilities:other/other@1.0.0#other', params: { before: 'the newest' } }));
      await route.fulfill({ json: { items, next: String(Number(query.get('cursor') ?? 0) + 1) } });
    });
  });
  await page.evaluate((id) => void (location.hash = `#/approvals/${id}`), one.id);
  const compared = page.getByRole('region', { name: 'Compared with the last approval' });
  await compared.getByText('the newest').first().waitFor();
  assert.equal(oldest, 0);
  await context.close();
});

test('a call is decided by keyboard alone, and the focus stays with it', { skip }, async () => {
  const { page, context, faults } = await open('#/approvals');
  const title = page.locator('#request-title');
  await title.waitFor();
  const many = await rows(page).count();
  await page.keyboard.press('j');
  await page.keyboard.press('a');
  await page.getByRole('dialog', { name: 'Approve?' }).waitFor();
  await page.waitForFunction(() => document.activeElement?.textContent === 'Approve');
  await page.keyboard.press('Enter');
  await page.getByRole('article').getByText('Approved', { exact: true }).waitFor();
  await page.waitForFunction(() => document.activeElement?.id === 'request-title');
  assert.equal(await rows(page).count(), many - 1);
  assert.deepEqual(faults, []);
  await context.close();
});

test('a list that was asked for before a decision does not bring the call back', { skip }, async () => {
  let hold;
  const held = [];
  const { page, context } = await open('#/approvals', FULL, (window) =>
    window.route(/\/v1\/approvals\?.*status=pending/, async (route) => {
      const response = await route.fetch();
      if (hold) {
        held.push(() => route.fulfill({ response }));
        return;
      }
      await route.fulfill({ response });
    }),
  );
  await page.locator('#request-title').waitFor();
  const many = await rows(page).count();
  // Another approval changes: the list is read again, and its answer is on its way.
  hold = true;
  await context.request.post(`http://127.0.0.1:${FULL}/v1/approvals/${await other(page)}/decision`, { data: { decision: 'deny' }, headers: { 'x-agent-spaces-console': '1' } });
  await page.waitForFunction((n) => document.querySelectorAll('[role=grid] [role=row]').length === n - 1, many);
  while (held.length === 0) await page.waitForTimeout(50);
  await page.keyboard.press('d');
  await page.getByRole('dialog', { name: 'Deny?' }).getByRole('button', { name: 'Deny' }).click();
  await page.getByRole('article').getByText('Denied', { exact: true }).waitFor();
  await page.waitForTimeout(1800);
  // The answers come in the wrong order. The page may have given up on some.
  hold = false;
  for (const go of held.reverse()) await go().catch(() => {});
  await page.waitForTimeout(500);
  assert.equal(await rows(page).count(), many - 2);
  await context.close();
});

test('a call of an agent is in the inbox and on its page, and leaves both when it is decided elsewhere', { skip }, async () => {
  await startServer(AGENTS);
  const { page, context, faults } = await open('#/approvals', AGENTS);
  const row = rows(page).filter({ hasText: 'agent accountant' });
  await row.waitFor();
  const other = await context.newPage();
  await other.goto(`http://127.0.0.1:${AGENTS}/console/#/agents/accountant`);
  const waits = other.getByRole('heading', { name: 'The agent waits for a decision' });
  await waits.waitFor();
  let asked = 0;
  for (const one of [page, other]) one.on('request', (request) => (asked += Number(request.url().includes('/v1/approvals'))));
  await page.waitForTimeout(5000);
  assert.equal(asked, 0, 'changes are told, and nothing is asked for again and again');
  await row.click();
  await page.getByRole('article').getByText('agent accountant').waitFor();
  await context.request.post(`http://127.0.0.1:${AGENTS}/v1/approvals/apr_agent1/decision`, { data: { decision: 'deny', by: 'Ann' }, headers: { 'x-agent-spaces-console': '1' } });
  await row.waitFor({ state: 'detached', timeout: 5000 });
  await waits.waitFor({ state: 'detached', timeout: 5000 });
  await page.getByRole('article').getByText(/Ann .*denied it/).waitFor();
  assert.deepEqual(faults, []);
  await context.close();
});

/** Id of a pending call of a run that is not shown. */
async function other(page) {
  const ids = await page.evaluate(async () => (await (await fetch('/v1/approvals?limit=100', { headers: { 'x-agent-spaces-console': '1' } })).json()).items.filter((one) => one.status === 'pending').map((one) => one.id));
  return ids.find((id) => !page.url().includes(id));
}

test('typing over a selection breaks no rule of the content security policy', { skip }, async () => {
  const { page, context, faults } = await open('#/playground');
  const editor = page.getByRole('textbox', { name: 'Program' });
  await editor.click();
  for (const text of ['const a = 1;', 'const b = 2;\nconst c = 3;\n', 'let d']) {
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText(text);
    await page.waitForTimeout(100);
  }
  assert.equal(await editor.innerText(), 'let d');
  assert.deepEqual(faults, []);
  await context.close();
});

test('a server with nothing in it says what to do', { skip }, async () => {
  for (const [hash, words] of [['#/runs', 'No runs yet'], ['#/approvals', 'Nothing waits for you'], ['#/spaces', 'No spaces'], ['#/capabilities', 'No spaces'], ['#/playground', 'No spaces'], ['#/agents', 'There are no agents'], ['#/audit', 'The log has no entries yet'], ['#/servers', 'There are no MCP servers']]) {
    const { page, context, faults } = await open(hash, EMPTY);
    await page.locator('main').getByText(words, { exact: true }).waitFor({ timeout: 10_000 });
    assert.deepEqual(faults, [], hash);
    await context.close();
  }
});
