import { readFileSync, writeFileSync } from "node:fs";
import { regenerate } from "./generated.ts";

/** `npm run docs`: brings the generated parts of the documents up to date. A test fails while they are not. */
for (const file of ["gateway/README.md", "gateway/CLIENTS.md", "faucet/README.md", "api/README.md"]) {
  const before = readFileSync(file, "utf8");
  const after = regenerate(before);
  if (after !== before) writeFileSync(file, after);
  console.log(`${file}: ${after === before ? "up to date" : "rewritten"}`);
}
