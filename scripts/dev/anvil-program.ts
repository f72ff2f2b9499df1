import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/**
 * anvil itself from the npm package, not the package's launcher: the launcher is a process of its own, and where it is
 * killed anvil lives on.
 */
export function anvilProgram({ platform, arch }: { platform: string; arch: string }): string {
  const require = createRequire(import.meta.url);
  const launcher = createRequire(require.resolve("@foundry-rs/anvil/package.json"));
  const platformPackage = `@foundry-rs/anvil-${platform}-${arch === "x64" ? "amd64" : arch}`;
  return join(dirname(launcher.resolve(`${platformPackage}/package.json`)), "bin", "anvil");
}
