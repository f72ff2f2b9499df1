import type { Browser } from "playwright-core";
import type { Test } from "tap";
import { launchChromium } from "../../scripts/processes/launch-chromium.ts";

/**
 * Starts the installed Chromium, closed when the test ends. Where there is none the test says so and gets
 * undefined; in CI, which installs it, that is a failure.
 */
export async function startChromium(t: Test): Promise<Browser | undefined> {
  const browser = await launchChromium();
  if ("missing" in browser) {
    if (process.env["CI"] === undefined) t.comment(`skipped: ${browser.missing}`);
    else t.fail(browser.missing);
    return undefined;
  }
  t.teardown(() => browser.close());
  return browser;
}
