// Every page, for every kind of caller, light and dark, wide and narrow: no errors, nothing against the policy, nothing that axe finds.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { axe, launch, missing, open } from './browser.mjs';
import { fill, places } from './places.mjs';
import { DESK, OPERATOR, Server, SHOP } from './server.mjs';

const skip = missing();
let server;
let browser;
let data;

before(async () => {
  if (skip) return;
  server = await new Server().start();
  data = await fill(server);
  browser = await launch();
});

after(async () => {
  await browser?.close();
  await server?.stop();
});

for (const colorScheme of ['light', 'dark']) {
  for (const width of [1280, 360]) {
    test(`pages of the operator, ${colorScheme}, ${width} px`, { skip }, async (t) => {
      const window = await open(browser, server.url, { colorScheme, viewport: { width, height: 760 }, reducedMotion: 'reduce' });
      await window.signIn(OPERATOR);
      for (const [name, place] of Object.entries(places(data))) {
        await t.test(name, async () => {
          await window.go(place);
          await window.page.waitForTimeout(300);
          assert.deepEqual(await axe(window.page), []);
          const wider = await window.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
          assert.ok(wider <= 0, `the page is ${wider} px wider than the window`);
          assert.equal(await window.page.getByRole('alert').count(), ['run-failed'].includes(name) ? 1 : 0, 'no page shows an error');
          window.check();
        });
      }
      await window.page.context().close();
    });
  }
}

test('dialogs and the sign-in have nothing that axe finds', { skip }, async () => {
  const window = await open(browser, server.url);
  await window.page.goto(`${server.url}/console/`);
  await window.page.getByLabel('Or sign in with a token').waitFor();
  assert.deepEqual(await axe(window.page), []);
  await window.signIn(OPERATOR);
  await window.page.keyboard.press('?');
  await window.page.getByRole('dialog').waitFor();
  assert.deepEqual(await axe(window.page), []);
  await window.page.keyboard.press('Escape');
  await window.go('#/audit');
  await window.page.getByRole('grid').focus();
  await window.page.keyboard.press('ArrowDown');
  await window.page.keyboard.press('Enter');
  await window.page.getByRole('dialog').waitFor();
  assert.deepEqual(await axe(window.page), []);
  window.check();
  await window.page.context().close();
});

describe('callers', () => {
  for (const [name, token, approves] of [['who may approve', DESK, true], ['who may not', SHOP, false]]) {
    test(`a caller ${name} sees its own things alone, without errors`, { skip }, async () => {
      const window = await open(browser, server.url);
      await window.signIn(token);
      for (const place of ['#/runs', '#/approvals', '#/spaces', '#/capabilities', '#/playground', '#/agents', '#/agents/helper', '#/audit', '#/servers']) {
        await window.go(place);
        await window.page.waitForTimeout(200);
        assert.equal(await window.page.getByRole('alert').count(), 0, place);
        assert.ok(!(await window.page.locator('main').innerText()).includes('order 4711'), `${place} shows what is another's`);
      }
      assert.equal(await window.page.getByRole('button', { name: 'Verify the log' }).count(), 0);
      await window.go(`#/runs/${data.finished.id}`);
      await window.page.getByRole('alert').first().waitFor();
      const text = await window.page.locator('main').innerText();
      assert.match(text, /not found/i);
      if (!approves) {
        await window.go('#/approvals');
        assert.equal(await window.page.getByRole('button', { name: /^approve/i }).and(window.page.locator(':enabled')).count(), 0, 'no button that would be refused');
      }
      window.check();
      await window.page.context().close();
    });
  }
});

test('everything is reached with the keyboard', { skip }, async () => {
  const window = await open(browser, server.url);
  await window.signIn(OPERATOR);
  for (const [key, title] of [['a', 'Approvals'], ['s', 'Spaces'], ['c', 'Capabilities'], ['p', 'Playground'], ['g', 'Agents'], ['l', 'Audit log'], ['m', 'MCP servers'], ['r', 'Runs']]) {
    await window.page.evaluate(() => document.activeElement?.blur());
    await window.page.keyboard.press('g');
    await window.page.keyboard.press(key);
    await window.page.getByRole('heading', { level: 1, name: title }).waitFor();
  }
  await window.page.getByRole('grid', { name: 'Runs' }).focus();
  await window.page.keyboard.press('ArrowDown');
  await window.page.keyboard.press('Enter');
  await window.page.waitForURL(/#\/runs\/run/);
  // The focus is always visible.
  for (let i = 0; i < 12; i++) {
    await window.page.keyboard.press('Tab');
    const seen = await window.page.evaluate(() => {
      const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement);
      return document.activeElement === document.body || document.activeElement.shadowRoot !== null || (outlineStyle !== 'none' && outlineWidth !== '0px');
    });
    assert.ok(seen, await window.page.evaluate(() => document.activeElement.outerHTML.slice(0, 200)));
  }
  window.check();
  await window.page.context().close();
});
