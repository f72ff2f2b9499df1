import { type Browser, chromium } from "playwright-core";
import type { Test } from "tap";
import { findProgram } from "../../scripts/processes/find-program.ts";

/** Without a network of its own: a page under test is served on loopback, and nothing else may be asked. */
const quietly = [
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/**
 * Starts the installed Chromium, closed when the test ends. Where there is none the test says so and gets
 * undefined; in CI, which installs it, that is a failure.
 */
export async function startChromium(t: Test): Promise<Browser | undefined> {
  const executablePath = await findProgram({
    names: ["chromium", "google-chrome"],
    path: process.env["PATH"],
  });
  if (executablePath === undefined) {
    const missing = "there is no chromium in PATH; on Debian: apt-get install chromium";
    if (process.env["CI"] === undefined) t.comment(`skipped: ${missing}`);
    else t.fail(missing);
    return undefined;
  }
  // Its sandbox needs what a container's root does not have.
  const sandbox = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  const browser = await chromium.launch({ executablePath, args: [...quietly, ...sandbox] });
  t.teardown(() => browser.close());
  return browser;
}
