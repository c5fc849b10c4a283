// Sign-in: with a token, wrong ones, too many, sign-out, other sites, frames.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launch, missing, open } from './browser.mjs';
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

async function session(body, headers = { 'x-agent-spaces-console': '1' }) {
  return fetch(`${server.url}/console/session`, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) });
}

function cookieOf(response) {
  const [set] = response.headers.getSetCookie();
  assert.ok(set, 'there is a cookie');
  return { set, pair: set.split(';')[0] };
}

test('a token signs in, and the page says who it is', { skip }, async () => {
  for (const [token, name] of [[OPERATOR, 'the operator'], [DESK, 'desk'], [SHOP, 'shop']]) {
    const window = await open(browser, server.url);
    await window.signIn(token);
    await window.page.getByText(name, { exact: false }).first().waitFor();
    assert.equal(await window.page.evaluate(() => document.cookie), '', 'scripts cannot read the cookie');
    const kept = await window.page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }));
    assert.ok(!kept.includes(token), 'the token is not stored');
    window.check();
    await window.page.context().close();
  }
});

test('a sign-out ends the session, also for who kept the cookie', { skip }, async () => {
  const window = await open(browser, server.url);
  await window.signIn(DESK);
  const [cookie] = await window.page.context().cookies();
  assert.deepEqual([cookie.name, cookie.httpOnly, cookie.sameSite, cookie.path], ['agent_spaces_session', true, 'Strict', '/']);
  await window.page.getByRole('button', { name: /sign out/i }).click();
  await window.page.getByRole('button', { name: 'Sign in' }).waitFor();
  const again = await fetch(`${server.url}/v1/me`, { headers: { cookie: `${cookie.name}=${cookie.value}`, 'x-agent-spaces-console': '1' } });
  assert.equal(again.status, 401);
  window.check();
  await window.page.context().close();
});

test('the cookie counts only with the header of the console, from its own origin', { skip }, async () => {
  const response = await session({ token: DESK });
  assert.equal(response.status, 200);
  const { set, pair } = cookieOf(response);
  assert.match(set, /HttpOnly/);
  assert.match(set, /SameSite=Strict/);
  const me = (headers) => fetch(`${server.url}/v1/me`, { headers: { cookie: pair, ...headers } });
  const own = { 'x-agent-spaces-console': '1' };
  assert.equal((await me(own)).status, 200);
  assert.equal((await me({})).status, 401, 'without the header');
  assert.ok([401, 403].includes((await me({ ...own, origin: 'http://evil.example' })).status), 'another origin');
  assert.ok([401, 403].includes((await me({ ...own, 'sec-fetch-site': 'cross-site' })).status), 'another site');
  assert.ok([400, 401, 403].includes((await me({ ...own, authorization: `Bearer ${SHOP}` })).status), 'another caller besides');
  const changed = `${pair.slice(0, -2)}${pair.endsWith('AA') ? 'BB' : 'AA'}`;
  assert.equal((await fetch(`${server.url}/v1/me`, { headers: { cookie: changed, ...own } })).status, 401, 'a changed cookie');
  const made = await fetch(`${server.url}/v1/spaces`, { method: 'POST', headers: { cookie: pair, 'content-type': 'application/json' }, body: '{"name":"x"}' });
  assert.equal(made.status, 401, 'a form of another site changes nothing');
});

test('pages cannot be framed, and nothing else than their own files may run', { skip }, async () => {
  for (const path of ['/console/', '/console/app.js']) {
    const { headers, status } = await fetch(server.url + path);
    assert.equal(status, 200, path);
    assert.equal(headers.get('x-frame-options'), 'DENY');
    assert.equal(headers.get('x-content-type-options'), 'nosniff');
    assert.equal(headers.get('referrer-policy'), 'no-referrer');
    assert.equal(headers.get('cross-origin-opener-policy'), 'same-origin');
    const policy = headers.get('content-security-policy');
    for (const part of ["default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'"]) assert.ok(policy.includes(part), part);
    assert.ok(!policy.includes('unsafe'));
  }
  const window = await open(browser, server.url);
  await window.page.goto(`${server.url}/console/`);
  const framed = await window.page.evaluate(async () => {
    const frame = document.createElement('iframe');
    frame.src = '/console/';
    document.body.append(frame);
    await new Promise((resolve) => setTimeout(resolve, 1500));
    try {
      return frame.contentDocument?.querySelector('#app')?.childElementCount ?? 0;
    } catch {
      return 0;
    }
  });
  assert.equal(framed, 0);
  await window.page.context().close();
  for (const path of ['/', '/console']) {
    const response = await fetch(server.url + path, { redirect: 'manual' });
    assert.ok([301, 302, 303, 307, 308].includes(response.status), path);
    assert.match(response.headers.get('location'), /\/console\/$/);
  }
});

test('a link works once', { skip }, async () => {
  const link = server.command('console', '--print', '--url', server.url).trim();
  const code = link.split('#link=')[1];
  assert.ok(code, link);
  const window = await open(browser, server.url);
  await window.page.goto(link);
  await window.page.locator('#page-title').waitFor();
  assert.ok(!window.page.url().includes('link='), 'the code leaves the address');
  const second = await session({ link: code });
  assert.equal(second.status, 401);
  const other = await open(browser, server.url);
  await other.page.goto(link);
  await other.page.getByText(/used before/).waitFor();
  window.check();
  other.check();
  await window.page.context().close();
  await other.page.context().close();
});

// Last: the address is refused for a minute afterwards.
test('wrong tokens are told, and then refused for a while', { skip }, async () => {
  const window = await open(browser, server.url);
  await window.page.goto(`${server.url}/console/`);
  await window.page.getByLabel('Or sign in with a token').fill('not-the-token-of-anybody');
  await window.page.getByRole('button', { name: 'Sign in' }).click();
  await window.page.getByText('This token is not known').waitFor();
  const statuses = [];
  for (let i = 0; i < 14; i++) statuses.push((await session({ token: `wrong-token-number-${i}` })).status);
  assert.equal(statuses[0], 401);
  assert.equal(statuses.at(-1), 429);
  await window.page.getByRole('button', { name: 'Sign in' }).click();
  await window.page.getByText('Too many attempts').waitFor();
  window.check();
  await window.page.context().close();
});
