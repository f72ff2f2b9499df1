import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { findProgram } from "../../scripts/processes/find-program.ts";
import type { Teardown } from "../../scripts/processes/teardown.ts";
import { cachedFolder } from "../helpers/cached-folder.ts";
import { runCommand } from "../helpers/run-command.ts";

const requirements = fileURLToPath(new URL("requirements.txt", import.meta.url));
/** web3 8 wants 3.10; `ensurepip` is what a Debian without python3-venv lacks. */
const check =
  "import sys, venv, ensurepip; print('.'.join(map(str, sys.version_info[:3])), sys.version_info >= (3, 10))";

/**
 * A virtual environment with web3.py, made once.
 *
 * @returns its Python, or why this machine cannot have one: there is no Python for it, or no package index answers.
 */
export async function prepareWeb3py(t: Teardown): Promise<{ python: string } | { missing: string }> {
  const python = await findProgram({ names: ["python3", "python"], path: process.env["PATH"] });
  if (python === undefined) return { missing: "there is no Python" };
  const version = await runCommand(t, { program: python, args: ["-c", check] });
  const [found = ""] = version.lines;
  if (version.code !== 0)
    return { missing: `Python cannot make virtual environments: ${version.lines.at(-1)}` };
  if (!found.endsWith("True"))
    return { missing: `web3.py needs Python 3.10, this is ${found.split(" ")[0]}` };

  let unreachable = false;
  const content = `${python} ${found}\n${await readFile(requirements, "utf8")}`;
  const folder = await cachedFolder({
    name: "web3py",
    content,
    fill: async (making) => {
      const made = await runCommand(t, { program: python, args: ["-m", "venv", making] });
      if (made.code !== 0) throw new Error(made.lines.join("\n"));
      const args = [
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-compile",
        "--disable-pip-version-check",
        "--retries",
        "1",
      ];
      const installed = await runCommand(t, {
        program: pythonOf(making),
        args: [...args, "-r", requirements],
        withinMs: 150_000,
      });
      // pip finds no version of anything where it reaches no index.
      unreachable = installed.lines.some((line) => line.includes("(from versions: none)"));
      if (installed.code !== 0) throw new Error(installed.lines.join("\n"));
    },
  }).catch((error: unknown) => {
    if (unreachable) return undefined;
    throw error;
  });
  return folder === undefined ? { missing: "pip reaches no package index" } : { python: pythonOf(folder) };
}

function pythonOf(folder: string): string {
  return join(folder, "bin", "python");
}
