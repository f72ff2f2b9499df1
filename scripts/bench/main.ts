import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

/** `npm run bench -- NAME`: each benchmark is a program of its own, so that none measures what another left behind. */
const benches: Readonly<Record<string, string>> = {
  streaming: "memory and the neighbours' delay while a long trace answer streams to a slow reader",
  leases: "Redis commands per 1 000 calls, and what is admitted against the limit, over three processes",
};

const [name] = process.argv.slice(2);
if (name === undefined || !Object.hasOwn(benches, name)) {
  const lines = Object.entries(benches).map(([bench, what]) => `  ${bench.padEnd(10)} ${what}`);
  console.error(`Usage: npm run bench -- NAME\n\n${lines.join("\n")}`);
  process.exitCode = 2;
} else {
  const file = fileURLToPath(new URL(`./${name}.ts`, import.meta.url));
  process.exitCode =
    spawnSync(process.execPath, [...process.execArgv, file], { stdio: "inherit" }).status ?? 1;
}
