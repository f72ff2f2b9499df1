import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/**
 * A Foundry program from its npm package, without the package's launcher. The launcher is another process: when it is
 * killed the program lives on, and cast's launcher always exits with 0.
 */
export function foundryProgram(
  name: "anvil" | "cast" | "forge",
  { platform, arch }: { platform: string; arch: string },
): string {
  const require = createRequire(import.meta.url);
  const launcher = createRequire(require.resolve(`@foundry-rs/${name}/package.json`));
  const platformPackage = `@foundry-rs/${name}-${platform}-${arch === "x64" ? "amd64" : arch}`;
  return join(dirname(launcher.resolve(`${platformPackage}/package.json`)), "bin", name);
}
