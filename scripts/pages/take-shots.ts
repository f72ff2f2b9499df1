import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { type Look, languages, localeOf, nameOf, schemes, widthsPx } from "./look.ts";
import type { Scene } from "./scene.ts";
import { shownAtMs } from "./sites/explorer-sites.ts";

export type Shot = { look: Look; file: string };
export type SceneShots = { scene: Pick<Scene, "name" | "title" | "path">; shots: Shot[]; failed?: string };

const heightPx = 900;
const stepWithinMs = 15_000;

/** Takes the pictures of one scene in all looks; what goes wrong is said in place of them. */
export async function takeShots(browser: Browser, scene: Scene, folder: string): Promise<SceneShots> {
  const shots: Shot[] = [];
  try {
    await mkdir(join(folder, scene.name), { recursive: true });
    for (const language of languages) {
      for (const scripts of scene.differsWithoutScripts === true ? [true, false] : [true]) {
        shots.push(...(await takeLanguage(browser, scene, { language, scripts, folder })));
      }
    }
    return { scene, shots };
  } catch (error) {
    const [line = ""] = String(error instanceof Error ? error.message : error).split("\n");
    return { scene, shots, failed: line };
  }
}

/** One load of the page serves all its colours and widths. */
async function takeLanguage(
  browser: Browser,
  { open, path, hasFixedClock = false, script, cookie, act, name }: Scene,
  { language, scripts, folder }: Pick<Look, "language" | "scripts"> & { folder: string },
): Promise<Shot[]> {
  const site = await open();
  const context = await browser.newContext({
    locale: localeOf(language),
    javaScriptEnabled: scripts,
    viewport: { width: widthsPx[0], height: heightPx },
    reducedMotion: "reduce",
  });
  try {
    context.setDefaultTimeout(stepWithinMs);
    const page = await context.newPage();
    if (hasFixedClock) await page.clock.setFixedTime(shownAtMs);
    if (script !== undefined) await page.addInitScript(script);
    if (cookie !== undefined) await context.addCookies([{ ...(await cookie()), url: site.url }]);
    await site.before?.();
    await page.goto(site.url + path, { waitUntil: "load" });
    if (scripts) await act?.(page);
    const shots: Shot[] = [];
    for (const widthPx of widthsPx) {
      await page.setViewportSize({ width: widthPx, height: heightPx });
      for (const scheme of schemes) {
        await page.emulateMedia({ colorScheme: scheme });
        const look = { language, scheme, widthPx, scripts };
        const file = join(name, `${nameOf(look)}.png`);
        await page.screenshot({ path: join(folder, file), fullPage: true, caret: "hide" });
        shots.push({ look, file });
      }
    }
    return shots;
  } finally {
    await context.close();
  }
}
