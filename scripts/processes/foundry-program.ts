import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/**
 * A program of Foundry itself from its npm package, not the package's launcher: the launcher is a process of its own, and
 * where it is killed the program lives on; cast's ends with exit code 0 whatever cast ends with.
 */
export function foundryProgram(
  name: "anvil" | "cast",
  { platform, arch }: { platform: string; arch: string },
): string {
  const require = createRequire(import.meta.url);
  const launcher = createRequire(require.resolve(`@foundry-rs/${name}/package.json`));
  const platformPackage = `@foundry-rs/${name}-${platform}-${arch === "x64" ? "amd64" : arch}`;
  return join(dirname(launcher.resolve(`${platformPackage}/package.json`)), "bin", name);
}
