import { execFile } from "node:child_process";
import { arch, platform } from "node:os";
import { resolve } from "node:path";
import { z } from "zod";
import { foundryProgram } from "../processes/foundry-program.ts";

export const repositoryFolder = resolve(import.meta.dirname, "../..");

const outputBytesMax = 64 * 1024 * 1024;

/** Runs forge over a folder that is laid out as the repository. */
export async function runForge({
  folder = repositoryFolder,
  args,
  env = {},
}: {
  folder?: string;
  args: readonly string[];
  env?: Readonly<Record<string, string>>;
}): Promise<{ code: number; stdout: string; stderr: string }> {
  const program = foundryProgram("forge", { platform: platform(), arch: arch() });
  return await new Promise((done) => {
    execFile(
      program,
      [...args, "--root", "."],
      {
        cwd: folder,
        maxBuffer: outputBytesMax,
        env: {
          ...process.env,
          FOUNDRY_CONFIG: "genesis/contracts/forge.toml",
          FOUNDRY_DISABLE_NIGHTLY_WARNING: "1",
          NO_COLOR: "1",
          ...env,
        },
      },
      (error, stdout, stderr) => {
        const code = error === null ? 0 : typeof error.code === "number" ? error.code : 1;
        done({ code, stdout, stderr });
      },
    );
  });
}

const reportSchema = z.record(
  z.string(),
  z.object({ test_results: z.record(z.string(), z.object({ status: z.string() })) }),
);

/** The names of the tests in what `forge test --json` prints; undefined where it printed something else: it did not compile. */
export function readReport(stdout: string): { passed: string[]; failed: string[] } | undefined {
  const start = stdout.indexOf("{");
  try {
    const report = reportSchema.parse(JSON.parse(stdout.slice(start)));
    const all = Object.values(report).flatMap((suite) => Object.entries(suite.test_results));
    const named = (isPassed: boolean) =>
      all
        .filter(([, { status }]) => (status === "Success") === isPassed)
        .map(([name]) => name.replace(/\(.*$/, ""));
    return { passed: named(true), failed: named(false) };
  } catch {
    return undefined;
  }
}
