import { launchChromium } from "../../processes/launch-chromium.ts";
import { until } from "../../soak/follower-crashes/until.ts";

export type Paint = { firstPaintMs: number; files: number; bytes: number };

const rounds = 7;
const firstPaint = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? -1";
const resources = `performance.getEntriesByType('resource').map(({ decodedBodySize }) => decodedBodySize)`;

/**
 * How soon a page that nothing is kept of shows something in Chromium with its scripts switched off: the median.
 * @returns undefined where there is no Chromium.
 */
export async function measurePaint(url: string): Promise<Paint | undefined> {
  const browser = await launchChromium();
  if ("missing" in browser) return undefined;
  try {
    const paints: Paint[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const context = await browser.newContext();
      const page = await context.newPage();
      const devTools = await context.newCDPSession(page);
      await devTools.send("Emulation.setScriptExecutionDisabled", { value: true });
      const response = await page.goto(url);
      await devTools.send("Emulation.setScriptExecutionDisabled", { value: false });
      const files: number[] = await page.evaluate(resources);
      const own = (await response?.body())?.length ?? 0;
      let firstPaintMs = -1;
      // It is told a moment after it happened.
      await until("the page is painted", async () => {
        firstPaintMs = Number(await page.evaluate(firstPaint));
        return firstPaintMs >= 0;
      });
      paints.push({
        firstPaintMs,
        files: files.length,
        bytes: files.reduce((sum, bytes) => sum + bytes, own),
      });
      await context.close();
    }
    return paints.toSorted((one, other) => one.firstPaintMs - other.firstPaintMs)[Math.floor(rounds / 2)];
  } finally {
    await browser.close();
  }
}
