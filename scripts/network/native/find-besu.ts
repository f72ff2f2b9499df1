import { execFile } from "node:child_process";
import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { readBesuVersion } from "../upgrade/besu-version.ts";

/** A Java machine takes seconds to start. */
const saysWithinMs = 60_000;

/** Besu's program in an unpacked distribution, which BESU_HOME names; or what to do. */
export async function findBesu(
  env: Readonly<Record<string, string | undefined>>,
): Promise<{ program: string } | { failed: string }> {
  const home = env["BESU_HOME"];
  if (home === undefined || home === "") {
    return {
      failed:
        "BESU_HOME is not set. It names the folder of an unpacked Besu 26.8.0, whose bin/besu is run: " +
        "put BESU_HOME=/opt/besu-26.8.0, say, before the command",
    };
  }
  const program = join(home, "bin", "besu");
  try {
    await access(program, constants.X_OK);
    return { program };
  } catch {
    return { failed: `BESU_HOME is ${home}, but there is no program ${program}: is it an unpacked Besu?` };
  }
}

/** What Besu of a folder says of itself; or what to do. */
export async function lookAtBesuHome(
  given: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<{ to: string; version: string } | { failed: string }> {
  const home = resolve(given);
  const besu = await findBesu({ BESU_HOME: home });
  if ("failed" in besu)
    return { failed: `--besu: ${home} is no unpacked Besu: there is no program bin/besu.` };
  const said = await promisify(execFile)(besu.program, ["--version"], {
    timeout: saysWithinMs,
    env: { ...env },
  }).catch((error: Error) => ({ stdout: "", stderr: error.message }));
  const version = readBesuVersion(said.stdout);
  if (version !== undefined) return { to: home, version };
  const last = `${said.stdout}${said.stderr}`.trim().split("\n").at(-1) ?? "";
  return { failed: `--besu: ${besu.program} --version does not say which version it is: ${last}` };
}
