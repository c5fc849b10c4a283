// Chat with an agent whose model is scripted.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { axe, launch, missing, open, together } from './browser.mjs';
import { DESK, OPERATOR, Server, SHOP } from './server.mjs';

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

async function chat(token = DESK, agent = 'helper') {
  const window = await open(browser, server.url);
  await window.signIn(token);
  await window.go(`#/agents/${agent}`);
  const ask = async (question) => {
    await window.page.getByLabel('Question to the agent').fill(question);
    await window.page.keyboard.press('Enter');
  };
  return { window, page: window.page, ask, done: () => window.page.getByRole('button', { name: 'Ask' }).waitFor() };
}

test('a conversation is a session, with tokens and cost of each turn and in total', { skip }, async () => {
  const { window, page, ask, done } = await chat();
  await ask('What can you do?');
  await page.getByText('Answer number 1.').waitFor();
  await done();
  await page.waitForURL(/session=/);
  await ask('And then?');
  await page.getByText('Answer number 2.').waitFor();
  await done();
  await page.getByText(/In total: 2,000 tokens in, 40 out, cost/).waitFor();
  assert.equal(await page.getByRole('article').filter({ hasText: '1,000 tokens in, 20 out' }).count(), 2);
  const sessions = page.getByRole('navigation', { name: 'Sessions' });
  await sessions.getByRole('link').first().waitFor();
  assert.equal(await sessions.getByRole('link').count(), 1);
  // The same after a reload.
  await page.reload();
  await page.getByText('Answer number 2.').waitFor();
  assert.deepEqual(await axe(page), []);
  // The operator reads it, and cannot go on with it.
  const operator = await open(browser, server.url);
  await operator.signIn(OPERATOR);
  await operator.go(new URL(page.url()).hash);
  await operator.page.getByText('This is a session of desk.').waitFor();
  await operator.page.getByText('Answer number 2.').waitFor();
  assert.equal(await operator.page.getByLabel('Question to the agent').count(), 0);
  operator.check();
  await operator.page.context().close();
  window.check();
  await page.context().close();
});

test('a call that needs a person is decided in the chat', { skip }, async () => {
  const { window, page, ask, done } = await chat();
  await ask('[pay] ada, please');
  await page.getByRole('heading', { name: 'The agent waits for a decision' }).waitFor();
  await page.getByRole('region', { name: /^Arguments of .*pay/ }).first().waitFor();
  assert.deepEqual(await axe(page), []);
  // One click is no decision: the dialog repeats the call.
  await page.getByRole('button', { name: /^Approve/ }).click();
  const dialog = page.getByRole('dialog', { name: 'Approve?' });
  assert.match(await dialog.innerText(), /pay\(.*ada/);
  assert.equal((await server.api('GET', '/v1/approvals?status=pending&agent=helper')).items.length, 1);
  await dialog.getByRole('button', { name: 'Approve', exact: true }).click();
  await page.getByText(/The tool said: .*17/).waitFor();
  await done();
  const made = page.getByRole('article').locator('details').filter({ hasText: /pay/ }).first();
  await made.locator('summary').click();
  assert.match(await made.innerText(), /ada/);
  window.check();
  await page.context().close();
});

test('a denial in another window reaches the chat, and a second decision is told', { skip }, async () => {
  const { window, page, ask, done } = await chat();
  await ask('[pay] twice');
  await page.getByRole('button', { name: /^Approve/ }).click();
  const other = await open(browser, server.url);
  await other.signIn(DESK);
  await other.go('#/agents/helper');
  await other.page.getByRole('button', { name: /^Deny/ }).click();
  await together([page, other.page]);
  await Promise.all([
    page.getByRole('dialog', { name: 'Approve?' }).getByRole('button', { name: 'Approve', exact: true }).click(),
    other.page.getByRole('dialog', { name: 'Deny?' }).getByRole('button', { name: 'Deny', exact: true }).click(),
  ]);
  const notices = async (one) => (await one.getByRole('region', { name: 'Notices' }).innerText()).trim();
  await page.waitForTimeout(1500);
  const both = [await notices(page), await notices(other.page)];
  assert.equal(both.filter((text) => /(Approved|Denied): /.test(text)).length, 1, both.join(' / '));
  assert.equal(both.filter((text) => /Somebody else decided first/.test(text)).length, 1, both.join(' / '));
  await done();
  window.check();
  other.check();
  await page.context().close();
  await other.page.context().close();
});

test('a call comes into the inbox and the title of another window at once, and is decided there', { skip }, async () => {
  const inbox = await open(browser, server.url);
  await inbox.signIn(DESK);
  await inbox.go('#/approvals');
  await inbox.page.getByText('Nothing waits for you').waitFor();
  const elsewhere = await open(browser, server.url);
  await elsewhere.signIn(OPERATOR);
  await elsewhere.go('#/runs');
  await elsewhere.page.locator('header').getByText('Live', { exact: true }).waitFor();
  const { window, page, ask, done } = await chat();
  await ask('[pay] ada, please');
  await page.getByRole('heading', { name: 'The agent waits for a decision' }).waitFor();
  // They are told: nobody asks every few seconds.
  const row = inbox.page.getByRole('grid', { name: 'Pending approvals' }).getByRole('link', { name: /bank\.pay/ });
  await row.waitFor({ timeout: 3000 });
  await inbox.page.waitForFunction(() => document.title.startsWith('(1)'));
  await elsewhere.page.waitForFunction(() => document.title.startsWith('(1)'), undefined, { timeout: 5000 });
  await row.click();
  const call = inbox.page.getByRole('article');
  assert.match(await call.innerText(), /agent helper, asked by desk/);
  await call.getByText('ada').first().waitFor();
  await inbox.page.getByRole('button', { name: /^Deny/ }).click();
  const dialog = inbox.page.getByRole('dialog', { name: 'Deny?' });
  await dialog.getByRole('textbox').fill('not today');
  await dialog.getByRole('button', { name: 'Deny', exact: true }).click();
  // The reason also stands in the closed details of the call, which nobody sees.
  await page.getByText(/The tool said: .*not today/).waitFor();
  await done();
  for (const one of [inbox.page, elsewhere.page]) await one.waitForFunction(() => !document.title.startsWith('('));
  // It is among the decided ones, with who decided.
  await inbox.go('#/approvals?tab=decided');
  await inbox.page.getByRole('link', { name: /bank\.pay/ }).first().click();
  await inbox.page.getByRole('article').getByText(/desk denied it/).waitFor();
  for (const one of [inbox, elsewhere, window]) {
    one.check();
    await one.page.context().close();
  }
});

test('calls of programs link to their runs', { skip }, async () => {
  const { window, page, ask, done } = await chat(DESK, 'coder');
  await ask('[run] a program');
  await page.getByText(/The tool said/).waitFor();
  await done();
  const call = page.getByRole('article').locator('details').first();
  await call.waitFor();
  const link = page.getByRole('article').getByRole('link', { name: 'Run' });
  if ((await link.count()) > 0) {
    await link.first().click();
    await page.waitForURL(/#\/runs\/run_/);
    await page.locator('#page-title').waitFor();
  }
  window.check();
  await page.context().close();
});

test('a question is stopped, and survives a look at another page', { skip }, async () => {
  const { window, page, ask } = await chat();
  await ask('[slow] tell me all');
  await page.getByText(/word word word/).waitFor();
  await window.go('#/runs');
  await window.go('#/agents/helper');
  const words = async () => (await page.getByRole('article').last().innerText()).split('word').length;
  const before = await words();
  await page.waitForTimeout(700);
  assert.ok((await words()) > before, 'it goes on');
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.getByText('Stopped.').waitFor();
  await page.getByRole('button', { name: 'Ask' }).waitFor();
  window.check();
  await page.context().close();
});

test('text of a model is text', { skip }, async () => {
  const { window, page, ask, done } = await chat();
  await ask('[hostile] <b>bold</b>');
  await done();
  await page.getByText('<img src=x onerror=alert(1)>').first().waitFor();
  const links = await page.locator('.prose a').evaluateAll((all) => all.map(({ href, rel, target }) => ({ href, rel, target })));
  assert.deepEqual(links, [{ href: 'https://example.com/page', rel: 'noreferrer noopener nofollow', target: '_blank' }]);
  assert.equal(await page.locator('main img, main b').count(), 0);
  assert.ok(!(await page.locator('main').innerText()).includes('\u202e'), 'marks of direction are shown, not obeyed');
  window.check();
  await page.context().close();
});

test('a failure of the model is told, and the next question works', { skip }, async () => {
  const { window, page, ask, done } = await chat();
  await ask('[fail]');
  await page.getByRole('alert').first().waitFor();
  await done();
  await ask('Better now?');
  await page.getByText(/Answer number/).first().waitFor();
  await done();
  assert.equal(await page.getByRole('alert').count(), 0);
  window.check();
  await page.context().close();
});

test('a caller who may not approve sees no buttons for it', { skip }, async () => {
  const { window, page, ask } = await chat(SHOP);
  await ask('[pay] nobody');
  await page.getByText('you may not decide on it').waitFor();
  assert.equal(await page.getByRole('button', { name: /^Approve/ }).count(), 0);
  await page.getByRole('button', { name: 'Stop' }).click();
  window.check();
  await page.context().close();
});
