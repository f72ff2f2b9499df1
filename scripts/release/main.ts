import { fileURLToPath } from "node:url";
import { runRelease } from "./run-release.ts";

/** `npm run release -- version|lock|wallet-proxy|licences|secrets|audit|sbom|image …`: what a release needs (docs/releasing.md). */
process.exitCode = await runRelease({
  args: process.argv.slice(2),
  env: process.env,
  root: fileURLToPath(new URL("../../", import.meta.url)),
  now: () => new Date(),
  print: (text) => process.stdout.write(`${text}\n`),
  note: (text) => process.stderr.write(`${text}\n`),
});
