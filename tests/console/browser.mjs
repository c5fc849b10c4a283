// System chromium, driven by playwright-core. Every window collects what must not happen: errors of the page, violations of the content
// security policy, dialogs, requests to other hosts.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));
const installed = resolve(process.env.AGENT_SPACES_CONSOLE_TESTS ?? here);
const require = createRequire(join(installed, 'package.json'));
// Folder of a built page, to be tested with a binary that has another one.
const dist = process.env.AGENT_SPACES_CONSOLE_DIST;
export const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';
const isCi = process.env.AGENT_SPACES_CI === '1';

// Why the tests cannot run here; undefined if they can. In CI a missing tool is a failure.
export function missing() {
  const needs = { AGENT_SPACES_BINARY: process.env.AGENT_SPACES_BINARY, [CHROMIUM]: existsSync(CHROMIUM), 'playwright-core (tests/console/install)': existsSync(join(installed, 'node_modules/playwright-core')) };
  const [name] = Object.entries(needs).find(([, found]) => !found) ?? [];
  if (name !== undefined && isCi) throw new Error(`the tests of the console need ${name}`);
  return name === undefined ? undefined : `there is no ${name}`;
}

export async function launch() {
  const { chromium } = require('playwright-core');
  // Shared memory of containers is small; the sandbox of the browser does not work for root.
  return chromium.launch({ executablePath: CHROMIUM, args: ['--disable-dev-shm-usage', ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])] });
}

// Errors that the browser prints by itself for responses that a test asks for.
const EXPECTED = /^Failed to load resource: (the server responded with a status of (4\d\d|502|503)|net::ERR_(CONNECTION_(REFUSED|RESET)|EMPTY_RESPONSE|INCOMPLETE_CHUNKED_ENCODING|ABORTED))/;

export class Window {
  constructor(page, url) {
    this.page = page;
    this.url = url;
    this.problems = [];
    page.on('console', (message) => {
      if (message.type() === 'error' && !EXPECTED.test(message.text())) this.problems.push(`console: ${message.text().slice(0, 500)}`);
    });
    page.on('pageerror', (error) => this.problems.push(`error: ${error.stack?.slice(0, 800) ?? error}`));
    page.on('dialog', (dialog) => {
      this.problems.push(`dialog: ${dialog.message().slice(0, 100)}`);
      void dialog.dismiss();
    });
    page.on('popup', (popup) => this.problems.push(`popup: ${popup.url()}`));
    page.on('request', (request) => {
      const { protocol, origin } = new URL(request.url());
      if (origin !== new URL(this.url).origin && !['data:', 'blob:'].includes(protocol)) this.problems.push(`request to ${request.url().slice(0, 200)}`);
    });
  }

  // Goes to a place of the console, and waits until its page is there and no longer loading.
  async go(hash) {
    const target = `${this.url}/console/${hash}`;
    if (this.page.url().split('#')[0] === target.split('#')[0]) {
      await this.page.evaluate((to) => void (location.hash = to), hash);
    } else await this.page.goto(target);
    await this.settled();
  }

  async settled() {
    await this.page.locator('#page-title, .sign-in').first().waitFor();
    await this.page.waitForFunction(() => !document.querySelector('.loading'), undefined, { timeout: 15_000 });
  }

  async signIn(token) {
    await this.page.goto(`${this.url}/console/`);
    await this.page.getByLabel('Or sign in with a token').fill(token);
    await this.page.getByRole('button', { name: 'Sign in' }).click();
    await this.page.locator('#page-title').waitFor();
  }

  check() {
    assert.deepEqual(this.problems, []);
  }
}

// Window of its own, with its own cookies. Violations of the policy are told by an event of the document.
export async function open(browser, url, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  await context.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', (event) => console.error(`policy violated: ${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber}`));
  });
  if (dist) {
    await context.route(/\/console\/[\w.-]*$/, async (route) => {
      const path = join(dist, new URL(route.request().url()).pathname.slice('/console/'.length) || 'index.html');
      if (!existsSync(path)) return route.continue();
      // The headers are those of the server, but for a file that it does not have.
      const response = await route.fetch();
      await route.fulfill(response.ok() ? { response, path } : { path });
    });
  }
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  return new Window(page, url);
}

// Faults that axe finds, in short.
export async function axe(page) {
  const { AxeBuilder } = require('@axe-core/playwright');
  const { violations } = await new AxeBuilder({ page }).withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']).analyze();
  return violations.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map(({ html, failureSummary }) => `${html.slice(0, 160)} (${failureSummary?.replaceAll(/\s+/g, ' ').slice(0, 200)})`).join(' | ')}`);
}

// Holds decisions of these pages until each has sent one, so that none can know of another's.
export async function together(pages) {
  let release;
  const all = new Promise((resolve) => (release = resolve));
  let sent = 0;
  for (const page of pages) {
    await page.route('**/v1/approvals/*/decision', async (route) => {
      sent += 1;
      if (sent === pages.length) release();
      await all;
      await route.continue();
    });
  }
}

// Milliseconds from an input to the paint that shows what it did: the second animation frame after the event comes after that paint.
export async function latency(page, act) {
  await page.evaluate(() => {
    window.inputToPaint = new Promise((resolve) => {
      const seen = (event) => {
        for (const kind of ['keydown', 'pointerdown', 'wheel', 'input']) removeEventListener(kind, seen, true);
        requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now() - event.timeStamp)));
      };
      for (const kind of ['keydown', 'pointerdown', 'wheel', 'input']) addEventListener(kind, seen, { capture: true, passive: true });
    });
  });
  await act();
  return page.evaluate(() => window.inputToPaint);
}

export function median(numbers) {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];
}
