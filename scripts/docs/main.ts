import { readFileSync, writeFileSync } from "node:fs";
import { regenerate, wholeFiles } from "./generated.ts";

/** `npm run docs`: brings what is made from code up to date. A test fails while it is not. */
for (const file of [
  "gateway/README.md",
  "gateway/CLIENTS.md",
  "faucet/README.md",
  "api/README.md",
  "docs/real-besu.md",
  "docs/scale.md",
  "docker/helm/tollgate/README.md",
]) {
  const before = readFileSync(file, "utf8");
  bring(file, { before, after: regenerate(before) });
}
for (const [file, after] of Object.entries(wholeFiles)) bring(file, { before: readOrNothing(file), after });

function bring(file: string, { before, after }: { before: string | undefined; after: string }): void {
  if (after !== before) writeFileSync(file, after);
  console.log(`${file}: ${after === before ? "up to date" : "rewritten"}`);
}

function readOrNothing(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}
