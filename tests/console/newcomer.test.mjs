// The way of a newcomer: a link from the terminal, the playground, a first run; in less than a minute, and most of it is reading.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launch, missing, open } from './browser.mjs';
import { Server } from './server.mjs';

const skip = missing();
let server;
let browser;

before(async () => {
  if (skip) return;
  server = await new Server().start();
  browser = await launch();
});

after(async () => {
  await browser?.close();
  await server?.stop();
});

test('from the link to the first run', { skip }, async (t) => {
  assert.ok(server.log.includes(`${server.url}/console/`), `the server says where the console is:\n${server.log}`);
  const begun = Date.now();
  const link = server.command('console', '--print', '--url', server.url).trim();
  assert.match(link, /^http:\/\/127\.0\.0\.1:\d+\/console\/#link=/);
  const window = await open(browser, server.url);
  const { page } = window;
  await page.goto(link);
  // The empty list says what to do next.
  await page.getByText('No runs yet').waitFor();
  await page.getByRole('link', { name: /playground/i }).filter({ hasText: /write/i }).click();
  await page.getByText(/No errors/).waitFor();
  await page.getByRole('button', { name: /^Run/ }).click();
  await page.getByText('Finished').first().waitFor();
  await page.getByText('hello from a sandbox').first().waitFor();
  const seconds = (Date.now() - begun) / 1000;
  t.diagnostic(`${seconds.toFixed(1)} s`);
  assert.ok(seconds < 60);
  // It is in the list, and the audit log has it.
  await window.go('#/runs');
  await page.getByRole('grid', { name: 'Runs' }).getByText('Finished').first().waitFor();
  await window.go('#/audit');
  await page.getByRole('grid', { name: /audit log/ }).getByText('started a run').first().waitFor();
  await page.getByRole('button', { name: 'Verify the log' }).click();
  await page.getByText('The log is whole').waitFor();
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Export' }).click()]);
  const { readFileSync } = await import('node:fs');
  const lines = readFileSync(await download.path(), 'utf8').trim().split('\n');
  assert.ok(lines.length > 0);
  for (const line of lines) JSON.parse(line);
  window.check();
});

test('each page without data says what to do next', { skip }, async () => {
  const window = await open(browser, server.url);
  await window.page.goto(server.command('console', '--print', '--url', server.url).trim());
  await window.page.locator('#page-title').waitFor();
  for (const [place, text] of [['#/approvals', /nothing waits/i], ['#/servers', /no MCP servers/i], ['#/agents/helper', /Write a question/]]) {
    await window.go(place);
    await window.page.getByText(text).first().waitFor();
  }
  window.check();
});
