import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** cast itself from the npm package: the package's launcher ends with exit code 0 whatever cast ends with. */
export function castProgram({ platform, arch }: { platform: string; arch: string }): string {
  const require = createRequire(import.meta.url);
  const launcher = createRequire(require.resolve("@foundry-rs/cast/package.json"));
  const platformPackage = `@foundry-rs/cast-${platform}-${arch === "x64" ? "amd64" : arch}`;
  return join(dirname(launcher.resolve(`${platformPackage}/package.json`)), "bin", "cast");
}
