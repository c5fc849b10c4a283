// Looks at pages in chromium: pictures, errors of the console, violations of the content security policy, findings of axe.
//   node scripts/look.mjs --url http://127.0.0.1:8080 --out /tmp/look [--token operator] [--width 1280,360] [--theme light,dark] [--wait MS] [--no-axe] '#/runs' '#/approvals' …
import { mkdirSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright-core';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  allowNegative: true,
  options: {
    url: { type: 'string', default: 'http://127.0.0.1:8080' },
    out: { type: 'string', default: '/tmp/look' },
    token: { type: 'string', default: 'operator' },
    width: { type: 'string', default: '1280,360' },
    theme: { type: 'string', default: 'light,dark' },
    wait: { type: 'string', default: '700' },
    axe: { type: 'boolean', default: true },
    chromium: { type: 'string', default: '/usr/bin/chromium' },
  },
});
const places = positionals.length > 0 ? positionals : ['#/runs', '#/approvals', '#/spaces', '#/capabilities', '#/playground', '#/agents', '#/audit', '#/servers'];
mkdirSync(options.out, { recursive: true });
const axe = options.axe ? readFileSync(new URL('../node_modules/axe-core/axe.min.js', import.meta.url), 'utf8') : '';

let faults = 0;
const fault = (text) => {
  faults += 1;
  console.log(`  ${text}`);
};

const browser = await chromium.launch({ executablePath: options.chromium, args: ['--no-sandbox'] });
for (const theme of options.theme.split(',')) {
  for (const width of options.width.split(',').map(Number)) {
    const context = await browser.newContext({ viewport: { width, height: width < 600 ? 740 : 800 }, colorScheme: theme, reducedMotion: 'reduce' });
    const page = await context.newPage();
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') fault(`console ${message.type()}: ${message.text()}`);
    });
    page.on('pageerror', (error) => fault(`page error: ${error.message}`));
    await page.addInitScript(() => {
      document.addEventListener('securitypolicyviolation', (event) => console.error(`CSP ${event.violatedDirective}: ${event.blockedURI} ${event.sourceFile}:${event.lineNumber}`));
    });
    if (options.token !== '') {
      await context.request.post(`${options.url}/console/session`, { data: { token: options.token }, headers: { 'x-agent-spaces-console': '1' } });
    }
    for (const place of places) {
      const name = `${place.replace(/[^\w]+/g, '-').replace(/^-|-$/g, '') || 'start'}-${theme}-${width}`;
      console.log(name);
      await page.goto('about:blank');
      await page.goto(`${options.url}/console/${place}`);
      await page.waitForTimeout(Number(options.wait));
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      if (wide > 0) fault(`the page is ${wide} px wider than the window`);
      await page.screenshot({ path: `${options.out}/${name}.png` });
      if (axe) {
        await page.evaluate(axe);
        const result = await page.evaluate(() => globalThis.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }));
        for (const one of result.violations) fault(`axe ${one.id} (${one.impact}): ${one.nodes.slice(0, 3).map((node) => `${node.target.join(' ')} ${node.any[0]?.message ?? node.all[0]?.message ?? ''}`).join(' | ')}`);
      }
    }
    await context.close();
  }
}
await browser.close();
console.log(faults === 0 ? 'No faults.' : `${faults} faults.`);
process.exit(faults === 0 ? 0 : 1);
