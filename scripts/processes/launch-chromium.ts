import { type Browser, chromium } from "playwright-core";
import { findProgram } from "./find-program.ts";

/** Without a network of its own: a page is served on loopback, and nothing else may be asked. */
const quietly = [
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Starts the installed Chromium, or says that there is none. Whoever starts it closes it. */
export async function launchChromium(): Promise<Browser | { missing: string }> {
  const executablePath = await findProgram({
    names: ["chromium", "google-chrome"],
    path: process.env["PATH"],
  });
  if (executablePath === undefined) {
    return { missing: "there is no chromium in PATH; on Debian: apt-get install chromium" };
  }
  // Its sandbox needs what a container's root does not have.
  const sandbox = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  return chromium.launch({ executablePath, args: [...quietly, ...sandbox] });
}
