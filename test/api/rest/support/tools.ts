import { spawn } from "node:child_process";
import { findProgram } from "../../../../scripts/processes/find-program.ts";

/** What `.ci/run` installs; elsewhere it may be missing, and the test skips. */
export async function findTool(program: string): Promise<{ path: string; skip: string | false }> {
  const path = await findProgram({ names: [program], path: process.env["PATH"] });
  if (path !== undefined) return { path, skip: false };
  if (process.env["CI"]) throw new Error(`${program} is not installed, which .ci/run does`);
  return { path: program, skip: `${program} is not installed: .ci/run says how` };
}

/** Runs it to its end, in a folder. */
export async function runTool(
  program: string,
  args: readonly string[],
  cwd: string,
): Promise<{ code: number | null; out: string }> {
  const child = spawn(program, args, {
    cwd,
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      ...process.env,
      NODE_OPTIONS: "",
      REDOCLY_TELEMETRY: "off",
      REDOCLY_SUPPRESS_UPDATE_NOTICE: "true",
    },
  });
  let out = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (out += String(data)));
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
  return { code, out };
}

/** schemathesis does not count 414 among the refusals: it met a search longer than a URL may be, some runs in a hundred. */
export const schemathesisConfig = `[checks.negative_data_rejection]
expected-statuses = ["400", "401", "403", "404", "405", "406", "409", "413", "414", "415", "422", "428", "429", "5xx"]
`;
