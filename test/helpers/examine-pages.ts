import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Browser } from "playwright-core";
import type { Test } from "tap";
import { type Look, localeOf, nameOf } from "../../scripts/pages/look.ts";
import type { Scene } from "../../scripts/pages/scene.ts";
import { shownAtMs } from "../../scripts/pages/sites/explorer-sites.ts";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
// Run in the page, as text: the browser's own names are none of this project's types.
const violations = `axe.run({ resultTypes: ["violations"] }).then(({ violations }) =>
  violations.map(({ id, nodes }) => id + ": " + nodes.map(({ html }) => html).join(" ")))`;
const hiddenToTheRightPx = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
const bytesOfFiles =
  "performance.getEntriesByType('resource').reduce((sum, entry) => sum + entry.decodedBodySize, 0)";

export type Examined = { looks: number; heaviest: { name: string; bytes: number } };

/**
 * Opens each page in its looks. Everybody can use it (axe), it is as wide as the window, nothing fails in it, and it asks
 * nobody but its own server.
 */
export async function examinePages(
  t: Test,
  {
    browser,
    scenes,
    looksOf,
  }: { browser: Browser; scenes: readonly Scene[]; looksOf: (index: number) => Look[] },
): Promise<Examined> {
  const open = createPageOpener(t, browser);
  const examined: Examined = { looks: 0, heaviest: { name: "", bytes: 0 } };
  for (const [index, scene] of scenes.entries()) {
    for (const look of looksOf(index)) {
      const what = `${scene.name} ${nameOf(look)}`;
      const { page, problems, allowScripts } = await open(look, scene);
      const site = await scene.open();
      // Pages of a language share a browser's context: who is signed in is so in a scene of theirs alone.
      await page.context().clearCookies();
      if (scene.cookie !== undefined)
        await page.context().addCookies([{ ...(await scene.cookie()), url: site.url }]);
      await site.before?.();
      problems.origin = new URL(site.url).origin;
      await allowScripts(look.scripts);
      const response = await page.goto(site.url + scene.path);
      // What the page has missed does not run any more; axe does.
      await allowScripts(true);
      const bytes = (await response?.body())?.length ?? 0;
      if (look.scripts) await scene.act?.(page);
      await page.evaluate(axe);
      t.same(await page.evaluate(violations), [], what);
      t.equal(await page.evaluate(hiddenToTheRightPx), 0, `${what} fits`);
      t.same(problems.found.splice(0), [], `${what}: nothing fails, nobody else is asked`);
      const all = bytes + Number(await page.evaluate(bytesOfFiles));
      if (all > examined.heaviest.bytes) examined.heaviest = { name: what, bytes: all };
      examined.looks += 1;
    }
  }
  return examined;
}

type Problems = { origin: string; found: string[] };

/** A page for each language: another one is made only where a scene has scripts of its own. */
function createPageOpener(t: Test, browser: Browser) {
  const pages = new Map<string, ReturnType<typeof make>>();

  async function make({ language }: Look, { script, hasFixedClock = false }: Scene) {
    // The test's own script has to come in.
    const context = await browser.newContext({ locale: localeOf(language), bypassCSP: true });
    t.teardown(() => context.close());
    const page = await context.newPage();
    if (hasFixedClock) await page.clock.setFixedTime(shownAtMs);
    if (script !== undefined) await page.addInitScript(script);
    const problems: Problems = { origin: "", found: [] };
    page.on("pageerror", ({ message }) => problems.found.push(message));
    page.on("console", (message) => {
      // A page that is an error is told of as one.
      const isStatus = message
        .text()
        .startsWith("Failed to load resource: the server responded with a status");
      if (message.type() === "error" && !isStatus) problems.found.push(message.text());
    });
    page.on("request", (request) => {
      const { origin } = new URL(request.url());
      if (origin !== problems.origin) problems.found.push(`asked ${request.url()}`);
    });
    const devTools = await context.newCDPSession(page);
    const allowScripts = (allowed: boolean) =>
      devTools.send("Emulation.setScriptExecutionDisabled", { value: !allowed });
    return { page, problems, allowScripts };
  }

  return async (look: Look, scene: Scene) => {
    const key = JSON.stringify([look.language, scene.script, scene.hasFixedClock]);
    const made = pages.get(key) ?? make(look, scene);
    pages.set(key, made);
    const opened = await made;
    const { page } = opened;
    await page.setViewportSize({ width: look.widthPx, height: 800 });
    await page.emulateMedia({ colorScheme: look.scheme });
    return opened;
  };
}

const look = (bits: number): Look => ({
  language: bits & 8 ? "id" : "en",
  scheme: bits & 4 ? "dark" : "light",
  widthPx: bits & 2 ? 320 : 1280,
  scripts: (bits & 1) === 0,
});

/**
 * Two looks that have nothing in common, others for each page: each page is seen in every language, colour and width, with
 * scripts and without, and all pages together in every look.
 */
export function twoLooks(index: number): Look[] {
  const bits = index % 8;
  return [look(bits), look(15 - bits)];
}

export function allLooks(): Look[] {
  return Array.from({ length: 16 }, (_, bits) => look(bits));
}
