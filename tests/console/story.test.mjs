// The whole story in two windows: a space, a program, a run, an approval, a crash of the server, a replay.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launch, missing, open, together } from './browser.mjs';
import { DESK, OPERATOR, PAY, Server } from './server.mjs';

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

async function write(page, source) {
  await page.getByRole('textbox', { name: 'Program' }).click();
  await page.keyboard.press('ControlOrMeta+a');
  for (const [i, line] of source.trimEnd().split('\n').entries()) {
    if (i > 0) await page.keyboard.press('Enter');
    await page.keyboard.insertText(line);
  }
}

async function approve(page) {
  await page.getByRole('button', { name: /^Approve/ }).click();
  await page.getByRole('dialog', { name: 'Approve?' }).getByRole('button', { name: 'Approve', exact: true }).click();
}

test('two people, one server, and a crash between them', { skip }, async (t) => {
  const author = await open(browser, server.url);
  const approver = await open(browser, server.url);
  await author.signIn(DESK);
  await approver.signIn(OPERATOR);
  await approver.go('#/approvals');
  const { page } = author;
  let run;

  await t.test('a space is made', async () => {
    await author.go('#/spaces/new');
    await page.getByLabel('Name', { exact: true }).fill('payouts of november');
    await page.getByRole('button', { name: 'Make the space' }).click();
    await page.waitForURL(/#\/spaces\/(?!new)/);
    await page.getByRole('heading', { level: 1, name: 'payouts of november' }).waitFor();
  });

  await t.test('a program is written, checked and run', async () => {
    await page.getByRole('link', { name: 'Try a program' }).click();
    await page.waitForURL(/#\/playground/);
    await write(page, PAY('ada'));
    await page.getByText(/No errors/).waitFor();
    await page.getByRole('button', { name: /^Run/ }).click();
    await page.getByText('Needs approval').first().waitFor();
    await page.getByText('balance 100').first().waitFor();
    await page.getByRole('link', { name: 'Open the run' }).click();
    await page.waitForURL(/#\/runs\/run_/);
    run = new URL(page.url()).hash.split('/')[2];
    await page.getByText('Needs approval').first().waitFor();
  });

  await t.test('the other window is told of the call, shows it whole, and approves', async () => {
    const other = approver.page;
    const row = other.getByRole('grid', { name: 'Pending approvals' }).getByRole('link', { name: /bank\.pay/ });
    await row.click();
    const call = other.getByRole('article');
    await call.getByText('ada').first().waitFor();
    assert.match(await call.innerText(), /desk/, 'who asks');
    await call.getByText(/bank\.pay\(/).first().waitFor();
    await approve(other);
    await other.getByText(/Approved/).first().waitFor();
  });

  await t.test('both windows follow the run to its end', async () => {
    await page.getByText('Finished').first().waitFor();
    await page.getByRole('tab', { name: /Result/ }).click();
    await page.getByRole('tabpanel').getByText('17').first().waitFor();
    await approver.go(`#/runs/${run}`);
    await approver.page.getByText('Finished').first().waitFor();
  });

  await t.test('pages come back after a crash, without a sign-in', async () => {
    const waiting = await server.waiting((await server.api('GET', `/v1/runs/${run}`)).spaceId, 'bob', { token: DESK });
    await author.go(`#/runs/${waiting.id}`);
    await page.getByText('Needs approval').first().waitFor();
    await approver.go('#/runs');
    await server.kill();
    await page.getByText('Reconnecting').first().waitFor();
    await approver.page.getByText('Reconnecting').first().waitFor();
    await server.spawn();
    await page.locator('header').getByText('Live', { exact: true }).waitFor({ timeout: 30_000 });
    await approver.page.locator('header').getByText('Live', { exact: true }).waitFor({ timeout: 30_000 });
    assert.equal(await page.locator('.sign-in').count(), 0);
    assert.equal(await approver.page.locator('.sign-in').count(), 0);
    await approver.go(`#/approvals/${waiting.approvals[0].id}`);
    await approve(approver.page);
    await page.getByText('Finished').first().waitFor({ timeout: 30_000 });
  });

  await t.test('a replay makes the same calls', async () => {
    await author.go(`#/runs/${run}`);
    await page.getByRole('button', { name: 'Replay', exact: true }).click();
    await page.getByRole('dialog', { name: 'Replay' }).getByText('The same', { exact: true }).waitFor();
    await page.keyboard.press('Escape');
  });

  await t.test('a changed program differs from the recorded run', async () => {
    await author.go(`#/playground?run=${run}`);
    const take = page.getByRole('button', { name: 'Replace it' });
    await page.waitForTimeout(800);
    if (await take.isVisible()) await take.click();
    await write(page, PAY('mallory'));
    await page.getByRole('button', { name: 'Replay against the run' }).first().click();
    const panel = page.getByRole('tabpanel').filter({ hasText: /differ|Different|mallory/ });
    await panel.first().waitFor();
  });

  author.check();
  approver.check();
});

test('two decisions at once: one counts, the other is told so', { skip }, async () => {
  const space = await server.space('two deciders', DESK);
  const waiting = await server.waiting(space, 'carol', { token: DESK });
  const [{ id }] = waiting.approvals;
  const windows = [];
  for (const token of [DESK, OPERATOR]) {
    const window = await open(browser, server.url);
    await window.signIn(token);
    await window.go(`#/approvals/${id}`);
    await window.page.getByRole('button', { name: /^Approve/ }).waitFor();
    windows.push(window);
  }
  const [first, second] = windows.map(({ page }) => page);
  await first.getByRole('button', { name: /^Approve/ }).click();
  await second.getByRole('button', { name: /^Deny/ }).click();
  await together([first, second]);
  await Promise.all([
    first.getByRole('dialog', { name: 'Approve?' }).getByRole('button', { name: 'Approve', exact: true }).click(),
    second.getByRole('dialog', { name: 'Deny?' }).getByRole('button', { name: 'Deny', exact: true }).click(),
  ]);
  await first.waitForTimeout(2000);
  const texts = await Promise.all([first, second].map((page) => page.locator('body').innerText()));
  assert.equal(texts.filter((text) => /Your decision does not count/.test(text)).length, 1, texts.join('\n-----\n'));
  const { status, decision } = await server.api('GET', `/v1/approvals/${id}`);
  assert.equal(status, decision.decision === 'approve' ? 'approved' : 'denied');
  const winner = decision.decision === 'approve' ? 0 : 1;
  assert.doesNotMatch(texts[winner], /Your decision does not count/);
  for (const window of windows) {
    window.check();
    await window.page.context().close();
  }
});

test('a decision elsewhere reaches an open page', { skip }, async () => {
  const space = await server.space('decided elsewhere', DESK);
  const waiting = await server.waiting(space, 'dora', { token: DESK });
  const window = await open(browser, server.url);
  await window.signIn(DESK);
  await window.go(`#/approvals/${waiting.approvals[0].id}`);
  await window.page.getByRole('button', { name: /^Approve/ }).waitFor();
  await server.api('POST', `/v1/approvals/${waiting.approvals[0].id}/decision`, { decision: 'deny', by: 'Ann', reason: 'not today' }, DESK);
  await window.page.getByText('not today').first().waitFor();
  assert.equal(await window.page.getByRole('button', { name: /^Approve/ }).count(), 0);
  window.check();
  await window.page.context().close();
});
