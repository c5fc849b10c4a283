// Everything that others can write has markup, addresses of scripts, marks of direction, escapes of terminals and great length in it.
// Nothing of it runs, nothing becomes an element, and the pages stay usable.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { axe, latency, launch, missing, open } from './browser.mjs';
import { OPERATOR, Server } from './server.mjs';

const skip = missing();
const MARKUP = '<img src=x onerror="window.hacked=1;alert(1)"><script>window.hacked=1;alert(2)</script>';
const QUOTES = `"><svg onload=alert(3)>'"\`\${alert(4)}{@html 1}{{7*7}}`;
const BIDI = '\u202Etxt.exe\u202C \u2066isolated\u2069 \u200B\u200F';
const ANSI = '\u001b[31mred\u001b[0m\u001b]0;title\u0007';
const ALL = `${MARKUP} ${QUOTES} ${BIDI} ${ANSI} javascript:alert(5)`;
const LONG = 'W'.repeat(1024 * 1024);
// Names have fewer characters, and no slashes.
const NAME = '<img src=x onerror=alert(6)> "><svg onload=alert(7)> ${1}';

const CAPABILITY = `import { defineTool } from '@agent-spaces/capabilities';

export const risky = defineTool({
  name: 'risky',
  description: ${JSON.stringify(ALL)},
  functions: {
    send: {
      description: ${JSON.stringify(`${ALL}\n*/ alert(8) /* ${'very long '.repeat(3000)}`)},
      parameters: { text: { type: 'string', required: true, description: ${JSON.stringify(ALL)} } },
      returns: {} as { said: string },
      requiresApproval: true,
      handler: async ({ text }) => ({ said: text }),
    },
    fail: {
      description: 'Fails',
      parameters: { text: { type: 'string', required: true } },
      returns: {} as { said: string },
      handler: async ({ text }) => { throw new Error(text); },
    },
  },
});
`;

let server;
let browser;
let window;
const seen = {};

before(async () => {
  if (skip) return;
  server = await new Server().start({ files: { 'capabilities/risky.ts': CAPABILITY }, capabilities: ['./capabilities/risky.ts'] });
  browser = await launch();
  window = await open(browser, server.url);
  await window.signIn(OPERATOR);
  const space = await server.space(NAME);
  const value = JSON.stringify(ALL);
  seen.space = space;
  seen.value = await server.run(space, `export default { [${value}]: ${value}, list: [${value}], long: 'x'.repeat(200000) }`, { name: NAME });
  seen.console = await server.run(space, `console.log(${value}); console.error(${value}); try { console.log('W'.repeat(1024 * 1024)) } catch {} export default 1`, { name: `console ${NAME}` });
  seen.error = await server.run(space, `throw new Error(${value} + 'W'.repeat(100000))`, { name: `error ${NAME}` });
  seen.call = await server.run(space, `import { risky } from "@capabilities/risky";\nexport default await risky.fail({ text: ${value} })`, { name: `call ${NAME}` });
  const { id } = await server.run(space, `import { risky } from "@capabilities/risky";\n// ${MARKUP}\nexport default await risky.send({ text: ${value} + 'W'.repeat(100000) })`, { name: `waits ${NAME}` }, { wait: 0 });
  for (let i = 0; i < 60; i++) {
    seen.waiting = await server.api('GET', `/v1/runs/${id}?wait=1`);
    if (seen.waiting.status === 'awaiting_approval') break;
  }
  const decided = await server.waiting(space, ALL.slice(0, 300));
  await server.api('POST', `/v1/approvals/${decided.approvals[0].id}/decision`, { decision: 'deny', by: NAME, reason: `${MARKUP} ${QUOTES}` });
  seen.decided = decided;
  // Names that the server refuses cannot be shown.
  for (const path of [`${NAME}.txt`, `${BIDI}.txt`, 'a'.repeat(200)]) {
    await fetch(`${server.url}/v1/spaces/${space}/files/${encodeURIComponent(path)}`, { method: 'PUT', headers: { authorization: `Bearer ${OPERATOR}` }, body: ALL });
  }
});

after(async () => {
  await browser?.close();
  await server?.stop();
});

async function harmless(place) {
  const { page } = window;
  assert.equal(await page.evaluate(() => window.hacked), undefined, `${place}: nothing ran`);
  const injected = await page.evaluate(() => {
    const bad = 'img[src="x"], script:not([src]), svg[onload], [onerror], [onclick], iframe, object, embed, a[href^="javascript"]';
    const roots = [document, ...[...document.querySelectorAll('*')].flatMap((one) => (one.shadowRoot ? [one.shadowRoot] : []))];
    return roots.flatMap((root) => [...root.querySelectorAll(bad)].map((one) => one.outerHTML.slice(0, 200)));
  });
  assert.deepEqual(injected, [], `${place}: no element came from the content`);
  const raw = await page.locator('main').evaluate((main) => /[\u202a-\u202e\u2066-\u2069\u200b\u200f\u001b\u0007]/.exec(main.textContent)?.[0]);
  assert.equal(raw, undefined, `${place}: characters that cannot be seen are shown`);
  const title = await page.title();
  assert.ok(title.length < 200 && !/[\u202a-\u202e\u001b]/.test(title), `${place}: title`);
  window.check();
}

// The page answers to input, whatever it shows.
async function usable(place) {
  const { page } = window;
  await page.evaluate(() => document.activeElement?.blur?.());
  const ms = await latency(page, () => page.keyboard.press('Shift'));
  assert.ok(ms < 500, `${place}: ${ms} ms from a key to the next paint`);
  const wider = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(wider <= 0, `${place}: ${wider} px wider than the window`);
}

test('pages with hostile content', { skip }, async (t) => {
  const places = {
    runs: '#/runs',
    value: `#/runs/${seen.value.id}`,
    console: `#/runs/${seen.console.id}`,
    error: `#/runs/${seen.error.id}`,
    call: `#/runs/${seen.call.id}`,
    waiting: `#/runs/${seen.waiting.id}`,
    approvals: '#/approvals',
    approval: `#/approvals/${seen.waiting.approvals?.[0]?.id}`,
    decided: `#/approvals/${seen.decided.approvals[0].id}`,
    spaces: '#/spaces',
    space: `#/spaces/${seen.space}`,
    files: `#/spaces/${seen.space}?tab=files`,
    declarations: `#/spaces/${seen.space}?tab=declarations`,
    capabilities: `#/capabilities?space=${seen.space}`,
    capability: `#/capabilities/risky?space=${seen.space}`,
    playground: `#/playground?space=${seen.space}&run=${seen.waiting.id}`,
    audit: '#/audit',
    hash: `#/runs/${encodeURIComponent(MARKUP)}`,
    query: `#/audit?q=${encodeURIComponent(ALL)}`,
  };
  for (const [name, place] of Object.entries(places)) {
    await t.test(name, async () => {
      await window.go(place);
      await window.page.waitForTimeout(400);
      await harmless(name);
      await usable(name);
      // Tabs show other parts of the same content.
      const tabs = window.page.getByRole('main').getByRole('tab');
      for (let i = 0; i < Math.min(8, await tabs.count()); i++) {
        await tabs.nth(i).click();
        await window.page.waitForTimeout(150);
        await harmless(`${name}, tab ${i}`);
      }
    });
  }
});

test('entries of the audit log', { skip }, async () => {
  const { page } = window;
  await window.go('#/audit?type=callScheduled');
  await page.getByRole('grid').focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor();
  await harmless('entry');
  assert.deepEqual(await axe(page), []);
  await page.keyboard.press('Escape');
});

test('a line of a megabyte does not stop the page', { skip }, async () => {
  const { page } = window;
  await window.go('#/agents/helper');
  await page.getByLabel('Question to the agent').fill(`${ALL} ${LONG}`);
  await page.getByRole('button', { name: 'Ask' }).click();
  await page.getByRole('button', { name: 'Ask' }).waitFor();
  await page.getByText(/Answer number/).first().waitFor();
  await harmless('a long question');
  await usable('a long question');
});
