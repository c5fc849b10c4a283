// Pictures of every page, light and dark, wide and narrow: AGENT_SPACES_BINARY=… AGENT_SPACES_CONSOLE_TESTS=… node screenshots.mjs OUT
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { launch, missing, open } from './browser.mjs';
import { fill, places } from './places.mjs';
import { OPERATOR, Server } from './server.mjs';

const [out] = process.argv.slice(2);
const reason = missing();
if (!out || reason) {
  console.error(reason ?? 'usage: node screenshots.mjs OUT');
  process.exit(2);
}
mkdirSync(out, { recursive: true });
const server = await new Server().start();
const browser = await launch();
try {
  const data = await fill(server);
  for (const colorScheme of ['light', 'dark']) {
    for (const [size, viewport] of Object.entries({ wide: { width: 1440, height: 900 }, narrow: { width: 360, height: 740 } })) {
      const window = await open(browser, server.url, { colorScheme, viewport, reducedMotion: 'reduce' });
      const shoot = (name) => window.page.screenshot({ path: join(out, `${name}-${colorScheme}-${size}.png`) });
      await window.page.goto(`${server.url}/console/`);
      await window.page.getByLabel('Or sign in with a token').waitFor();
      await shoot('sign-in');
      await window.signIn(OPERATOR);
      for (const [name, place] of Object.entries(places(data))) {
        await window.go(place);
        await window.page.waitForTimeout(600);
        await shoot(name);
      }
      await window.page.context().close();
    }
  }
} finally {
  await browser.close();
  await server.stop();
}
